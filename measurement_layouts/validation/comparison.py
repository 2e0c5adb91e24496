"""Comparison of subjects' profiles, with the uncertainty of the differences."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import many, some
from ..common.options import inside
from ..common.threads import side_by_side
from ..inference.fit import Fit
from ..inference.given import refuse_no_fit
from ..inference.posterior.diagnostics import diagnose, profiles
from ..inference.posterior.posterior import posterior_draws, rows_of
from ..layouts.elements import Element, elements, find_elements
from ..linking import units
from .superiority import Ranked, gathered, quantiles_of_difference

_SEED = 20231  # seed of the order of the draws that are ranked together


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
    <ProfileComparison: 1 pair of subjects, 4 profile elements, 90% intervals>
    >>> ranking = comparison.ranking("navigationAbility")
    >>> float(ranking["rank"].sum()), round(float(ranking["best"].sum()), 6)
    (3.0, 1.0)
    """

    table: pd.DataFrame
    prob: float
    fit: Fit
    other: "Fit | None" = None

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
        found = find_elements(self.fit.layout, element)
        if len(found) > 1:
            raise FitError(
                f"{element} has a value per label; name one of {some(e.name for e in found)}"
            )
        (one,) = found
        chosen = (self.table["node"] == one.latent.name) & (self.table["label"] == one.label)
        return self.table[chosen].reset_index(drop=True)

    def ranking(self, element: str) -> pd.DataFrame:
        """Rank the subjects by one profile element.

        Draws of one subject are independent of another's, so ranks are computed in sets that
        combine one draw of each subject at random.

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
        (one,) = find_elements(self.fit.layout, element)
        draws = np.array([posterior_draws(self.fit, one, name) for name in self.subjects])
        mixed = np.random.default_rng(_SEED).permuted(draws, axis=1)
        ranks = (-mixed).argsort(axis=0).argsort(axis=0) + 1
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
            f"{many(elements, 'profile element')}, {self.prob:.0%} intervals>"
        )


_MOST = 200_000  # most rows of a table; one row takes about a tenth of a millisecond


def compare_profiles(
    fit: Fit,
    subjects: Iterable[object] | None = None,
    *,
    reference: object | None = None,
    other: "Fit | None" = None,
    prob: float = 0.9,
) -> ProfileComparison:
    r"""Compare subjects' profiles, element by element.

    Each subject is fitted separately, so their posteriors are independent: the mean of a difference
    is the difference of the means, and its variance is the sum of the variances. Intervals and the
    probability of superiority are computed over all pairs of a draw of one subject and a draw of
    the other, and do not depend on the order of the draws.

    .. math:: \Pr(a > b) = \frac{1}{n m} \sum_{i,j} \left[1(a_i > b_j)
        + \tfrac{1}{2} 1(a_i = b_j)\right]

    Posteriors are independent given the outcomes. If two subjects share something that the layout
    does not model, their errors depend on each other, and differences are more, or less, certain
    than stated. Examples are an `Unseen` property of the same items, votes of the same people, and
    the same outcomes in two fits (such as before and after adding items). Where a noise pulls
    towards the subject's own mean failure, equal noises pull subjects of unequal success to
    different levels; pass ``toward=`` a number to make noises comparable.

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

    References
    ----------
    Mann and Whitney (1947) and DeLong et al. (1988); see `superiority.superiority`.

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
    known = elements(fit.layout)
    if len(whose) * len(known) > _MOST:
        raise FitError(
            f"{len(whose):,} pairs of subjects with {len(known)} profile elements are more than "
            f"{_MOST:,} rows; name some subjects=, or one reference= to compare all with"
        )
    left = _Side.of(fit, list(dict.fromkeys(whose)))
    right = _Side.of(fit if other is None else other, list(dict.fromkeys(against)))
    parts = side_by_side(_compared, [(left, right, whose, against, one, prob) for one in known])
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
        {element.name: units.name(element.latent.unit) for element in elements(one.layout)}
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
        return cls(fit, who, profiles(fit, subjects=who), diagnose(fit, who)["status"])

    def rows(self, element: Element) -> pd.DataFrame:
        return rows_of(self.table, element, self.who)

    def ordered(self, element: Element) -> np.ndarray:
        """Sort draws in ascending order; shape (subjects, draws)."""
        values = self.fit.posterior[element.latent.name][self.fit.places(self.who)].to_numpy()
        draws = values.reshape(len(values), values.shape[1] * values.shape[2], -1)
        return np.sort(draws[..., element.index], axis=1)

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


def _compared(
    left: _Side, right: _Side, whose: list[str], against: list[str], element: Element, prob: float
) -> pd.DataFrame:
    """Compare one profile element in all pairs."""
    ours, theirs = left.rows(element), right.rows(element)
    one, two = left.ordered(element), right.ordered(element)
    here = pd.Index(left.who).get_indexer(pd.Index(whose))
    there = pd.Index(right.who).get_indexer(pd.Index(against))
    ess, other_ess = (rows["ess_bulk"].to_numpy() for rows in (ours, theirs))
    probability, error = np.empty(len(here)), np.empty(len(here))
    ranked = Ranked.of(two)
    for row in np.unique(here):
        at = np.flatnonzero(here == row)
        found = ranked.superiority(one[row], there[at], ess[row], other_ess[there[at]])
        probability[at], error[at] = found
    tail = (1 - prob) / 2
    (means, weights), (other_means, other_weights) = gathered(one), gathered(two)
    low, high = quantiles_of_difference(
        (means[here], weights), (other_means[there], other_weights), np.array([tail, 1 - tail])
    ).T
    suffix = "" if left.fit is right.fit else " (other fit)"
    doubts, other_doubts = left.doubts(element, ""), right.doubts(element, suffix)
    mean, variance = ours["mean"].to_numpy(), ours["sd"].to_numpy() ** 2
    other_mean, other_variance = theirs["mean"].to_numpy(), theirs["sd"].to_numpy() ** 2
    own = np.stack([variance / ess, *(ours[f"{end}_error"] ** 2 for end in ("low", "high"))])
    others = np.stack(
        [other_variance / other_ess, *(theirs[f"{end}_error"] ** 2 for end in ("high", "low"))]
    )
    errors = np.sqrt(own[:, here] + others[:, there])
    return pd.DataFrame(
        {
            "subject": whose,
            "reference": against,
            "node": element.latent.name,
            "label": element.label,
            "difference": mean[here] - other_mean[there],
            "sd": np.sqrt(variance[here] + other_variance[there]),
            "low": low,
            "high": high,
            "difference_error": errors[0],
            "low_error": errors[1],
            "high_error": errors[2],
            "superiority": probability,
            "superiority_error": error,
            "unit": units.name(element.latent.unit),
            "warning": [
                "; ".join(filter(None, (doubts[a], other_doubts[b])))
                for a, b in zip(whose, against, strict=True)
            ],
        }
    )
