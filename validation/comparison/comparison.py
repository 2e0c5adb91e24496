"""What comparing profiles found: a table of differences, and ranks on demand."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import many, some
from ...inference.fit import Fit
from ...inference.posterior.posterior import posterior_draws
from ...layouts.elements import find_elements

_SEED = 20231  # of the order of the draws that are ranked together


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
        - ``superiority``: probability that the subject's is larger, in [0, 1];
          ``superiority_error``: its Monte Carlo standard error.
        - ``warning``: why a row is to be read with care; empty where there is no reason.
    prob : float
        Mass of the intervals.
    fit : Fit
        Where the subjects are.
    other : Fit or None
        Where the references are, if in another fit.

    Examples
    --------
    >>> from measurement_layouts.validation.comparison.compare import compare_profiles
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
        """Everybody compared, references among them, in the fit's order."""
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

        Draws of one subject are independent of another's: ranks are counted in sets of one draw of
        each, put together at random.

        Parameters
        ----------
        element : str
            Node, or ``node[label]``.

        Returns
        -------
        DataFrame
            Indexed by subject, the first expected rank first: posterior ``mean``; expected ``rank``
            (1 is the largest value, which of a noise is the worst), ``low`` and ``high`` of its
            equal-tailed interval, and ``best``, the probability of rank 1.

        Raises
        ------
        FitError
            When there is no such element, or the subjects are of two fits.
        """
        self.rows(element)
        if self.other is not None:
            raise FitError(
                "ranks are of subjects of one fit, and these are of two; call compare_profiles "
                "without other="
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
