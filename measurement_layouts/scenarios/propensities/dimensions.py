"""The four propensities of the study, with its models and conditions."""

from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from ...dispositions.incitation.conditions import condition_name


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


DIMENSIONS = {
    "risk_aversion": Dimension("risk aversion", "seeks risk", "avoids risk", 350),
    "introversion": Dimension("introversion", "keeps to itself", "seeks company", 357),
    "red_vs_blue": Dimension("red against blue", "prefers blue", "prefers red", 348),
    "ultracrepidarianism": Dimension(
        "ultracrepidarianism", "withholds", "pronounces beyond its knowledge", 359
    ),
}
"""Propensities by their names in the published tables."""

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
    columns = table["model"], table["incited"], table["propensity"]
    names = [condition(*row) for row in zip(*columns, strict=True)]
    return table.set_index(pd.Index(names, name="subject"))
