"""The real data: 44 language models on the 1,319 test problems of GSM8K."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ..files import Files

FILES = Files("gsm8k")
SPELLING = {
    "DeepSeek-Coder-V2-0724": "deepseek-v2-coder-0724",
    "Llama-3.1-405B-Instruct-Turbo": "Llama-3.1-405B-Inst-fp8@together",
    "Meta-Llama-3.1-405B-Instruct@hyperbolic": "Llama-3.1-405B-Inst@hyperbolic",
    "deepseek-chat": "deepseek-v2-chat-0628",
    "deepseek-coder": "deepseek-v2-coder-0614",
    "gemma-2-27b-it@together": "gemma-2-27b-it",
}
"""Names of six models in the outcomes, and in the table of published accuracies."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes and the properties of the problems.

    Parameters
    ----------
    folder : Path, optional
        Folder of the three files, or a folder with them in its folder ``gsm8k`` (default: the
        folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``). They are not offered for
        download: the outcomes were scored from the models' answers.

    Returns
    -------
    Evaluation
        44 subjects and 1,319 items with the columns of `properties`. An answer without a number is
        a failure, as in the source's scoring. One model was run on 681 items and has 0 trials on
        the others.

    Raises
    ------
    DataError
        When a file does not exist, or is not the published one.

    References
    ----------
    Cobbe et al. (2021) for the problems (MIT licence); ZeroEval for the answers (Apache-2.0).
    """
    paths = FILES.find(folder)
    raw = pd.read_csv(paths["item_features.csv"], index_col="item")
    outcomes = pd.read_parquet(paths["outcomes.parquet"])
    return Evaluation.from_long(
        outcomes[["model", "item", "success"]],
        properties(raw),
        subject="model",
        outcome="success",
    )


def properties(raw: pd.DataFrame) -> pd.DataFrame:
    r"""Turn counts of a problem into meta-features.

    .. math:: \log_{10}(1 + x) \text{ of the largest number}, \quad \log_2 \text{ of the words}

    Parameters
    ----------
    raw : DataFrame
        Columns ``n_lines`` (lines of the worked solution), ``n_steps`` (calculations marked in it),
        ``max_abs_number`` (largest number in the problem, 0 without one) and ``q_words`` (words).

    Returns
    -------
    DataFrame
        ``steps``, the lines of the worked solution; ``markedSteps``, calculations marked in it, of
        which 18 solutions have none; ``digits``; ``doublings`` of the words; ``words``.

    Raises
    ------
    DataError
        When a problem has no words, or a count is negative.

    Examples
    --------
    >>> raw = pd.DataFrame({"n_lines": [3], "n_steps": [0], "max_abs_number": [0.0],
    ...                     "q_words": [32]}, index=["apples"])
    >>> properties(raw)
            steps  markedSteps  digits  doublings  words
    apples      3            0     0.0        5.0     32
    """
    counts = raw[["n_lines", "n_steps", "max_abs_number"]]
    wrong = raw.index[(counts < 0).any(axis=1) | (raw["q_words"] < 1)]
    if len(wrong):
        raise DataError(
            f"{some(wrong)}: a problem needs at least one word, and no count can be negative; "
            "correct the table of problems"
        )
    return pd.DataFrame(
        {
            "steps": raw["n_lines"],
            "markedSteps": raw["n_steps"],
            "digits": np.log10(1 + raw["max_abs_number"]),
            "doublings": np.log2(raw["q_words"]),
            "words": raw["q_words"],
        }
    )


def accuracies(folder: Path | None = None) -> pd.Series:
    """Read the accuracies that ZeroEval published, in percent.

    Parameters
    ----------
    folder : Path, optional
        As in `load`.

    Returns
    -------
    Series
        Accuracies of 47 models, indexed by published name. `load` has 44 of them, six of which have
        other names there.

    Raises
    ------
    DataError
        As in `load`.
    """
    rows = json.loads(FILES.find(folder)["reference_gsm.summary.json"].read_text())
    names = pd.Index([row["Model"] for row in rows], name="model")
    return pd.Series([float(row["Acc"]) for row in rows], names, name="published")
