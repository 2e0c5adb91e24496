"""A fit: every subject's posterior, and what can be asked of it."""

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
from .forecasts.elsewhere import Trust
from .forecasts.forecasting import Forecast, forecast
from .forecasts.likelihood import with_log_likelihood
from .forecasts.streaming import derived
from .population import tables
from .population.forecasting import derived_jointly, forecast_jointly
from .population.group_means import Grouping, group_means
from .population.newcomer import newcomer
from .posterior.diagnostics import diagnose, profiles
from .posterior.posterior import Posterior

_DIAGNOSED = 200  # subjects whose draws are read to show a fit


class Fit(Posterior, Shown):
    """Posteriors of all subjects under one layout.

    Made by `fit` and `load`.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    data : xarray.DataTree
        Groups ``posterior`` and ``sample_stats`` (subject, chain, draw, labels), ``prior``,
        ``observed_data`` (successes and trials; subject, item) and ``constant_data`` (meta-features
        per item, constants per subject). ArviZ reads it. The draws of a fit in a store are read
        from the disk whenever they are asked for, and not kept. In a joint fit, values that
        subjects share are (chain, draw, levels of their plates, labels).
    failures : dict of str to str
        Subjects whose sampling failed, and why.
    attempts : dict of str to int
        How often subjects were sampled, where that is more than once.

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
        how = "how the sampling went"
        if len(self.subjects) <= _DIAGNOSED:
            table = self.diagnostics()
            counts = table["status"].value_counts()
            facts["status"] = ", ".join(f"{count} {name}" for name, count in counts.items())
            found = {"diagnostics": table}
            if "not converged" in counts:
                how = (
                    "why subjects did not converge; fit them again with more tune=, a higher "
                    'target_accept= or starts="modes"'
                )
        if self.failures:
            facts["failed"] = f"{many(len(self.failures), 'subject')}, see fit.failures"
        calls = {
            "fit.diagnostics()": how,
            "fit.profiles()": "means and intervals of every profile element",
            "fit.forecast(items)": "success on items that nobody has run",
            "ml.plots.profile_forest(fit)": "all profiles as a figure",
            'ml.report(fit, "report.html")': "a page for people who were not there",
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
            ``shrinkage``, ``prior_dominated``, ``modes`` (where there are separate ones).

        Raises
        ------
        FitError
            When `prob` is not between 0 and 1.
        """
        return profiles(self, prob)

    def items(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise what items have of their own in a joint fit; see `population.tables.items`.

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
        """Summarise what subjects share in a joint fit; see `population.tables.population`.

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
        """Judge every subject's sampling and data; see `diagnostics.diagnose`.

        Returns
        -------
        DataFrame
            Indexed by subject, failed ones last: ``status``, ``success``, ``divergences``,
            ``rhat``, ``ess``, ``attempts``, ``prior_dominated`` and ``reason``; of a fit that
            `update` made, also ``update``.
        """
        return diagnose(self)

    def forecast(
        self,
        items: pd.DataFrame,
        *,
        subjects: Iterable[object] | pd.DataFrame | None = None,
        prob: float = 0.9,
        memory_mib: float = 256,
        trust: Trust = None,
    ) -> Forecast:
        """Forecast success on items, run or not; see `forecasting.forecast`.

        A joint fit forecasts new subjects too, and says what of each cell it knows; see
        `population.forecasting.forecast_jointly`.

        Parameters
        ----------
        items : DataFrame
            Meta-features and categories, indexed by item.
        subjects : iterable or DataFrame, optional
            Subjects to forecast (default: all). Of a joint fit also a table of subjects, known
            or new, with their covariates and categories.
        prob : float, default 0.9
            Mass of the equal-tailed interval.
        memory_mib : float, default 256
            Bound of the memory used on the way, in MiB; it changes no result.
        trust : Transfer, float or "home", optional
            What is said of items unlike those that a subject was trained on: what
            `measurement_layouts.validation.transfer` estimates; the standard deviation of a
            group's offset, in log-odds; or "home", for nothing. By default items outside a
            subject's training items are widened by a stated prior.

        Returns
        -------
        Forecast
            Means and intervals of the success probability, in [0, 1].

        Raises
        ------
        DataError
            When the items do not fit the layout.
        FitError
            When a subject is not in the fit, `prob` is not between 0 and 1, `memory_mib` is no
            positive number, or `trust` is none of these.
        """
        found = forecast_jointly if self.layout.joint else forecast
        return found(self, items, subjects=subjects, prob=prob, memory_mib=memory_mib, trust=trust)

    def group_means(
        self,
        items: pd.DataFrame,
        groups: Grouping,
        *,
        subjects: Iterable[object] | pd.DataFrame | None = None,
        prob: float = 0.9,
        memory_mib: float = 256,
        trust: Trust = None,
    ) -> pd.DataFrame:
        """Forecast each subject's mean success on groups of items; see `group_means.group_means`.

        Parameters
        ----------
        items, subjects, prob, memory_mib, trust
            As in `forecast`.
        groups : str, Series or mapping
            A column of the items, or the group of each item, by its name.

        Returns
        -------
        DataFrame
            A row per subject and group: ``subject``, ``group``, ``items``, ``mean``, ``low`` and
            ``high`` of the mean chance of success.

        Raises
        ------
        DataError
            When the items do not fit the layout, one has no group, or outcomes are of several
            steps.
        FitError
            As `forecast` does.
        """
        return group_means(
            self,
            items,
            groups,
            subjects=subjects,
            prob=prob,
            memory_mib=memory_mib,
            trust=trust,
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
            Name of an item of the fit, or the properties of any item: a table of one row.
        subject : str, optional
            Whose forecast; can be left out where there is one subject.
        changes : mapping of str to float, optional
            What if: an amount to add, by demand or by element of the profile, in its unit.
        instead : mapping of str to float, optional
            What if, too: another value of a demand, by its column.
        neighbours : int, default 5
            How many of the nearest training items to list.
        prob, memory_mib
            As in `forecast`.

        Returns
        -------
        Explanation
            Parts that may fail, demands that limit, what-ifs and the nearest training items; in
            words when printed.

        Raises
        ------
        DataError
            When the item does not fit the layout, or cannot be changed so.
        FitError
            When outcomes are several, graded or scores, or a name is not in the fit.
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
        """Compute the layout's derived nodes on items, run or not; see `derived.derived`.

        Parameters
        ----------
        items, subjects, prob, memory_mib
            As in `forecast`.
        nodes : str or iterable of str, optional
            Names of derived nodes, or of outcomes; all of them by default.

        Returns
        -------
        Dataset
            A variable per node, in its unit: (subject, item, the node's labels, ``summary``).

        Raises
        ------
        DataError, FitError
            As `forecast` does, and when a node is none of the layout's derived ones.
        """
        if self.layout.joint:
            return derived_jointly(
                self, items, nodes, subjects=subjects, prob=prob, memory_mib=memory_mib
            )
        return derived(self, items, nodes, subjects=subjects, prob=prob, memory_mib=memory_mib)

    def with_log_likelihood(
        self,
        evaluation: Evaluation | None = None,
        *,
        subjects: Iterable[object] | None = None,
    ) -> xr.DataTree:
        """Add every item's log-likelihood for ArviZ; see `likelihood.with_log_likelihood`.

        A joint fit has one posterior, and ArviZ takes it as a whole where every cell was attempted;
        `measurement_layouts.validation.loo` leaves the others out. Otherwise each subject has a
        posterior of its own, so ArviZ's comparisons take one at a time:
        ``arviz_stats.loo(fit.with_log_likelihood(subjects=["Ann"]).isel(subject=0))``. For all
        subjects in little memory there is `measurement_layouts.validation.loo`.

        Parameters
        ----------
        evaluation : Evaluation, optional
            Whose outcomes, such as those of items held out; those fitted to by default. Subject
            constants stay those of the fit.
        subjects : iterable, optional
            Subjects (default: all that have outcomes).

        Returns
        -------
        xarray.DataTree
            The groups of `data` for these subjects, and ``log_likelihood``, in nats: a variable
            named as the outcome, (chain, draw, subject, item), NaN where a subject did not attempt
            an item; items nobody attempted are left out. An item has all its trials, and where
            outcomes are several, graded or scores, all of them: the variable is ``outcomes``. With
            `evaluation`, ``observed_data`` are its outcomes, and ``constant_data`` are left out.

        Raises
        ------
        DataError
            When the evaluation does not fit the layout or lacks a subject, or one is named twice.
        FitError
            When a subject is not in the fit, or the fit is joint and an evaluation is given.

        Notes
        -----
        The group takes 8 bytes per draw, subject and item, 150 MB for 4,000 draws of 68 subjects
        on 69 items, and is made anew by each call; some 50 MiB are used on the way. Draws of a fit
        in a store are read one subject at a time, and stay on the disk.
        """
        return with_log_likelihood(self, evaluation, subjects=subjects)

    def newcomer(self, evaluation: Evaluation, *, seed: int | None = None) -> "Fit":
        """Fit a subject that was not fitted, given this joint fit; see `newcomer.newcomer`.

        Parameters
        ----------
        evaluation : Evaluation
            One subject's outcomes, on items that the fit knows by name or on new ones.
        seed : int, optional
            Of the draws; that of this fit by default.

        Returns
        -------
        Fit
            Of this subject alone, 4 chains of 1,000 draws: close to the result of a joint fit of
            all. Where it is not, since the subject changes the estimates of the others,
            `diagnostics` gives the status ``not converged``.

        Raises
        ------
        DataError
            When there is not one subject, or it is in the fit already; when an item that the fit
            knows comes with other properties, or a new one does not fit the layout.
        FitError
            When nothing is shared in the fit, or a prior has no quantiles.
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
            The file.

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
        The file, or the store's folder. Of a store, whatever is finished is read, also while a fit
        goes on; its draws stay on the disk until they are asked for.
    layout : Layout, optional
        The layout it must be a fit of; its linking functions are then known.
    functions : sequence of LinkingFunction, optional
        Your own linking functions in it, where `layout` is not given.

    Returns
    -------
    Fit
        Equal to the saved one.

    Raises
    ------
    FitError
        When there is no such file or store, it is no fit, is damaged, or is the fit of another
        layout.

    Examples
    --------
    >>> load("nowhere.nc")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.FitError: there is no file or store nowhere.nc
    """
    return Fit.of(storage.read(path, layout=layout, functions=functions))
