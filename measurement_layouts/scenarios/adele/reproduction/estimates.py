"""Known abilities, estimated by characteristic curves and by layouts."""

import numpy as np
import pandas as pd

from ....batteries.characteristic import characteristic_curves
from ....evaluations.evaluation import Evaluation
from ....inference.fitting import fit
from ....inference.simulate import draw_outcomes
from ....layouts import Layout
from ...scenario import Cohort
from ..battery import rule, simulated_cohort, true_profiles
from ..layouts import capability_layout
from ..scales import DEMANDS

ITEMS = 3_222
ISOLATED, CORRELATED = "isolated", "correlated"
CURVES, APART, GENERAL = "curves", "layout, abilities apart", "layout, general level"
COLUMNS = [f"demand[{code}]" for code in DEMANDS]
_LEVELS = 6  # 0 to 5
_RESAMPLES = 200
_ENDLESS = 1_000_000  # number of attempts at each item for the aims of curves
_SAMPLING = {"draws": 300, "tune": 300, "chains": 2, "reruns": 0, "progressbar": False}


def isolated(each: int = 30) -> pd.DataFrame:
    """Make a battery in which every item demands only one ability.

    Parameters
    ----------
    each : int
        Number of items per dimension and level.

    Returns
    -------
    DataFrame
        ``demand[AS]`` and so on: one of them at a level from 0 to 5, all others 0; and
        ``unguessability``, 100.

    Examples
    --------
    >>> items = isolated(each=2)
    >>> len(items), int((items[COLUMNS] > 0).sum(axis=1).max())
    (216, 1)
    """
    cells = np.arange(len(DEMANDS) * _LEVELS).repeat(each)
    levels = np.zeros((len(cells), len(DEMANDS)), dtype=int)
    levels[np.arange(len(cells)), cells // _LEVELS] = cells % _LEVELS
    names = pd.Index([f"item-{number}" for number in range(len(cells))], name="item")
    return pd.DataFrame(levels, names, COLUMNS).assign(unguessability=100.0)


def isolated_cohort(seed: int = 1, each: int = 30) -> Cohort:
    """Simulate the answers of the fifteen subjects to the isolated battery, without guessing.

    Parameters
    ----------
    seed : int
        Seed of the outcomes.
    each : int
        As in `isolated`.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> isolated_cohort(each=1).evaluation.successes.shape
    (15, 108)
    """
    return Cohort.drawn(rule(), isolated(each), true_profiles(), seed)


def curve_abilities(cohort: Cohort, seed: int = 1) -> pd.DataFrame:
    """Estimate abilities by the published curves, and compute the aims of the curves.

    The aim of a curve is its ability if the same items are attempted infinitely often (here a
    million times each). It is not the true ability if other demands reduce success.

    Parameters
    ----------
    cohort : Cohort
        Outcomes and true profiles; the outcomes are simulated from `battery.rule`.
    seed : int
        Seed of bootstrap and attempts.

    Returns
    -------
    DataFrame
        One row per subject and dimension: ``truth``, ``aim``, ``estimate``, ``sd`` (of the
        bootstrap), ``low`` and ``high`` (90 %; missing if the curve is a step), in levels.

    Examples
    --------
    >>> found = curve_abilities(isolated_cohort(each=20))
    >>> found.loc[("GPT-3.5-Turbo", "CEe"), ["truth", "aim", "estimate"]].round(1).to_dict()
    {'truth': 4.2, 'aim': 4.2, 'estimate': 4.1}
    """
    curves = characteristic_curves(cohort.evaluation, COLUMNS, resamples=_RESAMPLES, seed=seed)
    items = cohort.evaluation.items
    endless = draw_outcomes(rule(), items, cohort.profiles, np.random.default_rng(seed), _ENDLESS)
    aims = characteristic_curves(endless, COLUMNS, resamples=2).abilities
    known = curves.table["low"].notna().to_numpy()
    found = {
        "truth": _truths(cohort),
        "aim": aims.to_numpy().ravel(),
        "estimate": curves.table["ability"].to_numpy(),
        "sd": np.where(known, curves.draws["ability"].std("draw").to_numpy().ravel(), np.nan),
        "low": curves.table["low"].to_numpy(),
        "high": curves.table["high"].to_numpy(),
    }
    return pd.DataFrame(found, _cells(cohort.evaluation))


def layout_abilities(cohort: Cohort, layout: Layout, seed: int = 1) -> pd.DataFrame:
    """Fit a layout with a labelled ``ability``.

    Parameters
    ----------
    cohort : Cohort
        Outcomes and true profiles.
    layout : Layout
        Layout to fit.
    seed : int
        Seed of the draws.

    Returns
    -------
    DataFrame
        Columns as in `curve_abilities`, with posterior means and standard deviations; the aim of a
        layout is the truth. There is also ``rhat``. There are 2 chains of 300 draws, and no subject
        is sampled again.
    """
    fitted = fit(layout, cohort.evaluation, seed=seed, **_SAMPLING)  # type: ignore[arg-type]
    table = fitted.profiles()
    found = table[table["node"] == "ability"].set_index(["subject", "label"])
    found = found.reindex(_cells(cohort.evaluation)).rename(columns={"mean": "estimate"})
    truths = _truths(cohort)
    return found.assign(truth=truths, aim=truths)[
        ["truth", "aim", "estimate", "sd", "low", "high", "rhat"]
    ]


def estimates(seed: int = 1, items: int = ITEMS, each: int = 30) -> pd.DataFrame:
    """Estimate the abilities of the fifteen subjects, on both batteries.

    On the isolated battery an item demands only one ability. On the correlated battery, which is
    simulated with the published structure, it demands many at once. With the default sizes this
    takes two minutes on two processors.

    Parameters
    ----------
    seed : int
        Seed of outcomes, draws and the correlated battery.
    items : int
        Number of items of the correlated battery.
    each : int
        As in `isolated`.

    Returns
    -------
    DataFrame
        Indexed by ``battery`` (isolated, correlated), ``method`` (curves; layout, abilities apart,
        which is `battery.rule`, on the correlated one; layout, general level, which is
        `capability_layout`), ``subject`` and ``dimension``; columns of `layout_abilities`.

    References
    ----------
    General scales paper, sections 2.2, 3.3 and 5.7.
    """
    alone, together = isolated_cohort(seed, each), simulated_cohort(seed, items)
    found = {
        (ISOLATED, CURVES): curve_abilities(alone, seed),
        (ISOLATED, GENERAL): layout_abilities(alone, capability_layout(guessed=False), seed),
        (CORRELATED, CURVES): curve_abilities(together, seed),
        (CORRELATED, APART): layout_abilities(together, rule(), seed),
        (CORRELATED, GENERAL): layout_abilities(together, capability_layout(), seed),
    }
    return pd.concat(found, names=["battery", "method"])


def _cells(evaluation: Evaluation) -> pd.MultiIndex:
    return pd.MultiIndex.from_product(
        [evaluation.subjects, DEMANDS], names=["subject", "dimension"]
    )


def _truths(cohort: Cohort) -> np.ndarray:
    columns = [f"ability[{code}]" for code in DEMANDS]
    found: np.ndarray = cohort.profiles.loc[cohort.evaluation.subjects, columns].to_numpy().ravel()
    return found
