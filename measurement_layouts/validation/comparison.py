"""Differences of subjects' profiles, draw by draw, and ranks of subjects."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import many, some
from ..common.options import inside
from ..common.seeds import subject_seed
from ..inference.fit import Fit
from ..inference.given import refuse_no_fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import draws_of, rows_of
from ..layouts.elements import Element, find_elements
from ..linking import units

_SEED = 20231  # seed of the order in which draws of subjects that were fitted apart are paired
APART = "fitted apart, so draws are paired at random"
_MOST = 200_000  # most rows of a table
_TOGETHER = 2**20  # differences of draws that are computed together


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
          ``sd`` and the ends ``low`` and ``high`` of the equal-tailed interval.
        - ``superiority``: probability that the subject's value is larger, in [0, 1];
          ``superiority_error``: its Monte Carlo standard error.
        - ``warning``: reason to read the row with care; empty where there is none.
    prob : float
        Mass of the intervals.
    fit : Fit
        Fit of the subjects.

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

    @property
    def joint(self) -> bool:
        """Whether all compared subjects share the draws of a joint fit."""
        return self.fit.layout.joint

    def rows(self, element: str) -> pd.DataFrame:
        """Take one profile element's rows of the table.

        Raises
        ------
        FitError
            When there is no such element, or it is a node of several labels.
        """
        one = self._element(element)
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
            When there is no such element.
        """
        compared = {*self.table["subject"], *self.table["reference"]}
        subjects = [name for name in self.fit.subjects if name in compared]
        draws = _draws(self.fit, self._element(element), subjects)
        ranks = (-draws).argsort(axis=0).argsort(axis=0) + 1
        tail = (1 - self.prob) / 2
        low, high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="inverted_cdf")
        columns = {
            "mean": draws.mean(axis=1),
            "rank": ranks.mean(axis=1),
            "low": low,
            "high": high,
            "best": (ranks == 1).mean(axis=1),
        }
        table = pd.DataFrame(columns, pd.Index(subjects, name="subject"))
        return table.sort_values("rank", kind="stable")

    def _element(self, name: str) -> Element:
        elements = find_elements(self.fit.elements, name)
        if len(elements) > 1:
            raise FitError(
                f"{name} has a value per label; name one of {some(one.name for one in elements)}"
            )
        return elements[0]

    def __repr__(self) -> str:
        pairs = len(self.table[["subject", "reference"]].drop_duplicates())
        elements = len(self.table[["node", "label"]].drop_duplicates())
        return (
            f"<ProfileComparison: {many(pairs, 'pair')} of subjects, "
            f"{many(elements, 'profile element')}, {self.prob:.0%} intervals"
            f"{'' if self.joint else f'; {APART}'}>"
        )


def compare_profiles(
    fit: Fit,
    subjects: Iterable[object] | None = None,
    *,
    reference: object | None = None,
    prob: float = 0.9,
) -> ProfileComparison:
    r"""Compare subjects' profiles, element by element.

    All numbers are those of the differences of n draws,

    .. math:: \delta_d = a_d - b_d, \qquad
        \Pr(a > b) = \frac{1}{n} \sum_d \left[1(\delta_d > 0) + \tfrac{1}{2} 1(\delta_d = 0)\right]

    In a joint fit, a and b are values of the same draw, since errors in what subjects share, such
    as the ease of items, are common to them. Subjects that were fitted apart have independent
    posteriors; their draws are paired at random, and the result says so. A subject before and after
    a change is two subjects of one evaluation.

    If two subjects that were fitted apart share something that the layout does not model, their
    errors depend on each other, and differences are more, or less, certain than stated. Examples
    are an `Unseen` property of the same items and votes of the same people. Where a noise pulls
    towards the subject's own mean failure, equal noises pull subjects of unequal success to
    different levels; pass ``toward=`` a number to make noises comparable.

    Parameters
    ----------
    fit : Fit
        The fit.
    subjects : iterable, optional
        Subjects (default: all).
    reference : object, optional
        Name of the subject that all others are compared with. By default every pair is compared
        once.
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
        two subjects to compare, `prob` is out of range, or there are more than 200,000 rows.
    DataError
        When a subject is named twice.

    Notes
    -----
    The Monte Carlo error of a probability follows from the smaller effective number of draws of the
    two subjects, n, and is at least 1 / n.

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
    subjects = fit.subjects if subjects is None else fit.named(subjects)
    if reference is None:
        pairs = pd.DataFrame(combinations(subjects, 2), columns=["subject", "reference"])
    else:
        (reference,) = fit.named([reference])
        compared = [name for name in subjects if name != reference]
        pairs = pd.DataFrame({"subject": compared, "reference": reference})
    if pairs.empty:
        raise FitError(
            f"comparing needs two subjects, and there is {some(subjects) or 'none'}; name another"
        )
    if len(pairs) * len(fit.elements) > _MOST:
        raise FitError(
            f"{len(pairs):,} pairs of subjects with {len(fit.elements)} profile elements are more "
            f"than {_MOST:,} rows; name some subjects=, or one reference= to compare all with"
        )
    names = list(dict.fromkeys([*subjects, *pairs["reference"]]))
    summaries = profiles(fit, subjects=names)
    summaries["not_converged"] = summaries["subject"].map(
        verdicts(fit, names)["status"] == "not converged"
    )
    parts = [_compared(fit, element, pairs, summaries, prob) for element in fit.elements]
    return ProfileComparison(
        pd.concat(parts).sort_index(kind="stable").reset_index(drop=True), prob, fit
    )


def _draws(fit: Fit, element: Element, subjects: Sequence[str]) -> np.ndarray:
    """Read draws, (subjects, draws); in random order where subjects were fitted apart."""
    draws = draws_of(fit, element.latent, fit.places(subjects))[:, element.index]
    draws = draws.reshape(len(draws), -1)
    if fit.layout.joint:
        return draws
    seeds = [subject_seed(_SEED, name) for name in subjects]
    pairs = zip(seeds, draws, strict=True)
    return np.stack([np.random.default_rng(seed).permutation(values) for seed, values in pairs])


_DOUBTS = {
    "not_converged": "not converged, see Fit.diagnostics",
    "prior_dominated": "prior-dominated",
    "modes": "separate modes",
}


def _compared(
    fit: Fit, element: Element, pairs: pd.DataFrame, summaries: pd.DataFrame, prob: float
) -> pd.DataFrame:
    """Compare one profile element in all pairs of subjects."""
    names = list(summaries["subject"].unique())
    rows = rows_of(summaries, element, names)
    here, there = (rows.index.get_indexer(pd.Index(pairs[side])) for side in pairs)
    draws = _draws(fit, element, names)
    numbers = np.empty((len(pairs), 5))
    step = max(1, _TOGETHER // draws.shape[1])
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        gaps = draws[here[block]] - draws[there[block]]
        larger = (np.mean(gaps > 0, axis=1) + np.mean(gaps >= 0, axis=1)) / 2
        ends = np.quantile(gaps, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
        numbers[block] = np.stack([gaps.mean(axis=1), gaps.std(axis=1, ddof=1), *ends, larger], 1)
    ess, larger = rows[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy(), numbers[:, -1]
    ess = np.minimum(ess[here], ess[there])
    doubts = [
        " and ".join(text for column, text in _DOUBTS.items() if row[column])
        for row in rows.to_dict("records")
    ]
    warnings = [f"{name}: {doubt}" * bool(doubt) for name, doubt in zip(names, doubts, strict=True)]
    columns = ["difference", "sd", "low", "high", "superiority"]
    table = pairs.assign(node=element.latent.name, label=element.label)
    return table.join(pd.DataFrame(numbers, columns=columns)).assign(
        superiority_error=np.maximum(np.sqrt(larger * (1 - larger) / ess), 1 / ess),
        unit=units.name(element.latent.unit),
        warning=[
            "; ".join(filter(None, (warnings[one], warnings[other])))
            for one, other in zip(here, there, strict=True)
        ],
    )
