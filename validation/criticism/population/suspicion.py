"""Suspicion: subjects who succeed where they should fail, or fail where they should succeed."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binom
from threadpoolctl import threadpool_limits

from ....common import options
from ....common.errors import FitError
from ....common.messages import many
from ....inference.fit import Fit
from ....inference.model.unseen import refuse_unseen
from ..expansion import holm
from .louis import SUBJECT, Direction
from .residuals import Block, Residuals

_SHARE = 0.1  # of the hard (easy) items that the tests look for best
_EVEN = 0.5
_FEWEST_DRAWS = 100
_TOO_MANY = 0.001  # chance below which a number of alarms is the layout's fault

MEMORISED, SANDBAGGED = "memorised", "sandbagged"


@dataclass(frozen=True, eq=False, repr=False)
class Suspicion:
    """Whose successes and failures are where they should not be.

    Made by `suspicion`, which says what is tested.

    Attributes
    ----------
    table : DataFrame
        Indexed by subject.

        - ``hard``, how many items it was expected to pass with less than an even chance;
          ``hard_passed`` and ``hard_expected``, successes on them; ``memorised_p``, the chance of
          so much success there under the layout.
        - ``easy``, the other items; ``easy_failed`` and ``easy_expected``, failures on them;
          ``sandbagged_p``, the chance of so many.
        - ``verdict``: "memorised", "sandbagged", or empty; ``p_adjusted``: the smaller p value,
          adjusted for both tests of all subjects (Holm).
    items : DataFrame
        One row per surprising cell of a subject with a verdict, the most surprising first:
        ``subject``, ``item``, ``verdict`` and the ``chance`` of such an outcome.
    alpha : float
        Chance that a subject gets a verdict whose outcomes are as the layout says.
    layout : str
        Name of the layout.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {"hard": [40], "hard_passed": [16], "hard_expected": [6.2], "memorised_p": [1e-4],
    ...      "easy": [60], "easy_failed": [9], "easy_expected": [9.4], "sandbagged_p": [0.6],
    ...      "verdict": [MEMORISED], "p_adjusted": [2e-4]}, index=["Ann"])
    >>> found = Suspicion(table, pd.DataFrame(columns=["subject", "item"]), 0.05, "quiz")
    >>> print(found.in_words()[0])
    Ann succeeds where it should fail: it passes 16 of 40 hard items instead of 6.2, as if some were
    known by heart (p 0.0001; 5% of honest subjects are so accused).
    """

    table: pd.DataFrame
    items: pd.DataFrame
    alpha: float
    layout: str

    @property
    def warning(self) -> str:
        """Why the verdicts are to be doubted: more alarms than false ones and few cheats explain.

        Empty where there is no reason.
        """
        count, alarms = len(self.table), int((self.table["verdict"] != "").sum())
        if count < 5 or 2 * alarms < count or binom.sf(alarms - 1, count, self.alpha) > _TOO_MANY:
            return ""
        return (
            f"{alarms} of {many(count, 'subject')} are suspect: rather than most subjects, suspect "
            f"the layout {self.layout!r}, whose items may be easier or harder than it says; see "
            "criticise"
        )

    def in_words(self) -> list[str]:
        """Write a sentence for each subject with a verdict, and the warning."""
        told = []
        for name, row in self.table[self.table["verdict"] != ""].iterrows():
            if row["verdict"] == MEMORISED:
                what = (
                    f"{name} succeeds where it should fail: it passes {row['hard_passed']:g} of "
                    f"{many(int(row['hard']), 'hard item')} instead of "
                    f"{row['hard_expected']:.1f}, as if some were known by heart"
                )
            else:
                what = (
                    f"{name} fails where it should succeed: it fails {row['easy_failed']:g} of "
                    f"{many(int(row['easy']), 'easy item')} instead of "
                    f"{row['easy_expected']:.1f}, as if some were failed on purpose"
                )
            p = min(row["memorised_p"], row["sandbagged_p"])
            told.append(f"{what} (p {p:.1g}; {self.alpha:.0%} of honest subjects are so accused).")
        return told + [self.warning] * bool(self.warning)

    def __repr__(self) -> str:
        counts = self.table["verdict"].value_counts()
        found = " and ".join(f"{counts.get(name, 0)} {name}" for name in (MEMORISED, SANDBAGGED))
        return (
            f"<Suspicion of {self.layout!r}: {found} of {many(len(self.table), 'subject')}, false "
            f"alarms {self.alpha:.0%} each>"
        )


def suspicion(
    fit: Fit, *, subjects: Iterable[object] | None = None, alpha: float = 0.05
) -> Suspicion:
    r"""Test each subject for memorised hard items, and for easy items failed on purpose.

    Were a share m of the hard items known by heart, the log-likelihood of a success with the chance
    p would grow by :math:`\log((1 - m) p + m) - \log p`, and that of a failure fall by
    :math:`\log(1 - m)`. So cells are moved along

    .. math:: x = \log\left(1 + \frac{m}{(1 - m)\, p}\right) \text{ where } p < \tfrac12,
        \qquad x' = -\log\left(1 + \frac{m}{(1 - m)(1 - p)}\right) \text{ where } p \ge \tfrac12

    (0 elsewhere) with m = .1: x weighs a success more, the more it surprises, and x' is the same
    for failures of easy items. Each is centred and scored as a `louis.Direction`, so that what is
    inferred of the subject plays no part, and tested on one side; p values are those of the
    saddlepoint approximation. The verdict is that of the smaller one where it is at most alpha / 2,
    so that a subject whose outcomes are as the layout says is accused with a chance of alpha at
    most.

    Parameters
    ----------
    fit : Fit
        Joint, or of subjects fitted one by one; the items' difficulty is then what the layout makes
        of their demands, and an item that is easier than that looks memorised by everybody.
    subjects : iterable, optional
        Subjects to test (default: all).
    alpha : float, default 0.05
        Chance that an honest subject is accused, in (0, 1); each subject by itself.
        ``p_adjusted <= alpha`` is the same for any false alarm in the table.

    Returns
    -------
    Suspicion
        P values on both sides, verdicts, the most surprising items, and sentences.

    Raises
    ------
    FitError
        When a subject is not in the fit, `alpha` is out of range, there are fewer than 100 draws,
        or the trials of an item depend on each other, as those with something unseen do.

    Notes
    -----
    The two sides are not independent: who knows hard items by heart seems able, and then fails easy
    items. The smaller p value names the likelier side. In a joint fit, items that many subjects
    know by heart are inferred to be easy, and nobody is then found by them. Guessing looks like
    knowing by heart; give the layout a floor where there is one.

    Tried on 2,000 simulated subjects who knew a fifth of their hard items of 200 by heart, at a
    spread of the items of 2 log-odds and a false alarm rate of .025: m of .05, .1 and .2 found 82,
    84 and 84 %, :math:`\log p` over all items 84 %, and the ratio of likelihoods averaged over the
    level, for m of .1 and .2, 86 and 92 %, which has no p value without simulating each subject's
    outcomes again.

    References
    ----------
    Drasgow, F., Levine, M. V. and Williams, E. A. (1985), British Journal of Mathematical and
    Statistical Psychology 38; Snijders, T. A. B. (2001), Psychometrika 66, for a level that is
    estimated. Neyman, J. and Pearson, E. S. (1933), for the weights, which are those of the
    likelihood ratio. Sinharay, S. (2017), Detection of item preknowledge using likelihood ratio
    test and score test, Journal of Educational and Behavioral Statistics 42.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> steps = MetaFeature("steps", low=0, high=10)
    >>> layout = Layout("sums", Success("right", logistic(Capability("skill", 0, 10) - steps)))
    >>> items = pd.DataFrame({"steps": np.linspace(0, 10, 40)})
    >>> fair = (items["steps"] < 5).astype(int)
    >>> learnt = fair.where(items.index < 34, 1)
    >>> outcomes = pd.DataFrame([fair, learnt], index=["Ann", "Bob"])
    >>> found = fit(layout, Evaluation.from_wide(outcomes, items), method="grid", draws=200)
    >>> suspicion(found).table[["hard", "hard_passed", "verdict"]]
             hard  hard_passed    verdict
    subject
    Ann        20          0.0
    Bob         ...          6.0  memorised
    """
    alpha = options.inside("alpha", alpha, such_as=0.05)
    who = fit.subjects if subjects is None else fit.named(subjects)
    drawn = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    if drawn < _FEWEST_DRAWS:
        raise FitError(
            f"the fit has {many(drawn, 'draw')}; suspicion needs at least {_FEWEST_DRAWS}, and "
            "should have 1000: fit with more"
        )
    if (fit.observed["trials"].to_numpy() > 1).any():
        refuse_unseen(fit.layout, "suspicion", "fit items of one trial each")
    residuals = Residuals.of(fit)
    chosen = pd.Index(residuals.subjects).get_indexer(pd.Index(who))
    with threadpool_limits(1, user_api="blas"):  # threads would change the last digits
        p = {
            MEMORISED: _one_sided(residuals, _by_heart, 1)[chosen],
            SANDBAGGED: _one_sided(residuals, _on_purpose, -1)[chosen],
        }
    table = _counts(residuals.take(chosen))
    for name, own in p.items():
        table[f"{name}_p"] = own
    smaller = np.where(p[SANDBAGGED] < p[MEMORISED], SANDBAGGED, MEMORISED)
    least = np.fmin(p[MEMORISED], p[SANDBAGGED])
    table["verdict"] = np.where(least <= alpha / 2, smaller, "")
    both = holm(np.concatenate([p[MEMORISED], p[SANDBAGGED]])).reshape(2, -1)
    table["p_adjusted"] = np.fmin(*both)
    return Suspicion(table, _surprising(residuals.take(chosen), table), alpha, fit.layout.name)


def _by_heart(block: Block) -> list[np.ndarray]:
    """Weigh successes on hard items."""
    odds = block.log_odds
    return [np.where(odds < 0, _weight(odds), 0)]


def _on_purpose(block: Block) -> list[np.ndarray]:
    """Weigh failures of easy items."""
    odds = block.log_odds
    return [np.where(odds >= 0, _weight(-odds), 0)]


def _weight(log_odds: np.ndarray) -> np.ndarray:
    """Give the likelihood ratio's weight of an outcome with some log-odds."""
    return np.asarray(np.log1p(_SHARE / (1 - _SHARE) * (1 + np.exp(-log_odds))))


def _one_sided(residuals: Residuals, values: object, side: int) -> np.ndarray:
    """Give p values of more success (1) or failure (-1) along some values; 1 where untestable."""
    direction = Direction(values, SUBJECT)  # type: ignore[arg-type]
    tested = direction.test(residuals)
    both = direction.chances(residuals, tested)
    towards = side * tested.alone()[0][:, 0] > 0
    return np.asarray(np.where(np.isnan(both), 1.0, np.where(towards, both / 2, 1 - both / 2)))


def _counts(residuals: Residuals) -> pd.DataFrame:
    """Count successes on hard items and failures of easy ones, and what was expected."""
    tried, mean = residuals.trials > 0, residuals.mean
    failures = residuals.trials - residuals.successes
    found = {}
    for name, own, done, chance in (
        ("hard", tried & (mean < _EVEN), residuals.successes, mean),
        ("easy", tried & (mean >= _EVEN), failures, 1 - mean),
    ):
        found[name] = own.sum(axis=1)
        what = "passed" if name == "hard" else "failed"
        found[f"{name}_{what}"] = np.where(own, done, 0).sum(axis=1)
        found[f"{name}_expected"] = np.where(own, residuals.trials * chance, 0).sum(axis=1)
    return pd.DataFrame(found, index=pd.Index(residuals.subjects, name="subject"))


def _surprising(residuals: Residuals, table: pd.DataFrame) -> pd.DataFrame:
    """List what surprises most in subjects with a verdict."""
    failures = residuals.trials - residuals.successes
    rows = []
    for place, (name, verdict) in enumerate(table["verdict"].items()):
        learnt = verdict == MEMORISED
        chance = residuals.mean[place] if learnt else 1 - residuals.mean[place]
        done = (residuals.successes if learnt else failures)[place]
        if verdict:
            at = np.flatnonzero((done > 0) & (chance < _EVEN))
            for item in at[np.argsort(chance[at], kind="stable")]:
                rows.append((name, residuals.items[item], verdict, float(chance[item])))
    return pd.DataFrame(rows, columns=["subject", "item", "verdict", "chance"])
