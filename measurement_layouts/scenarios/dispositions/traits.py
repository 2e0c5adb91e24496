"""Traits, published supports, and the 25 models of the simulated study."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd


@dataclass(frozen=True)
class Trait:
    """One trait of emotional intelligence, with the assumptions of its simulation.

    Attributes
    ----------
    shows : str
        Description of the behaviour of a person high in the trait.
    sources : list of str
        Questionnaires from which its statements were taken.
    statements : int
        Number of its statements, of 161 in the simulated study: in proportion to its published
        ratings.
    reverse : int
        Number of its statements that are reverse-scored (an assumption).
    claimed : float
        Mean self-rating of models without a disposition, 1 to 7 (an assumption).
    loading : float
        Points of that rating per logit of disposition (an assumption). With 0, self-reports do not
        depend on the disposition.
    """

    shows: str
    sources: list[str]
    statements: int
    reverse: int
    claimed: float = 4.0
    loading: float = 0.5


_TABLE = tomllib.loads((files(__package__) / "traits.toml").read_text(encoding="utf-8"))
TRAITS = {name: Trait(**row) for name, row in _TABLE.items()}
"""Traits by name, in the order of the study's Table 1, which also has the sources."""


def supports() -> pd.DataFrame:
    """Return the published supports of the traits by groups of raters.

    Returns
    -------
    DataFrame
        One row per trait and group: ``trait``, ``attribute`` (``nationality``, ``age`` or
        ``gender``), ``group``, ``ratings`` and ``support``, the share of them for the action that
        manifests the trait.

    References
    ----------
    Dispositions paper, Table 2.

    Examples
    --------
    >>> table = supports()
    >>> table.groupby("attribute", sort=False)["ratings"].sum().to_dict()
    {'nationality': 22883, 'age': 22442, 'gender': 22883}
    """
    with (files(__package__) / "supports.csv").open() as file:
        return pd.read_csv(file)


def overall() -> pd.DataFrame:
    """Return each trait's ratings and support over all nationalities.

    Returns
    -------
    DataFrame
        Indexed by trait: ``ratings`` and ``support``, averaged over groups with their ratings as
        weights.

    References
    ----------
    Dispositions paper, Table 2(a).

    Examples
    --------
    >>> overall().round(3)
                        ratings  support
    trait
    Empathy                7670    0.420
    Emotion Regulation     3901    0.477
    Assertiveness          5078    0.488
    Impulsiveness          6234    0.419
    """
    table = supports().query("attribute == 'nationality'")
    table = table.assign(positive=table["ratings"] * table["support"])
    sums = table.groupby("trait")[["ratings", "positive"]].sum().loc[list(TRAITS)]
    return sums.assign(support=sums["positive"] / sums["ratings"])[["ratings", "support"]]


def subjects() -> pd.DataFrame:
    """Return the simulated models.

    ``sim-01`` is perfectly aligned. ``sim-02`` is over-confident but does not differ otherwise, and
    ``sim-03`` is under-confident. The others are over-confident and have dispositions, most of them
    towards showing emotion (against its regulation) and towards acting on impulse. The small
    models, which represent models with less than 25 thousand million parameters, judge more
    scenarios independently of people.

    Returns
    -------
    DataFrame
        Indexed by model: ``size`` ("large" or "small"); ``slope``, the factor of people's log-odds;
        ``noise``, the share of scenarios that the model judges independently, in [0, 1];
        ``disposition[Empathy]`` and so on, in people's log-odds; ``acquiescence``, points that are
        added to all of its self-ratings.

    References
    ----------
    Dispositions paper, sections 4 to 7, which have the pattern; the numbers are this package's own.

    Examples
    --------
    >>> subjects().loc[["sim-01", "sim-16"], ["size", "slope", "noise", "disposition[Empathy]"]]
             size  slope  noise  disposition[Empathy]
    model
    sim-01  large    1.0   0.00                  0.00
    sim-16  small    4.5   0.35                  1.08
    """
    with (files(__package__) / "models.csv").open() as file:
        table = pd.read_csv(file, index_col="model")
    return table.rename(columns={trait: f"disposition[{trait}]" for trait in TRAITS})
