"""A fit: the posteriors of all subjects, with summaries, forecasts and explanations."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import xarray as xr

from ..common.messages import many
from ..common.showing import Overview, Shown
from ..evaluations.evaluation import Evaluation
from ..layouts import Layout
from ..linking import LinkingFunction
from .explanations.explaining import explain
from .explanations.explanation import Explanation
from .files import storage
from .forecasts.derived import derived
from .forecasts.forecasting import Forecast, forecast
from .forecasts.likelihood import with_log_likelihood
from .population import tables
from .population.group_means import Grouping, group_means
from .population.newcomer import newcomer
from .posterior.diagnostics import diagnose, profiles, remedies, verdicts
from .posterior.posterior import Posterior

_NAMED = 3  # subjects that did not converge, in the overview
_DIAGNOSED = 200  # the repr reads draws for diagnostics of at most this many subjects


class Fit(Posterior, Shown):
    """Posteriors of all subjects under one layout.

    Fits are made by `fit` and `load`.

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
        found: dict[str, pd.DataFrame] = {}
        if len(self.subjects) <= _DIAGNOSED:
            table = self.diagnostics()
            counts = verdicts(self)["status"].value_counts()
            facts["status"] = ", ".join(f"{count} {name}" for name, count in counts.items())
            found = {"diagnostics": table}
            if wrong := remedies(table, _NAMED, "fit.diagnostics()"):
                facts["not ok"] = "; ".join(wrong)
        if self.failures:
            facts["failed"] = f"{many(len(self.failures), 'subject')}, see fit.failures"
        calls = {
            "fit.diagnostics()": "convergence and data of every subject",
            "fit.profiles()": "means and intervals of every profile element",
            "fit.forecast(items)": "success probabilities on items, also on new ones",
            "ml.plots.profile_forest(fit)": "all profiles as a figure",
            'ml.report(fit, "report.html")': "results, data and method as one HTML page",
        }
        return Overview(facts, calls, found)

    def profiles(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise every profile element of every subject; see `diagnostics.profiles`.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the equal-tailed interval.

        Returns
        -------
        DataFrame
            One row per subject, node and label, in the nodes' units: ``mean``, ``sd``, ``low``,
            ``high``, ``low_error``, ``high_error``, ``ess_bulk``, ``ess_tail``, ``rhat``,
            ``shrinkage``, ``prior_dominated``, ``modes`` (if the posterior has separate modes).

        Raises
        ------
        FitError
            When `prob` is not between 0 and 1.
        """
        return profiles(self, prob)

    def items(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise the item effects of a joint fit; see `population.tables.items`.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the equal-tailed intervals.

        Returns
        -------
        DataFrame
            One row per node, level and label: ``node``, ``label``, a column for each plate,
            ``mean``, ``sd``, ``low``, ``high``, ``ess_bulk``, ``ess_tail``, ``rhat``, ``trials``
            and ``subjects``.

        Raises
        ------
        FitError
            When each subject was fitted alone, or `prob` is not between 0 and 1.
        """
        return tables.items(self, prob)

    def population(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise the values that subjects share in a joint fit; see `tables.population`.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the equal-tailed intervals.

        Returns
        -------
        DataFrame
            One row per node, level and label: ``node``, ``label``, ``level``, ``mean``, ``sd``,
            ``low``, ``high``, ``ess_bulk``, ``ess_tail``, ``rhat`` and ``shrinkage``.

        Raises
        ------
        FitError
            When each subject was fitted alone, or `prob` is not between 0 and 1.
        """
        return tables.population(self, prob)

    def diagnostics(self) -> pd.DataFrame:
        """Judge every subject's sampling and data, or a joint fit; see `diagnostics.diagnose`.

        Returns
        -------
        DataFrame
            Indexed by subject, failed ones last; of a joint fit, one row, ``all subjects``, with
            their names in the column ``subjects``: ``status``, ``success``, ``divergences``,
            ``rhat``, ``ess``, ``attempts``, ``prior_dominated`` and ``reason``.
        """
        return diagnose(self)

    def forecast(
        self,
        items: pd.DataFrame,
        *,
        subjects: Iterable[object] | pd.DataFrame | None = None,
        prob: float = 0.9,
        memory_mib: float = 256,
    ) -> Forecast:
        """Forecast success on items of the fit or new items; see `forecasting.forecast`.

        A joint fit also forecasts new subjects, and marks for each cell whether the subject, the
        item and the levels are in the fit.

        Parameters
        ----------
        items : DataFrame
            Meta-features and categories, indexed by item.
        subjects : iterable or DataFrame, optional
            Subjects to forecast (default: all). With a joint fit also a table of subjects, in
            the fit or new, with their covariates and categories.
        prob : float, default 0.9
            Mass of the equal-tailed interval.
        memory_mib : float, default 256
            Bound of the memory used during the computation, in MiB. It changes no result.

        Returns
        -------
        Forecast
            Means and intervals of the success probability, in [0, 1].

        Raises
        ------
        DataError
            When the items do not fit the layout.
        FitError
            When a subject is not in the fit, `prob` is not between 0 and 1, or `memory_mib` is not
            a positive number.
        """
        return forecast(self, items, subjects=subjects, prob=prob, memory_mib=memory_mib)

    def group_means(
        self,
        items: pd.DataFrame,
        groups: Grouping,
        *,
        subjects: Iterable[object] | pd.DataFrame | None = None,
        prob: float = 0.9,
        memory_mib: float = 256,
    ) -> pd.DataFrame:
        """Forecast each subject's mean success on groups of items; see `group_means.group_means`.

        Parameters
        ----------
        items, subjects, prob, memory_mib
            As in `forecast`.
        groups : str, Series or mapping
            A column of the items, or the group of each item by the item's name.

        Returns
        -------
        DataFrame
            One row per subject and group: ``subject``, ``group``, ``items``, and ``mean``,
            ``low`` and ``high`` of the mean success probability.

        Raises
        ------
        DataError
            When the items do not fit the layout, an item has no group, or the outcomes have
            several steps.
        FitError
            In the same cases as `forecast`.
        """
        return group_means(
            self,
            items,
            groups,
            subjects=subjects,
            prob=prob,
            memory_mib=memory_mib,
        )

    def explain(
        self,
        item: object,
        subject: object = None,
        *,
        changes: Mapping[str, float] | None = None,
        instead: Mapping[str, float] | None = None,
        neighbours: int = 5,
        prob: float = 0.9,
        memory_mib: float = 256,
    ) -> Explanation:
        """Explain the forecast of one subject on one item; see `explaining.explain`.

        Parameters
        ----------
        item : str, DataFrame, Series or mapping
            Name of an item of the fit, or the properties of any item as a table of one row.
        subject : str, optional
            Name of the subject; may be left out if the fit has only one. With a joint fit also a
            table of one row with the covariates and categories of a new subject.
        changes : mapping of str to float, optional
            What-if changes: an amount to add to a demand (by its column) or to an element of the
            profile, in its unit.
        instead : mapping of str to float, optional
            What-if changes that set a demand, by its column, to another value.
        neighbours : int, default 5
            Number of nearest training items to list, among those that the subject attempted.
        prob, memory_mib
            As in `forecast`.

        Returns
        -------
        Explanation
            Derived nodes with the probability that each fails, success after the changes, and the
            nearest training items, as tables; in words when printed.

        Raises
        ------
        DataError
            When the item does not fit the layout, or does not permit a change.
        FitError
            When the layout has several outcomes, graded outcomes or scores; when a name is not in
            the fit; or when an option is out of range.
        """
        return explain(
            self,
            item,
            subject,
            changes=changes,
            instead=instead,
            neighbours=neighbours,
            prob=prob,
            memory_mib=memory_mib,
        )

    def derived(
        self,
        items: pd.DataFrame,
        nodes: str | Iterable[str] | None = None,
        *,
        subjects: Iterable[object] | pd.DataFrame | None = None,
        prob: float = 0.9,
        memory_mib: float = 256,
    ) -> xr.Dataset:
        """Compute the layout's derived nodes on items, also new ones; see `derived.derived`.

        Parameters
        ----------
        items, subjects, prob, memory_mib
            As in `forecast`.
        nodes : str or iterable of str, optional
            Names of derived nodes or outcomes (default: all).

        Returns
        -------
        Dataset
            One variable per node, in its unit, with the dimensions (subject, item, the node's
            labels, ``summary``).

        Raises
        ------
        DataError, FitError
            In the same cases as `forecast`, and when a name in `nodes` is neither a derived node
            nor an outcome of the layout.
        """
        return derived(self, items, nodes, subjects=subjects, prob=prob, memory_mib=memory_mib)

    def with_log_likelihood(
        self,
        evaluation: Evaluation | None = None,
        *,
        subjects: Iterable[object] | None = None,
    ) -> xr.DataTree:
        """Add every item's log-likelihood for ArviZ; see `likelihood.with_log_likelihood`.

        A joint fit has one posterior. ArviZ accepts it as a whole if every subject attempted every
        item; `measurement_layouts.validation.loo` omits cells that were not attempted. Otherwise
        each subject has its own posterior, and ArviZ's comparisons take one subject at a time:
        ``arviz_stats.loo(fit.with_log_likelihood(subjects=["Ann"]).isel(subject=0))``. For all
        subjects, `measurement_layouts.validation.loo` needs little memory.

        Parameters
        ----------
        evaluation : Evaluation, optional
            Outcomes to evaluate, such as those of held-out items (default: those of the fit).
            Subject constants are those of the fit in any case.
        subjects : iterable, optional
            Subjects (default: all that have outcomes).

        Returns
        -------
        xarray.DataTree
            The groups of `data` for these subjects, and ``log_likelihood``, in nats: a variable
            named after the outcome, (chain, draw, subject, item), NaN where a subject did not
            attempt an item. Items that no subject attempted are left out. An item's value is the
            log-likelihood of all its trials. With several outcomes, graded outcomes or scores it is
            that of all of them together, and the variable is named ``outcomes``. With `evaluation`,
            ``observed_data`` has its outcomes and ``constant_data`` is left out.

        Raises
        ------
        DataError
            When `evaluation` is something else, does not fit the layout or lacks a subject, or one
            is named twice.
        FitError
            When a subject is not in the fit, or the fit is joint and an evaluation is given.

        Notes
        -----
        The group takes 8 bytes per draw, subject and item, which is 150 MB for 4,000 draws of 68
        subjects on 69 items. Each call computes it again and uses about 50 MiB more while it runs.
        The draws of a fit in a store are read one subject at a time and stay on the disk.
        """
        return with_log_likelihood(self, evaluation, subjects=subjects)

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

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit into one netCDF file; see `storage.save`.

        Parameters
        ----------
        path, overwrite
            As in `storage.save`.

        Returns
        -------
        Path
            Path of the written file.

        Raises
        ------
        FitError
            When the file exists and may not be replaced, or cannot be written.
        """
        return storage.save(self, path, overwrite=overwrite)


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
