"""The four propensities of the study, and the models and conditions they were measured in."""

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
        For figures.
    negative, positive : str
        What a low and a high propensity lean to.
    items : int
        In the published battery.
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
"""By the name that the published tables use."""

LEVELS = (-3, -2, -1, 0, 1, 2, 3)
"""Incited levels; beside them stands the condition without any system prompt."""


def condition(model: str, level: float, dimension: str = "") -> str:
    """Name a subject: a model under one system prompt.

    Parameters
    ----------
    model : str
        Its name.
    level : float
        That it was incited to; NaN for no prompt.
    dimension : str, optional
        Of a cohort with more than one.

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
