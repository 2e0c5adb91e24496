"""The real data: scores of 179 language models on 38 benchmarks, with dates and developers."""

from pathlib import Path

import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...evaluations.scores import read_scores
from ..files import Files

FILES = Files("benchmark_scores")
"""A table made of github.com/epoch-research/benchmark-stitching at commit f87d3cc by its own
loader; that repository has no such file itself, so that it cannot be downloaded from there."""

_DEVELOPERS = {
    "claude": "Anthropic",
    "gpt-": "OpenAI",
    "o1-": "OpenAI",
    "o3-": "OpenAI",
    "o4-": "OpenAI",
    "gemini": "Google",
    "gemma": "Google",
    "palm": "Google",
    "qwen": "Alibaba",
    "deepseek": "DeepSeek",
    "llama-": "Meta",
    "grok": "xAI",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "phi-": "Microsoft",
    "falcon": "TII",
    "yi-": "01.AI",
    "starcoder": "BigCode",
    "internlm": "Shanghai AI Lab",
    "baichuan": "Baichuan",
    "mpt-": "MosaicML",
}
_OTHERS = ("cerebras-gpt", "open_llama")  # names of other developers' models with such a word
_MIDDLE = pd.Timestamp("2024-07-01")


def scores(folder: Path | None = None) -> pd.DataFrame:
    """Read the scores, one row per model and benchmark.

    Parameters
    ----------
    folder : Path, optional
        Folder of the file, or a folder with it in its folder ``benchmark_scores`` (default: the
        folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``).

    Returns
    -------
    DataFrame
        1,324 rows in the order of the file: ``subject``, ``benchmark`` and ``score``, a share in
        [0, 1]; ``year``, the date of release in years from the middle of 2024; and ``developer``
        (see `developer`).

    Raises
    ------
    DataError
        When the file does not exist, or is not the known one.

    References
    ----------
    Epoch AI (2025), A Rosetta Stone for AI Benchmarks; the data have the MIT licence.
    """
    table = pd.read_csv(FILES.find(folder)["scores.csv"], parse_dates=["date"])
    return pd.DataFrame(
        {
            "subject": table["model"],
            "benchmark": table["benchmark"],
            "score": table["performance"],
            "year": (table["date"] - _MIDDLE).dt.days / 365.25,
            "developer": table["model"].map(developer),
        }
    )


def load(folder: Path | None = None) -> Evaluation:
    """Read the scores as an evaluation, whose items are the intervals into which scores fell.

    Parameters
    ----------
    folder : Path, optional
        As in `scores`.

    Returns
    -------
    Evaluation
        Evaluation of 179 subjects with ``year`` and ``developer``; see `read_scores`.
    """
    return read_scores(scores(folder))


def developer(model: str) -> str:
    """Return a model's developer by its name, or the name itself if the developer is unknown.

    Examples
    --------
    >>> developer("gpt-4o-2024-11-20"), developer("vicuna-13b-v1.1")
    ('OpenAI', 'vicuna-13b-v1.1')
    """
    name = model.lower()
    if name.startswith(_OTHERS):
        return model
    return next((maker for word, maker in _DEVELOPERS.items() if word in name), model)
