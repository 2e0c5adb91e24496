"""Comparison of subjects' profiles, with the uncertainty of the differences."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import many, some
from ..common.options import inside
from ..common.seeds import subject_seed
from ..common.threads import side_by_side
from ..inference.fit import Fit
from ..inference.given import refuse_no_fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import draws_of, rows_of
from ..inference.posterior.summaries import interval
from ..inference.sampling.convergence import rhat_ess
from ..layouts.elements import Element, find_elements
from ..linking import units

_SEED = 20231  # seed of the order in which draws of subjects that were fitted apart are paired
APART = "fitted apart, so draws are paired at random"


@dataclass(frozen=True, eq=False, repr=False)
class ProfileComparison:
    """Differences of profiles, element by element.

    Made by `compare_profiles`.

    Attributes
    ----------
    table : DataFrame
        One row per pair of subjects and profile element.

        - ``subject``, ``reference``, ``node``, ``label`` (empty without labels).
        - ``difference``: posterior mean of the subject's minus the reference's, in ``unit``, with
          ``sd`` and the ends ``low`` and ``high`` of the equal-tailed interval;
          ``difference_error``, ``low_error`` and ``high_error``: their Monte Carlo standard errors.
        - ``superiority``: probability that the subject's value is larger, in [0, 1];
          ``superiority_error``: its Monte Carlo standard error.
        - ``warning``: reason to read the row with care; empty where there is none.
    prob : float
        Mass of the intervals.
    fit : Fit
        Fit of the subjects.
    other : Fit or None
        Fit of the references, if it is another one.

    Examples
    --------
    >>> from measurement_layouts.validation.comparison import compare_profiles
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> comparison = compare_profiles(result)
    >>> comparison
    <ProfileComparison: 1 pair of subjects, 4 profile elements, 90% intervals; fitted apart, so
    draws are paired at random>
    >>> ranking = comparison.ranking("navigationAbility")
    >>> float(ranking["rank"].sum()), round(float(ranking["best"].sum()), 6)
    (3.0, 1.0)
    """

    table: pd.DataFrame
    prob: float
    fit: Fit
    other: "Fit | None" = None

    @property
    def joint(self) -> bool:
        """Whether all compared subjects belong to one joint fit, and share its draws."""
        return _together(self.fit, self.other)

    @property
    def subjects(self) -> list[str]:
        """Names of the compared subjects, including references, in the fit's order."""
        named = set(self.table["subject"]) | set(self.table["reference"])
        known = [*self.fit.subjects, *(self.other.subjects if self.other is not None else ())]
        return [name for name in dict.fromkeys(known) if name in named]

    def rows(self, element: str) -> pd.DataFrame:
        """Take one profile element's rows of the table.

        Raises
        ------
        FitError
            When there is no such element, or it is a node of several labels.
        """
        found = find_elements(self.fit.elements, element)
        if len(found) > 1:
            raise FitError(
                f"{element} has a value per label; name one of {some(e.name for e in found)}"
            )
        (one,) = found
        chosen = (self.table["node"] == one.latent.name) & (self.table["label"] == one.label)
        return self.table[chosen].reset_index(drop=True)

    def ranking(self, element: str) -> pd.DataFrame:
        """Rank the subjects by one profile element.

        Subjects are ranked in each draw. Draws are combined as for the differences; see
        `compare_profiles`.

        Parameters
        ----------
        element : str
            Node, or ``node[label]``.

        Returns
        -------
        DataFrame
            Indexed by subject, in the order of the expected rank: posterior ``mean``; expected
            ``rank`` (1 is the largest value; for a noise, the largest value is the worst), ``low``
            and ``high`` of its equal-tailed interval, and ``best``, the probability of rank 1.

        Raises
        ------
        FitError
            When there is no such element, or the subjects belong to two fits.
        """
        self.rows(element)
        if self.other is not None:
            raise FitError(
                "only subjects of one fit can be ranked, and these belong to two fits; call "
                "compare_profiles without other="
            )
        (one,) = find_elements(self.fit.elements, element)
        sizes = self.fit.posterior.sizes
        count = None if self.joint else sizes["chain"] * sizes["draw"]
        draws = _draws(self.fit, one, self.subjects, count)
        draws = draws.reshape(len(draws), -1)
        ranks = (-draws).argsort(axis=0).argsort(axis=0) + 1
        tail = (1 - self.prob) / 2
        low, high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="inverted_cdf")
        table = pd.DataFrame(
            {
                "mean": draws.mean(axis=1),
                "rank": ranks.mean(axis=1),
                "low": low,
                "high": high,
                "best": (ranks == 1).mean(axis=1),
            },
            index=pd.Index(self.subjects, name="subject"),
        )
        return table.sort_values("rank", kind="stable")

    def __repr__(self) -> str:
        pairs = len(self.table[["subject", "reference"]].drop_duplicates())
        elements = len(self.table[["node", "label"]].drop_duplicates())
        what = "pair" if pairs == 1 else "pairs"
        return (
            f"<ProfileComparison: {pairs} {what} of subjects, "
            f"{many(elements, 'profile element')}, {self.prob:.0%} intervals"
            f"{'' if self.joint else f'; {APART}'}>"
        )


_MOST = (
    200_000  # most rows of a table; one row takes a fifth of a millisecond, or one in a joint fit
)
_TOGETHER = 2**20  # differences of draws that are computed together


def compare_profiles(
    fit: Fit,
    subjects: Iterable[object] | None = None,
    *,
    reference: object | None = None,
    other: "Fit | None" = None,
    prob: float = 0.9,
) -> ProfileComparison:
    r"""Compare subjects' profiles, element by element.

    All numbers are those of the differences of n draws,

    .. math:: \delta_d = a_d - b_d, \qquad
        \Pr(a > b) = \frac{1}{n} \sum_d \left[1(\delta_d > 0) + \tfrac{1}{2} 1(\delta_d = 0)\right]

    In a joint fit, a and b are values of the same draw, since errors in what subjects share, such
    as the ease of items, are common to them. Subjects that were fitted apart, or in two fits, have
    independent posteriors; their draws are paired at random, and the result says so.

    If two subjects that were fitted apart share something that the layout does not model, their
    errors depend on each other, and differences are more, or less, certain than stated. Examples
    are an `Unseen` property of the same items, votes of the same people, and the same outcomes in
    two fits (such as before and after adding items). Where a noise pulls towards the subject's own
    mean failure, equal noises pull subjects of unequal success to different levels; pass
    ``toward=`` a number to make noises comparable.

    Parameters
    ----------
    fit : Fit
        The fit.
    subjects : iterable, optional
        Subjects (default: all; with `other`, those in both fits).
    reference : object, optional
        Name of the subject that all others are compared with; it is in `other`, if given. By
        default every pair is compared once, or each subject of `fit` with the subject of the same
        name in `other`.
    other : Fit, optional
        Another fit with the same profile elements, such as one of the same subjects at another time
        or on another battery.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.

    Returns
    -------
    ProfileComparison
        A table of differences, and a method that ranks subjects.

    Raises
    ------
    FitError
        When `fit` is something else, a subject is not in the fit or failed, there are fewer than
        two subjects to compare, the fits' profile elements or their units differ, `prob` is out of
        range, or there are more than 200,000 rows.
    DataError
        When a subject is named twice.

    Notes
    -----
    Monte Carlo errors follow from the effective number of differences: in a joint fit that of the
    draws :math:`\delta`, otherwise

    .. math:: n_{eff} = \frac{\mathrm{var}(a) + \mathrm{var}(b)}
        {\mathrm{var}(a) / n_a + \mathrm{var}(b) / n_b}

    with the effective sample sizes of both. That of a probability is at least :math:`1 / n_{eff}`.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> table = compare_profiles(result, reference="sim-01").table
    >>> table[["subject", "reference", "node", "difference", "superiority"]].round(1)
      subject reference               node  difference  superiority
    0  sim-30    sim-01  navigationAbility ...
    """
    refuse_no_fit(fit)
    prob = inside("prob", prob, such_as=0.9)
    if other is not None:
        _refuse_others(fit, other)
    whose, against = _pairs(fit, subjects, reference, other)
    known = fit.elements
    if len(whose) * len(known) > _MOST:
        raise FitError(
            f"{len(whose):,} pairs of subjects with {len(known)} profile elements are more than "
            f"{_MOST:,} rows; name some subjects=, or one reference= to compare all with"
        )
    left = _Side.of(fit, list(dict.fromkeys(whose)))
    right = _Side.of(fit if other is None else other, list(dict.fromkeys(against)))
    joint = _together(fit, other)
    parts = side_by_side(
        _compared, [(left, right, whose, against, one, prob, joint) for one in known]
    )
    table = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    return ProfileComparison(table, prob, fit, other)


def _pairs(
    fit: Fit, subjects: Iterable[object] | None, reference: object | None, other: "Fit | None"
) -> tuple[list[str], list[str]]:
    """List the pairs of subjects to compare."""
    who = fit.subjects if subjects is None else fit.named(subjects)
    if reference is not None:
        (name,) = (fit if other is None else other).named([reference])
        who = [one for one in who if one != name or other is not None]
        found = [(one, name) for one in who]
        nobody = f"there is no subject to compare with {name}; name others in subjects="
    elif other is not None:
        if subjects is None:
            who = [name for name in who if name in other.subjects]
        found = list(zip(who, other.named(who), strict=True))
        nobody = (
            f"the fits share no subject: one has {some(fit.subjects)}, the other "
            f"{some(other.subjects)}; name a reference= of the other fit"
        )
    else:
        found = [(one, two) for place, one in enumerate(who) for two in who[place + 1 :]]
        nobody = f"comparing needs two subjects, and there is {some(who) or 'none'}; name another"
    if not found:
        raise FitError(nobody)
    return [one for one, _ in found], [two for _, two in found]


def _refuse_others(fit: Fit, other: Fit) -> None:
    """Refuse fits whose profile elements or their units differ."""
    ours, theirs = (
        {element.name: units.name(element.latent.unit) for element in one.elements}
        for one in (fit, other)
    )
    alone = [name for name in (*ours, *theirs) if (name in ours) != (name in theirs)]
    if alone:
        raise FitError(
            f"the fits' profiles differ: {some(alone)} {'is' if len(alone) == 1 else 'are'} in one "
            "of them only; compare fits of one layout"
        )
    unlike = [name for name in ours if ours[name] != theirs[name]]
    if unlike:
        said = some(f"{n} ({ours[n] or 'none'} and {theirs[n] or 'none'})" for n in unlike)
        raise FitError(f"the fits differ in the unit of {said}; declare one unit in both layouts")


@dataclass(frozen=True, eq=False)
class _Side:
    """Selected subjects of a fit, with their summaries."""

    fit: Fit
    who: list[str]
    table: pd.DataFrame
    status: pd.Series

    @classmethod
    def of(cls, fit: Fit, who: list[str]) -> "_Side":
        return cls(fit, who, profiles(fit, subjects=who), verdicts(fit, who)["status"])

    def rows(self, element: Element) -> pd.DataFrame:
        return rows_of(self.table, element, self.who)

    def doubts(self, element: Element, suffix: str) -> dict[str, str]:
        """List the reasons to read each subject's number with care."""
        rows = self.rows(element)
        vague, modes = rows["prior_dominated"], rows["modes"]
        found = {}
        for name in self.who:
            said = ["not converged, see Fit.diagnostics"] * (self.status[name] == "not converged")
            said += ["prior-dominated"] * bool(vague[name])
            said += ["separate modes"] * bool(modes[name])
            found[name] = f"{name}{suffix}: {' and '.join(said)}" if said else ""
        return found


def _together(fit: Fit, other: Fit | None) -> bool:
    """Whether all subjects have one joint posterior."""
    return fit.layout.joint and (other is None or other is fit)


def _draws(
    fit: Fit, element: Element, who: list[str], count: int | None, side: str = ""
) -> np.ndarray:
    """Read draws, (subjects, chains, draws), or draws in random order, (subjects, count).

    Parameters
    ----------
    count : int or None
        Number of draws in random order, for subjects that were fitted apart; None for a joint fit.
    side : str
        Another name gives other orders, for another fit of subjects of the same names.
    """
    values = draws_of(fit, element.latent, fit.places(who))[:, element.index]
    if count is None:
        return values
    seeds = [subject_seed(_SEED, side + name) for name in who]
    rows = zip(seeds, values.reshape(len(values), -1), strict=True)
    return np.stack(
        [np.random.default_rng(seed).permutation(np.resize(row, count)) for seed, row in rows]
    )


def _compared(
    left: _Side,
    right: _Side,
    whose: list[str],
    against: list[str],
    element: Element,
    prob: float,
    joint: bool,
) -> pd.DataFrame:
    """Compare one profile element in all pairs."""
    here = pd.Index(left.who).get_indexer(pd.Index(whose))
    there = pd.Index(right.who).get_indexer(pd.Index(against))
    sizes = [side.fit.posterior.sizes for side in (left, right)]
    count = None if joint else max(size["chain"] * size["draw"] for size in sizes)
    suffix = "" if left.fit is right.fit else " (other fit)"
    one = _draws(left.fit, element, left.who, count)
    two = _draws(right.fit, element, right.who, count, suffix)
    ess = None if joint else _effective(left.rows(element), right.rows(element), here, there)
    step = max(1, _TOGETHER // one[0].size)
    blocks = []
    for start in range(0, len(here), step):
        rows = slice(start, start + step)
        gaps = one[here[rows]] - two[there[rows]]
        bulk, tail = rhat_ess(gaps)[1:] if ess is None else ess[:, rows]
        blocks.append(_summarised(gaps.reshape(len(gaps), -1), bulk, tail, prob))
    numbers = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    doubts, other_doubts = left.doubts(element, ""), right.doubts(element, suffix)
    return pd.DataFrame(
        {
            "subject": whose,
            "reference": against,
            "node": element.latent.name,
            "label": element.label,
            **numbers,
            "unit": units.name(element.latent.unit),
            "warning": [
                "; ".join(filter(None, (doubts[a], other_doubts[b])))
                for a, b in zip(whose, against, strict=True)
            ],
        }
    )


def _effective(
    ours: pd.DataFrame, theirs: pd.DataFrame, here: np.ndarray, there: np.ndarray
) -> np.ndarray:
    """Compute effective sample sizes, bulk and tail, of differences of independent draws."""
    sizes = ["ess_bulk", "ess_tail"]
    variance, other_variance = ours["sd"].to_numpy()[here] ** 2, theirs["sd"].to_numpy()[there] ** 2
    ess, other_ess = ours[sizes].to_numpy()[here].T, theirs[sizes].to_numpy()[there].T
    with np.errstate(invalid="ignore"):  # values that do not vary
        sizes_of_gaps = (variance + other_variance) / (variance / ess + other_variance / other_ess)
    return np.asarray(sizes_of_gaps)


def _summarised(
    gaps: np.ndarray, bulk: np.ndarray, tail: np.ndarray, prob: float
) -> dict[str, np.ndarray]:
    """Summarise differences, (pairs, draws), given their effective sample sizes."""
    sd, ends = gaps.std(axis=1, ddof=1), interval(np.sort(gaps, axis=1), tail, prob)
    counts = np.count_nonzero(gaps > 0, axis=1) + np.count_nonzero(gaps >= 0, axis=1)
    larger = counts / (2 * gaps.shape[1])
    return {
        "difference": gaps.mean(axis=1),
        "sd": sd,
        "low": ends["low"],
        "high": ends["high"],
        "difference_error": sd / np.sqrt(bulk),
        "low_error": ends["low_error"],
        "high_error": ends["high_error"],
        "superiority": larger,
        "superiority_error": np.maximum(np.sqrt(larger * (1 - larger) / bulk), 1 / bulk),
    }
