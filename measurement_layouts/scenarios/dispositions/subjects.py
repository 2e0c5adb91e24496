"""The 25 models of the simulated study, with known dispositions."""

from importlib.resources import files

import pandas as pd

from .traits import TRAITS


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
