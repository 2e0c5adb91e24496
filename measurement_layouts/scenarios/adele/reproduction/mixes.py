"""Effects of a different mix of demands on performance and on abilities."""

import numpy as np
import pandas as pd

from ....common.errors import DataError
from ....common.options import whole
from ....layouts import Layout
from ...scenario import Cohort
from ..battery import battery, rule, true_profiles
from ..layouts import capability_layout
from .estimates import COLUMNS, ITEMS, curve_abilities, layout_abilities
from .recovery import mean_error

TIMES = 5.0
BATTERIES = ("as is", "more of level 5")
_LEVEL = 5


def drawn(seed: int = 1, items: int = ITEMS, times: float = 1.0) -> pd.DataFrame:
    """Draw items from the simulated battery, so that more of them demand level 5.

    Parameters
    ----------
    seed : int
        Seed of the battery and of the choice.
    items : int
        Number of items.
    times : float
        Factor of the ratio of items that demand level 5 of some ability to all others.

    Returns
    -------
    DataFrame
        Items with the columns of `battery.battery`.

    Raises
    ------
    DataError
        When the battery has too few items of level 5, or of the others.
    FitError
        When `seed` or `items` is not a whole number.

    Examples
    --------
    >>> for times in (1, 5):
    ...     found = drawn(items=1000, times=times)
    ...     int((found[COLUMNS] == 5).any(axis=1).sum())
    186
    533
    """
    pool = battery(seed)
    hard = (pool[COLUMNS] == _LEVEL).any(axis=1).to_numpy()
    share = times * hard.sum() / (times * hard.sum() + (~hard).sum())
    wanted = round(whole("items", items, 1) * share)
    if wanted > hard.sum() or items - wanted > (~hard).sum():
        raise DataError(
            f"items={items} and times={times} ask for {wanted} items of level {_LEVEL} and "
            f"{items - wanted} others; the battery has {hard.sum()} and {(~hard).sum()}, so ask "
            f"for fewer items"
        )
    rng = np.random.default_rng(seed)
    chosen = [
        rng.choice(np.flatnonzero(those), count, replace=False)
        for those, count in ((hard, wanted), (~hard, items - wanted))
    ]
    return pool.iloc[np.sort(np.concatenate(chosen))]


def mixes(
    seed: int = 1, items: int = ITEMS, times: float = TIMES, layout: Layout | None = None
) -> pd.DataFrame:
    """Simulate the fifteen subjects on the battery as it is, and on one with more items of level 5.

    The two batteries have the same size; their outcomes are drawn independently. With the default
    size this takes a minute on two processors.

    Parameters
    ----------
    seed : int
        Seed of items, outcomes and draws.
    items, times
        As in `drawn`.
    layout : Layout, optional
        Layout to fit, with a labelled ``ability`` (default: `capability_layout`).

    Returns
    -------
    DataFrame
        Rows ``accuracy``, and mean abilities by ``curves``, ``curves without end`` (their aims) and
        ``layout``. Columns: the means ``as is`` and with ``more of level 5``, their ``change``, its
        error ``change_se`` with subjects as units, and the root mean square ``typical_change`` of
        all single changes; ``typical_z`` and ``largest_z``, root mean square and maximum of all
        changes in units of their standard errors (missing for aims). If changes are only due to
        chance, ``typical_z`` is about 1.

    Notes
    -----
    With the default size and three seeds, mean accuracy falls from 0.52 to 0.38; mean abilities by
    curves change by -0.04 to 0.01 levels, those by the layout by -0.02 to 0.03. Single abilities
    change as by chance: ``typical_z`` is 0.9 to 1.0 for curves and 0.7 to 0.8 for the layout, whose
    standard deviations include differences that no such battery can determine. The aims of curves
    depend on the mix, by about 0.1 levels, because a slice then has other items, and small bins
    have other weights.

    References
    ----------
    General scales paper, section 2.2.
    """
    layout = capability_layout() if layout is None else layout
    plain, harder = (
        _answers(drawn(seed, items, factor), layout, seed + place)
        for place, factor in enumerate((1.0, times))
    )
    rows = {name: compared(plain[name], harder[name]) for name in plain}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")


def compared(plain: pd.DataFrame, harder: pd.DataFrame) -> dict[str, float]:
    """Compare a measure on two batteries.

    Parameters
    ----------
    plain, harder : DataFrame
        Estimates and their standard errors, ``estimate`` and ``sd``, with ``subject`` in the index.

    Returns
    -------
    dict of str to float
        Columns of `mixes`. Values that are missing on one side do not count.

    Examples
    --------
    >>> names = pd.Index(["Ann", "Bob"], name="subject")
    >>> plain = pd.DataFrame({"estimate": [4.0, 3.0], "sd": 0.3}, names)
    >>> harder = pd.DataFrame({"estimate": [4.5, 3.5], "sd": 0.4}, names)
    >>> found = compared(plain, harder)
    >>> found["change"], found["change_se"], found["typical_z"]
    (0.5, 0.0, 1.0)
    """
    both = plain["estimate"].notna() & harder["estimate"].notna()
    before, after = plain.loc[both, "estimate"], harder.loc[both, "estimate"]
    change = after - before
    z = (change / np.hypot(plain["sd"], harder["sd"])[both]).dropna()
    return {
        BATTERIES[0]: float(before.mean()),
        BATTERIES[1]: float(after.mean()),
        "change": float(change.mean()),
        "change_se": mean_error(change),
        "typical_change": float((change**2).mean() ** 0.5),
        "typical_z": float((z**2).mean() ** 0.5),
        "largest_z": float(z.abs().max()),
    }


def _answers(items: pd.DataFrame, layout: Layout, seed: int) -> dict[str, pd.DataFrame]:
    """Simulate outcomes, and compute each measure with its standard error."""
    cohort = Cohort.drawn(rule(), items, true_profiles(), seed)
    rate = cohort.evaluation.success_rates().rename_axis("subject")
    curves = curve_abilities(cohort, seed)
    return {
        "accuracy": pd.DataFrame({"estimate": rate, "sd": (rate * (1 - rate) / len(items)) ** 0.5}),
        "curves": curves[["estimate", "sd"]],
        "curves without end": pd.DataFrame({"estimate": curves["aim"], "sd": np.nan}),
        "layout": layout_abilities(cohort, layout, seed)[["estimate", "sd"]],
    }
