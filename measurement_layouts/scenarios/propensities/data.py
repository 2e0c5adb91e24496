"""The real risk-aversion study: 12 models under 8 conditions, 187 items."""

from pathlib import Path

import pandas as pd

from ...evaluations.evaluation import Evaluation
from ..files import Files
from .dimensions import condition

FILES = Files("propensity_ra")
MODELS = {
    "4o": "4o",
    "ds-r1-llama8": "DS-R1-Llama8B",
    "ds-r1-llama70": "DS-R1-Llama70B",
    "ds-r1-qwen32": "DS-R1-Qwen32B",
    "gemma3": "Gemma 3",
    "llama32": "Llama 3.2",
    "llama33": "Llama 3.3",
    "ministral-r": "Ministral 3-14B-R",
    "Nemo": "Nemo",
    "o1": "o1",
    "qwen3-4b-i": "Qwen 3-4B-I",
    "qwen3-4b-t": "Qwen 3-4B-T",
}
"""Names of the models in the data, and in the paper's tables."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes and the annotated bands.

    Parameters
    ----------
    folder : Path, optional
        Folder of the three files, or a folder with them in its folder ``propensity_ra`` (default:
        the folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``).

    Returns
    -------
    Evaluation
        96 subjects (a model and the level to which it was incited) and 187 items with ``lower`` and
        ``upper``, in levels, and ``ev_ratio_level``, the level in the design.

    Raises
    ------
    DataError
        When a file does not exist, or is not the published one.

    References
    ----------
    Propensities paper, section 4.3; the data have the MIT licence.
    """
    paths = FILES.find(folder)
    items = pd.read_csv(paths["items.csv"], index_col="question_id")
    outcomes = pd.read_csv(paths["outcomes_wide.csv"], index_col="question_id").loc[items.index]
    return Evaluation.from_wide(
        outcomes.rename(columns=_subject).T, items.drop(columns="ev_category")
    )


def released(folder: Path | None = None) -> pd.DataFrame:
    """Read the released estimates of the real study.

    Parameters
    ----------
    folder : Path, optional
        As in `load`.

    Returns
    -------
    DataFrame
        Indexed by subject: ``model``, ``incited`` (NaN without a prompt), ``obtained``, ``low`` and
        ``high`` (95 % interval) in levels, and ``log_likelihood`` at the estimate and ``at_zero``.

    Raises
    ------
    DataError
        As in `load`.
    """
    table = pd.read_csv(FILES.find(folder)["published_theta_RA.csv"])
    table = table.assign(Model=table["Model"].map(MODELS))
    names = [
        condition(*row) for row in zip(table["Model"], table["Incited propensity"], strict=True)
    ]
    columns = {
        "Model": "model",
        "Incited propensity": "incited",
        "Obtained propensity": "obtained",
        "Lower 95CI": "low",
        "Upper 95CI": "high",
        "EstimationLL": "log_likelihood",
        "ReferenceLL": "at_zero",
    }
    return table.set_index(pd.Index(names, name="subject"))[list(columns)].rename(columns=columns)


def _subject(column: str) -> str:
    """Return a subject's name from a column such as ``4o_RA_+1_outcome`` or ``4o_RA_outcome``."""
    name, level = column.removesuffix("_outcome").split("_RA")
    return condition(MODELS[name], float(level[1:]) if level else float("nan"))
