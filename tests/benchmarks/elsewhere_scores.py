"""Scores of forecasts elsewhere: halved log-odds, the oracle bound, and errors over groups."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from measurement_layouts.validation import CrossValidation
from measurement_layouts.validation.prediction import scoring_rules as scoring

HALVED, ORACLE = "halved", "oracle"
BLOCKS = 25
WIDEST = 20.0  # log-odds of an oracle's offset
ROUNDING = 1e-9
SCORES = ("auroc", "ece", "brier", "pooled ece", "excess ece")


@dataclass(frozen=True, eq=False)
class Cells:
    """Forecasts of cells that were held out, in one order for all methods.

    Attributes
    ----------
    chances : mapping of str to ndarray, shape (cells,)
        By method.
    won, tried : ndarray, shape (cells,)
        Successes and trials.
    subject, group, home : ndarray, shape (cells,)
        Whose; the group of items that errors are clustered by; and the one that was left out, or
        would have been.
    low : mapping of str to ndarray
        Lower ends of intervals, of methods that tell them.
    """

    chances: Mapping[str, np.ndarray]
    won: np.ndarray
    tried: np.ndarray
    subject: np.ndarray
    group: np.ndarray
    home: np.ndarray
    low: Mapping[str, np.ndarray]

    @cached_property
    def of_subjects(self) -> list[np.ndarray]:
        """Positions of each subject's cells."""
        codes, names = pd.factorize(self.subject)
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
        return np.split(np.argsort(codes, kind="stable"), ends)

    def take(self, kept: np.ndarray) -> "Cells":
        """Keep some cells."""
        names = ("won", "tried", "subject", "group", "home")
        parts = {name: getattr(self, name)[kept] for name in names}
        told = {
            name: {way: own[kept] for way, own in getattr(self, name).items()}
            for name in ("chances", "low")
        }
        return replace(self, **parts, **told)

    def also(self, name: str, chances: np.ndarray) -> "Cells":
        """Add a method."""
        return replace(self, chances={**self.chances, name: chances})


def cells_of(found: CrossValidation, groups: pd.Series, home: pd.Series) -> Cells:
    """Read the predictions of a cross-validation, of all its repeats."""
    parts = {str(name): part for name, part in found.predictions.groupby("method", sort=False)}
    one = next(iter(parts.values()))
    one = one[one["trials"] > 0]
    return Cells(
        {name: part["probability"].to_numpy()[part["trials"] > 0] for name, part in parts.items()},
        one["successes"].to_numpy(dtype=float),
        one["trials"].to_numpy(dtype=float),
        one["subject"].to_numpy(dtype=object),
        groups.loc[one["item"]].to_numpy(dtype=object),
        home.loc[one["item"]].to_numpy(dtype=object),
        {
            name: part["low"].to_numpy()[part["trials"] > 0]
            for name, part in parts.items()
            if part["low"].notna().any()
        },
    )


def halved(chances: np.ndarray) -> np.ndarray:
    """Halve all log-odds: half as sure of everything, and in the same order."""
    return expit(logit(np.clip(chances, ROUNDING, 1 - ROUNDING)) / 2)


def oracle(chances: np.ndarray, cells: Cells) -> np.ndarray:
    r"""Shift the log-odds of each held-out group by the best offset, which its outcomes tell.

    The offset is that of greatest likelihood, the same for all subjects; nobody could know it. It
    solves :math:`\sum_c n_c \sigma(x_c + o) = \sum_c y_c` over the cells of the group.
    """
    found = np.empty(len(chances))
    base = logit(np.clip(chances, ROUNDING, 1 - ROUNDING))
    for group in np.unique(cells.home):
        own = cells.home == group
        found[own] = _shifted(base[own], cells.won[own].sum(), cells.tried[own])
    return found


def _shifted(odds: np.ndarray, won: float, tried: np.ndarray) -> np.ndarray:
    """Shift log-odds so that as many successes are expected as there are, within `WIDEST`."""

    def surplus(offset: float) -> float:
        return float(tried @ expit(odds + offset) - won)

    for end, beyond in ((-WIDEST, surplus(-WIDEST) >= 0), (WIDEST, surplus(WIDEST) <= 0)):
        if beyond:
            return expit(odds + end)
    return expit(odds + brentq(surplus, -WIDEST, WIDEST))


def scores(cells: Cells, method: str) -> dict[str, float]:
    """Score a method: AUROC and ECE as means over subjects, the Brier score over all trials.

    ``pooled ece`` is of all subjects' cells together. AUROC is NaN where no subject's items are
    told apart.
    """
    chances = cells.chances[method]
    areas, gaps = [], []
    for own in cells.of_subjects:
        rows = chances[own], cells.won[own], cells.tried[own]
        areas.append(np.nan if np.ptp(rows[0]) == 0 else scoring.auroc(*rows))
        gaps.append(scoring.expected_calibration_error(*rows))
    rows = chances, cells.won, cells.tried
    return {
        "auroc": float(np.nanmean(areas)) if np.isfinite(areas).any() else np.nan,
        "ece": float(np.mean(gaps)),
        "brier": scoring.brier(*rows),
        "pooled ece": scoring.expected_calibration_error(*rows),
    }


def floor(cells: Cells, method: str, *, seed: int, draws: int = 100) -> float:
    """Say what pooled ECE a method would have if it were right: the mean of simulated outcomes."""
    rng, chances = np.random.default_rng(seed), cells.chances[method]
    tried = cells.tried.astype(int)
    return float(
        np.mean(
            [
                scoring.expected_calibration_error(chances, rng.binomial(tried, chances), tried)
                for _ in range(draws)
            ]
        )
    )


def table(cells: Cells, *, seed: int) -> pd.DataFrame:
    """Score every method; ``excess ece`` is the pooled one less its simulated floor."""
    found = pd.DataFrame({name: scores(cells, name) for name in cells.chances}).T
    floors = pd.Series({name: floor(cells, name, seed=seed) for name in cells.chances})
    return found.assign(**{"excess ece": found["pooled ece"] - floors})[list(SCORES)]


def blocks(cells: Cells, *, seed: int) -> np.ndarray:
    """Deal the groups to at most `BLOCKS` blocks, a number for each cell."""
    names, place = np.unique(cells.group.astype(str), return_inverse=True)
    count = min(BLOCKS, len(names))
    return np.random.default_rng(seed).permutation(len(names))[place] % count


def errors(cells: Cells, ours: str, *, seed: int) -> pd.DataFrame:
    r"""Differences of ours from every method, with errors clustered by groups: the jackknife.

    .. math:: \mathrm{se}^2 = \frac{B - 1}{B} \sum_{b=1}^{B} (d_{-b} - \bar d)^2

    with :math:`d_{-b}` the difference without the groups of block b. Two columns of each score,
    ``brier`` and ``brier se``.
    """
    dealt = blocks(cells, seed=seed)
    count = dealt.max() + 1
    whole = pd.DataFrame({name: scores(cells, name) for name in cells.chances}).T
    found = whole.loc[ours] - whole
    if count < 2:
        return found.assign(**{f"{name} se": np.nan for name in found})
    without = []
    for block in range(count):
        rest = cells.take(dealt != block)
        own = pd.DataFrame({name: scores(rest, name) for name in rest.chances}).T
        without.append((own.loc[ours] - own).to_numpy())
    spread = (count - 1) * np.var(without, axis=0)
    return found.join(pd.DataFrame(np.sqrt(spread), found.index, [f"{name} se" for name in found]))


def accepted(cells: Cells, method: str, *, least: float) -> pd.DataFrame:
    """Accept cells of which a method says at least so much: share that succeeds, by subject.

    The lower end of the interval decides; of a method without intervals, the mean does. Columns:
    ``accepted`` cells, ``coverage``, ``success`` of them, and its ``error`` by the jackknife over
    groups (NaN of a single one).
    """
    said = cells.low.get(method, cells.chances[method])
    found = {}
    for name in pd.unique(cells.subject):
        own = cells.subject == name
        taken = cells.take(own & (said >= least))
        rate = _rate(taken)
        found[name] = {
            "accepted": len(taken.won),
            "coverage": len(taken.won) / own.sum(),
            "success": rate,
            "error": _jackknife(taken, _rate),
        }
    return pd.DataFrame(found).T


def coverage_at(cells: Cells, method: str, validity: float) -> float:
    """Say how much a method can accept, by its mean forecast, and succeed as often as asked.

    The largest share of trials, from the surest on, of which `validity` succeed; 0 where none do.
    """
    order = np.argsort(-cells.chances[method], kind="stable")
    tried, won = cells.tried[order].cumsum(), cells.won[order].cumsum()
    last = np.append(np.diff(cells.chances[method][order]) != 0, True)  # equals go together
    enough = np.flatnonzero(last & (won >= validity * tried))
    return float(tried[enough[-1]] / tried[-1]) if len(enough) else 0.0


def _rate(cells: Cells) -> float:
    total = cells.tried.sum()
    return float(cells.won.sum() / total) if total else np.nan


def _jackknife(cells: Cells, of: Callable[[Cells], float]) -> float:
    names = np.unique(cells.group.astype(str))
    if len(names) < 2:
        return np.nan
    left = [of(cells.take(cells.group != name)) for name in names]
    return float(np.sqrt((len(names) - 1) * np.var(left)))
