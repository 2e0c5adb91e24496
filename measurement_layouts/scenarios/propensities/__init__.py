"""Propensities of language models, for which both too little and too much cause failures."""

import itertools
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from ...dispositions.incitation.conditions import condition_name
from ...evaluations.evaluation import Evaluation
from ...linking import band
from ..files import Files
from ..scenario import Cohort, Scenario
from .layouts import LAYOUTS, clipped, firmness_layout, published_layout, recommended_layout


@dataclass(frozen=True)
class Dimension:
    """A propensity that the study measured.

    Attributes
    ----------
    title : str
        Name in figures.
    negative, positive : str
        Behaviour with a low and with a high propensity.
    items : int
        Number of items in the published battery.
    """

    title: str
    negative: str
    positive: str
    items: int


_NAMES = tomllib.loads((files(__package__) / "names.toml").read_text(encoding="utf-8"))
DIMENSIONS = {name: Dimension(**row) for name, row in _NAMES["dimensions"].items()}
"""Propensities by their names in the published tables."""
MODELS = _NAMES["models"]
"""Names of the models in the data, and in the paper's tables."""
LEVELS = (-3, -2, -1, 0, 1, 2, 3)
"""Incited levels; there is also a condition without a system prompt."""


def condition(model: str, level: float, dimension: str = "") -> str:
    """Return the name of a subject, which is a model with one system prompt.

    Parameters
    ----------
    model : str
        Name of the model.
    level : float
        Level to which it was incited; NaN without a prompt.
    dimension : str, optional
        Propensity, for a cohort with several propensities.

    Examples
    --------
    >>> condition("o1", 2.0), condition("o1", float("nan"), "risk_aversion")
    ('o1 +2', 'o1 unprompted, risk aversion')
    """
    title = f", {DIMENSIONS[dimension].title}" if dimension else ""
    return condition_name(model, level) + title


def obtained() -> pd.DataFrame:
    """Return the published propensities of all 384 subjects.

    Returns
    -------
    DataFrame
        Indexed by subject (`condition` with the dimension): ``propensity``, ``model``, ``incited``
        (NaN without a prompt), ``obtained`` and ``standard_error``, in levels.

    References
    ----------
    Propensities paper, Tables 2 and 3.

    Examples
    --------
    >>> table = obtained()
    >>> len(table), float(table.loc["Nemo +3, risk aversion", "obtained"])
    (384, 2.75)
    """
    with (files(__package__) / "obtained.csv").open() as file:
        table = pd.read_csv(file)
    names = map(condition, table["model"], table["incited"], table["propensity"])
    return table.set_index(pd.Index(names, name="subject"))


FILES = Files("propensity_ra")


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
    columns = {
        "Model": "model",
        "Incited propensity": "incited",
        "Obtained propensity": "obtained",
        "Lower 95CI": "low",
        "Upper 95CI": "high",
        "EstimationLL": "log_likelihood",
        "ReferenceLL": "at_zero",
    }
    table = pd.read_csv(FILES.find(folder)["published_theta_RA.csv"])[list(columns)]
    table = table.rename(columns=columns).assign(model=table["Model"].map(MODELS))
    names = map(condition, table["model"], table["incited"])
    return table.set_index(pd.Index(names, name="subject"))


def _subject(column: str) -> str:
    """Return a subject's name from a column such as ``4o_RA_+1_outcome`` or ``4o_RA_outcome``."""
    name, level = column.removesuffix("_outcome").split("_RA")
    return condition(MODELS[name], float(level[1:]) if level else float("nan"))


FIGURE_6 = -1.5
"""True propensity in the paper's Figures 5 and 6."""
FURTHEST = 5.0
"""End of the range of the bands in that experiment."""
_WINDOWS = 1000


def battery(propensity: str) -> pd.DataFrame:
    """Make the items of one propensity, as many as the published battery has.

    Every band contains 0, as all annotated bands do, since annotators start there. Lower ends -3 to
    0 are combined with upper ends 0 to 3 in turn, except for [-3, 3], which has no demand, and
    [0, 0], which no other item confirms. Each combination has 24 to 26 items.

    Parameters
    ----------
    propensity : str
        Name of the propensity in `DIMENSIONS`.

    Returns
    -------
    DataFrame
        Indexed by item: ``propensity``, ``lower``, ``upper`` in levels.

    Examples
    --------
    >>> battery("risk_aversion").groupby(["lower", "upper"]).size().describe()[["count", "min"]]
    count    14.0
    min      25.0
    dtype: float64
    """
    every = itertools.product((-3, -2, -1, 0), (0, 1, 2, 3))
    pairs = np.array([pair for pair in every if pair not in ((-3, 3), (0, 0))], dtype=float)
    count = DIMENSIONS[propensity].items
    names = pd.Index([f"{propensity}-{number:03d}" for number in range(1, count + 1)], name="item")
    items = pd.DataFrame({"propensity": propensity}, names)
    items[["lower", "upper"]] = np.resize(pairs, (count, 2))
    return items


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate the answers of all 384 subjects to the battery of their propensity.

    Each subject has the propensity that the paper obtained; answers are simulated from Eq. 5. Items
    of the other three batteries are not attempted.

    Parameters
    ----------
    seed : int
        Seed of the answers.

    Returns
    -------
    Cohort
        Outcomes on 1,414 items, and the true propensities.

    References
    ----------
    Propensities paper, Tables 2 and 3.

    Examples
    --------
    >>> cohort = simulated_cohort()
    >>> cohort.evaluation.trials.sum(axis=1).value_counts().sort_index().to_dict()
    {348: 96, 350: 96, 357: 96, 359: 96}
    """
    truth = obtained()
    items = pd.concat([battery(propensity) for propensity in DIMENSIONS])
    attempted = truth["propensity"].to_numpy()[:, None] == items["propensity"].to_numpy()
    theta = truth["obtained"].to_numpy()[:, None]
    chance = band(theta, low=items["lower"].to_numpy(), high=items["upper"].to_numpy())
    right = np.random.default_rng(seed).binomial(1, chance) * attempted
    tables = [pd.DataFrame(t.astype(int), truth.index, items.index) for t in (right, attempted)]
    evaluation = Evaluation(items, *tables)
    return Cohort(evaluation, truth[["obtained"]].set_axis(["propensity"], axis=1))


def windows(seed: int = 1) -> Evaluation:
    """Simulate the experiment of Figures 5 and 6: one subject at -1.5, and 1,000 random bands.

    Both ends are uniform on [-5, 5].

    Parameters
    ----------
    seed : int
        Seed of bands and answers.

    References
    ----------
    Propensities paper, Figures 5 and 6.

    Examples
    --------
    >>> windows()
    <Evaluation: 1 subject, 1000 items, 1000 trials, properties lower, upper>
    """
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform(-FURTHEST, FURTHEST, (_WINDOWS, 2)), axis=1)
    right = rng.binomial(1, band(FIGURE_6, low=ends[:, 0], high=ends[:, 1]))
    items = pd.DataFrame(ends, columns=["lower", "upper"])
    return Evaluation.from_wide(pd.DataFrame([right], ["simulated"]), items)


SCENARIO = Scenario(
    name="propensities",
    title="Propensities: 12 language models incited to take and shun risks, and three more",
    source="Romero-Alvarado et al. (2026)",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=("lower", "upper"),
    tables=True,
    method="grid",  # the posterior of a propensity has steep steps and several modes
    every=10,
)

__all__ = [
    "DIMENSIONS",
    "LEVELS",
    "SCENARIO",
    "battery",
    "clipped",
    "condition",
    "firmness_layout",
    "load",
    "obtained",
    "published_layout",
    "recommended_layout",
    "released",
    "simulated_cohort",
    "windows",
]
