"""A fit: the posteriors of all subjects, with summaries, forecasts and explanations."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..common.messages import many
from ..common.showing import Overview, Shown
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_evaluation
from ..layouts import Layout
from ..linking import LinkingFunction
from .explanations.explaining import explain
from .files import storage
from .forecasts.derive import correlation, derive
from .forecasts.forecasting import forecast
from .forecasts.likelihood import with_log_likelihood
from .population import tables
from .population.item_information import raw_scores, reliability
from .population.newcomer import newcomer
from .posterior.diagnostics import diagnose, profiles, remedies, verdicts
from .posterior.posterior import Posterior

_NAMED = 3  # subjects that did not converge, in the overview
_DIAGNOSED = 200  # the repr reads draws for diagnostics of at most this many subjects


class Fit(Posterior, Shown):
    """Posteriors of all subjects under one layout.

    Fits are made by `fit` and `load`. Methods are functions of this library, whose first argument
    is the fit: `diagnostics.profiles`, `diagnostics.diagnose`, `tables.items`, `tables.population`,
    `item_information.reliability`, `item_information.raw_scores`,
    `forecasting.forecast`, `explaining.explain`, `derive.derive`, `derive.correlation`,
    `likelihood.with_log_likelihood` and `storage.save`.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    data : xarray.DataTree
        Groups ``posterior`` (chain, draw, subject or other plates, labels), ``sample_stats``
        (chain, draw, and subject if each was fitted alone), ``prior``, ``observed_data`` (successes
        and trials by attempted cell, with its subject and item) and ``constant_data``
        (meta-features per item, constants per subject). ArviZ takes it as it is: its labels, such
        as ``skill[Ann, read]``, are the subject and the names of `elements`. The draws of a fit in
        a store are read from the disk on each access and are not kept in memory.
    failures : dict of str to str
        Subjects whose sampling failed, each with the reason.
    attempts : dict of str to int
        Number of times that a subject was sampled, for subjects that were sampled more than once.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-02"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> result
    <Fit of 'animal-ai-olympics': 2 subjects, 2 chains of 100 draws, 0 failed>
    >>> len(result.profiles()), len(result.diagnostics())
    (8, 2)
    >>> result.forecast(aaio.battery(seed=2), subjects=["sim-02"])
    <Forecast: 1 subject, 69 items, 0 of them outside a declared range, 90% intervals>
    """

    def _overview(self) -> Overview:
        facts: dict[str, str] = {}
        tables_shown: dict[str, pd.DataFrame] = {}
        if len(self.subjects) <= _DIAGNOSED:
            table = self.diagnostics()
            counts = verdicts(self)["status"].value_counts().items()
            facts["status"] = ", ".join(f"{count} {name}" for name, count in counts)
            tables_shown = {"diagnostics": table}
            if wrong := remedies(table, _NAMED, "fit.diagnostics()"):
                facts["not ok"] = "; ".join(wrong)
        if self.failures:
            facts["failed"] = f"{many(len(self.failures), 'subject')}, see fit.failures"
        calls = {
            "fit.diagnostics()": "convergence and data of every subject",
            "fit.profiles()": "means and intervals of every profile element",
            "fit.derive(expression)": "draws of any number that follows from the profiles",
            "fit.forecast(items)": "success probabilities on items, also on new ones",
            "ml.plots.profile_forest(fit)": "all profiles as a figure",
            'ml.report(fit, "report.html")': "results, data and method as one HTML page",
        }
        return Overview(facts, calls, tables_shown)

    profiles = profiles
    diagnostics = diagnose
    items = tables.items
    population = tables.population
    reliability = reliability
    raw_scores = raw_scores
    forecast = forecast
    explain = explain
    derive = derive
    correlation = correlation
    with_log_likelihood = with_log_likelihood
    save = storage.save

    def newcomer(self, evaluation: Evaluation, *, seed: int | None = None) -> "Fit":
        """Fit a new subject, given this joint fit; see `newcomer.newcomer`.

        Parameters
        ----------
        evaluation : Evaluation
            One subject's outcomes, on items of the fit (found by name) or on new items.
        seed : int, optional
            Seed of the draws (default: the seed of this fit).

        Returns
        -------
        Fit
            A fit of this subject alone, with 4 chains of 1,000 draws. It is close to the result of
            a joint fit of all subjects, unless the new subject changes the estimates of the
            others. In that case `diagnostics` gives the status ``not converged``.

        Raises
        ------
        DataError
            When the evaluation does not have exactly one subject, or the subject is in the fit
            already; when an item of the fit is given other properties, or a new item does not fit
            the layout.
        FitError
            When the fit is not joint, or a prior has no quantiles.
        """
        return type(self).of(newcomer(self, evaluation, seed))

    def newcomers(
        self, evaluation: Evaluation, *, prob: float = 0.9, seed: int | None = None
    ) -> pd.DataFrame:
        """Estimate several new subjects, each given this joint fit and apart from the others.

        Parameters
        ----------
        evaluation : Evaluation
            Outcomes of the new subjects.
        prob : float, default 0.9
            Mass of the intervals.
        seed : int, optional
            Seed of the draws (default: the seed of this fit).

        Returns
        -------
        DataFrame
            The `profiles` of the fits that `newcomer` returns, with the ``status`` of each.

        Raises
        ------
        DataError, FitError
            As in `newcomer`.
        """
        refuse_no_evaluation(evaluation)
        tables = []
        for subject in evaluation.subjects:
            alone = self.newcomer(evaluation.select(subjects=[subject]), seed=seed)
            status = alone.diagnostics()["status"].item()
            tables.append(alone.profiles(prob=prob).assign(status=status))
        return pd.concat(tables, ignore_index=True)


def load(
    path: str | Path,
    *,
    layout: Layout | None = None,
    functions: Sequence[LinkingFunction] = (),
) -> Fit:
    """Read a fit from the file that `save` wrote, or open the one in a store.

    Parameters
    ----------
    path : str or Path
        The file, or the folder of a store. Of a store, the finished subjects are read, also while
        a fit still writes to it; their draws stay on the disk and are read on each access. A joint
        fit is read if all its chains are finished, into memory.
    layout : Layout, optional
        The layout that was fitted, to check the file against; it also provides custom linking
        functions.
    functions : sequence of LinkingFunction, optional
        Custom linking functions of the layout, needed if `layout` is not given.

    Returns
    -------
    Fit
        Equal to the saved one.

    Raises
    ------
    FitError
        When `path` is no path, or the file or store does not exist, does not contain a fit, is
        damaged, or is a fit of another layout.

    Examples
    --------
    >>> load("nowhere.nc")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.FitError: there is no file or store nowhere.nc
    """
    return Fit.of(storage.read(path, layout=layout, functions=functions))
