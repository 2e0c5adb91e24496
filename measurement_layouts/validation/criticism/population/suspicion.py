"""Suspicion: subjects with unexpected successes on hard items or failures of easy items."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binom
from threadpoolctl import threadpool_limits

from ....common import options
from ....common.digits import p_value
from ....common.messages import many
from ....common.seeds import subject_seed
from ....inference.fit import Fit
from ....inference.given import refuse_few_draws, refuse_no_fit
from ....inference.model.unseen import refuse_unseen
from ....layouts.elements import elements
from .known_items import Pattern, Tails
from .residuals import Residuals

_EVEN = 0.5
_TOO_MANY = 0.001  # p value of the number of verdicts, below which the layout is doubted

MEMORISED, SANDBAGGED = "memorised", "sandbagged"


@dataclass(frozen=True, eq=False, repr=False)
class Suspicion:
    """Verdicts on subjects with unexpected successes or failures.

    Made by `suspicion`, where the tests are described.

    Attributes
    ----------
    table : DataFrame
        Indexed by subject.

        - ``hard``: number of items with a probability of success below 0.5; ``hard_passed`` and
          ``hard_expected``: successes on them, and their expectation; ``memorised_p``: p value of
          so much success on them.
        - ``easy``: number of the other items; ``easy_failed`` and ``easy_expected``: failures of
          them, and their expectation; ``sandbagged_p``: p value of so many failures.
        - ``verdict``: "memorised", "sandbagged", or empty; ``p_adjusted``: the p value,
          adjusted for both tests of all subjects; see Notes of `suspicion`.
    items : DataFrame
        One row per unexpected cell of a subject with a verdict, the least probable first:
        ``subject``, ``item``, ``verdict``, and ``chance``, the probability of such an outcome.
    alpha : float
        Probability of a verdict on a subject for which the layout is right.
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
    Ann has too many unexpected successes: it passes 16 of 40 hard items instead of 6.2, as if some
    were memorised (p <0.001; the false alarm rate is 5%).
    """

    table: pd.DataFrame
    items: pd.DataFrame
    alpha: float
    layout: str

    @property
    def warning(self) -> str:
        """Warning that there are too many verdicts for the layout to be right; empty otherwise.

        It is given if at least half of at least five subjects have a verdict, and the number is
        not explained by false alarms.
        """
        count, alarms = len(self.table), int((self.table["verdict"] != "").sum())
        if count < 5 or 2 * alarms < count or binom.sf(alarms - 1, count, self.alpha) > _TOO_MANY:
            return ""
        return (
            f"{alarms} of {many(count, 'subject')} have a verdict: it is more likely that the "
            f"layout {self.layout!r} is wrong about the difficulty of items; see criticise"
        )

    def in_words(self) -> list[str]:
        """Write a sentence for each subject with a verdict, and the warning."""
        told = []
        for name, row in self.table[self.table["verdict"] != ""].iterrows():
            if row["verdict"] == MEMORISED:
                what = (
                    f"{name} has too many unexpected successes: it passes {row['hard_passed']:g} "
                    f"of {many(int(row['hard']), 'hard item')} instead of "
                    f"{row['hard_expected']:.1f}, as if some were memorised"
                )
            else:
                what = (
                    f"{name} has too many unexpected failures: it fails {row['easy_failed']:g} of "
                    f"{many(int(row['easy']), 'easy item')} instead of "
                    f"{row['easy_expected']:.1f}, as if some were failed on purpose"
                )
            p = min(row["memorised_p"], row["sandbagged_p"])
            told.append(f"{what} (p {p_value(p)}; the false alarm rate is {self.alpha:.0%}).")
        return told + [self.warning] * bool(self.warning)

    def __repr__(self) -> str:
        counts = self.table["verdict"].value_counts()
        found = " and ".join(f"{counts.get(name, 0)} {name}" for name in (MEMORISED, SANDBAGGED))
        return (
            f"<Suspicion of {self.layout!r}: {found} of {many(len(self.table), 'subject')}, false "
            f"alarms {self.alpha:.0%} each>"
        )


def suspicion(
    fit: Fit, *, subjects: Iterable[object] | None = None, alpha: float = 0.05, seed: int = 1
) -> Suspicion:
    r"""Test each subject for memorised hard items, and for easy items failed on purpose.

    The statistic is the likelihood ratio of a share m of memorised hard items against none, each
    at the profile that is then the most probable:

    .. math:: T = \max_\theta \log \pi(\theta) \prod_i \left(m_i 1_{y_i = n_i} +
        (1 - m_i)\, p_i^{y_i} (1 - p_i)^{n_i - y_i}\right) - \max_\theta \log \pi(\theta) \prod_i
        p_i^{y_i} (1 - p_i)^{n_i - y_i}

    with m = .15 where :math:`p_i < \tfrac12`, and 0 on easy items. In the test for items failed
    on purpose, successes and failures are exchanged. The prior :math:`\pi` is inferred from the
    fit without the subject's outcomes, and the difficulty of an item without the subject's outcome
    on it. The p value is the probability of at least such a ratio in outcomes simulated from the
    layout and its posterior. The verdict is that of the test with the smaller p value if this is
    at most alpha / 2, so that the probability of a verdict on a subject for which the layout is
    right is at most alpha.

    Parameters
    ----------
    fit : Fit
        A joint fit, or one of subjects fitted alone. In the latter, the items' difficulty is that
        of their demands, so that an item that is easier appears to be memorised by all subjects.
    subjects : iterable, optional
        Subjects to test (default: all).
    alpha : float, default 0.05
        Probability of a verdict on a single subject for which the layout is right, in (0, 1). With
        ``p_adjusted <= alpha``, it is the probability of any false alarm in the table.
    seed : int, default 1
        Seed of the simulated outcomes. Those of a subject depend on its name, and not on the other
        subjects.

    Returns
    -------
    Suspicion
        P values of both tests, verdicts, the least expected outcomes, and sentences.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        When `fit` is something else, a subject is not in the fit, `alpha` or `seed` is out of
        range, there are fewer than 100 draws, or the trials of an item depend on each other because
        of an unseen or measured property.

    Notes
    -----
    The two tests are not independent: a subject that has memorised hard items is inferred to be
    able, so that its failures of easy items are unexpected. The smaller p value indicates the more
    likely explanation. In a joint fit, items that many subjects have memorised are inferred to be
    easy, and are then of no use for the tests. Guessing cannot be distinguished from memorised
    items; if it is possible, the layout needs a floor.

    Half of the 400 outcomes simulated for each test have memorised items, and are weighted by the
    likelihood ratio, so that p values much smaller than 1 / 400 can be estimated. The standard
    error of a p value of .025 is about .004.

    ``p_adjusted`` is the expected number of ratios at least as large in both tests of all subjects,
    the sum of their probabilities, which is an upper bound of the probability of any. Large ratios
    are less probable for a subject with few hard items. Less of the false alarm rate is therefore
    used for tests of little power than with adjusted p values of separate tests.

    References
    ----------
    Drasgow, F., Levine, M. V. and Williams, E. A. (1985), British Journal of Mathematical and
    Statistical Psychology 38. Neyman, J. and Pearson, E. S. (1933), for the ratio. Sinharay, S.
    (2017), Detection of item preknowledge using likelihood ratio test and score test, Journal of
    Educational and Behavioral Statistics 42. Westfall, P. H. and Young, S. S. (1993),
    Resampling-based multiple testing.

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
    refuse_no_fit(fit)
    alpha = options.inside("alpha", alpha, such_as=0.05)
    seed = options.whole("seed", seed)
    who = fit.subjects if subjects is None else fit.named(subjects)
    refuse_few_draws(fit, "suspicion")
    if (fit.observed["trials"].to_numpy() > 1).any():
        refuse_unseen(fit.layout, "suspicion", "fit items of one trial each")
    residuals = Residuals.of(fit)
    chosen = pd.Index(residuals.subjects).get_indexer(pd.Index(who))
    residuals = residuals.take(chosen)
    with threadpool_limits(1, user_api="blas"):  # more threads change the last digits
        tails = Tails.of(_patterns(residuals, max(1, len(elements(fit.layout))), seed))
    memorised, sandbagged = tails.alone.reshape(-1, 2).T
    table = _counts(residuals)
    table["memorised_p"], table["sandbagged_p"] = memorised, sandbagged
    smaller = np.where(sandbagged < memorised, SANDBAGGED, MEMORISED)
    least = np.fmin(memorised, sandbagged)
    table["verdict"] = np.where(least <= alpha / 2, smaller, "")
    table["p_adjusted"] = tails.together.reshape(-1, 2).min(axis=1)
    return Suspicion(table, _surprising(residuals, table), alpha, fit.layout.name)


def _patterns(residuals: Residuals, most: int, seed: int) -> Iterator[tuple[Pattern, int]]:
    """Make the patterns of both tests of each subject, with seeds."""
    for row, name in enumerate(residuals.subjects):
        cells = residuals.successes[row], residuals.trials[row], residuals.chances[:, row]
        pattern, own = Pattern.of(*cells, most), subject_seed(seed, str(name))
        yield pattern, own
        yield pattern.mirrored, own + 1


def _counts(residuals: Residuals) -> pd.DataFrame:
    """Count successes on hard items and failures of easy items, with their expectations."""
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
    """List the unexpected outcomes of subjects with a verdict."""
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
