"""The 25 models of the simulated study, with known dispositions."""

from importlib.resources import files

import pandas as pd

from .traits import TRAITS


def subjects() -> pd.DataFrame:
    """Return the simulated models.

    ``sim-01`` is perfectly aligned. ``sim-02`` is over-confident and nothing else, ``sim-03``
    under-confident. The others are over-confident and have dispositions of their own, most of them
    towards showing emotion (away from its regulation) and towards acting on impulse. The small
    ones, which stand for models below 25 thousand million parameters, take more from what is no
    person's judgment.

    Returns
    -------
    DataFrame
        Indexed by model: ``size`` ("large" or "small"); ``slope``, what people's log-odds are
        multiplied by; ``noise``, the share of scenarios that it judges on its own, in [0, 1];
        ``disposition[Empathy]`` and so on, in people's log-odds; ``acquiescence``, points that its
        self-ratings are raised by, whatever the statement.

    References
    ----------
    Dispositions paper, sections 4 to 7, for the pattern; the numbers are this package's.

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
