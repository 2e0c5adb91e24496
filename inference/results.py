"""What a fit is: every subject's posterior, and the questions one asks of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from ..layouts import Layout
from .errors import FitError
from .tables import refuse_repeats, texts
from .wording import many, some

if TYPE_CHECKING:
    from .forecasts.forecasting import Forecast

GROUPS = ("posterior", "sample_stats", "prior", "observed_data", "constant_data")


@dataclass(frozen=True, eq=False)
class Fit:
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
        from the disk whenever they are asked for, and not kept.
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

    layout: Layout
    data: xr.DataTree
    failures: Mapping[str, str]
    attempts: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def _places(self) -> pd.Index:
        return pd.Index(list(map(str, self.posterior["subject"].to_numpy())), dtype="str")

    @property
    def subjects(self) -> list[str]:
        """Names of the fitted subjects."""
        return list(self._places)

    @property
    def posterior(self) -> xr.Dataset:
        """Draws of every profile element, (subject, chain, draw, labels)."""
        return self.data["posterior"].to_dataset()

    @cached_property
    def prior(self) -> dict[str, np.ndarray]:
        """Draws of every profile element before the data, first axis draws."""
        group = self.data["prior"]
        return {latent.name: group[latent.name].to_numpy()[0] for latent in self.layout.latents}

    @property
    def observed(self) -> xr.Dataset:
        """Training successes and trials, by subject and item."""
        return self.data["observed_data"].to_dataset()

    @property
    def constants(self) -> xr.Dataset:
        """Training meta-features by item, and the subjects' constants."""
        return self.data["constant_data"].to_dataset()

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
        from .diagnostics import profiles

        return profiles(self, prob)

    def diagnostics(self) -> pd.DataFrame:
        """Judge every subject's sampling and data; see `diagnostics.diagnose`.

        Returns
        -------
        DataFrame
            Indexed by subject, failed ones last: ``status``, ``success``, ``divergences``,
            ``rhat``, ``ess``, ``attempts``, ``prior_dominated`` and ``reason``.
        """
        from .diagnostics import diagnose

        return diagnose(self)

    def forecast(
        self,
        items: pd.DataFrame,
        *,
        subjects: Iterable[object] | None = None,
        prob: float = 0.9,
        memory_mib: float = 256,
    ) -> "Forecast":
        """Forecast success on items, run or not; see `forecasting.forecast`.

        Parameters
        ----------
        items : DataFrame
            Meta-features, indexed by item.
        subjects : iterable, optional
            Whose success; everybody's by default.
        prob : float, default 0.9
            Mass of the equal-tailed interval.
        memory_mib : float, default 256
            Bound of the memory used on the way, in MiB; it changes no result.

        Returns
        -------
        Forecast
            Means and intervals of the success probability, in [0, 1].

        Raises
        ------
        DataError
            When the items do not fit the layout.
        FitError
            When a subject is not in the fit, `prob` is not between 0 and 1, or `memory_mib` is no
            positive number.
        """
        from .forecasts.forecasting import forecast

        return forecast(self, items, subjects=subjects, prob=prob, memory_mib=memory_mib)

    def derived(
        self,
        items: pd.DataFrame,
        nodes: str | Iterable[str] | None = None,
        *,
        subjects: Iterable[object] | None = None,
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
        from .forecasts.derived import derived

        return derived(self, items, nodes, subjects=subjects, prob=prob, memory_mib=memory_mib)

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
        from .stores.storage import save

        return save(self, path, overwrite=overwrite)

    def named(self, subjects: Iterable[object]) -> list[str]:
        """Check names of subjects against the fit.

        Parameters
        ----------
        subjects : iterable
            Names.

        Returns
        -------
        list of str
            The same names, as texts.

        Raises
        ------
        FitError
            When one was not fitted; the reason is given where sampling failed.
        DataError
            When one is named twice.
        """
        names = (
            [subjects] if isinstance(subjects, str) else texts(subjects, "the subjects asked for")
        )
        unknown = [
            f"{name} ({self.failures[name]})" if name in self.failures else name
            for name in names
            if name not in self._places
        ]
        if unknown:
            raise FitError(f"not in this fit: {some(unknown)}; it holds {some(self.subjects)}")
        refuse_repeats(names, "subject", "the subjects asked for")
        return names

    def places(self, subjects: Iterable[object] | None = None) -> np.ndarray:
        """Find rows of subjects, which `named` checks, in the fit's arrays; all by default."""
        if subjects is None:
            return np.arange(len(self._places))
        return np.asarray(self._places.get_indexer(pd.Index(self.named(subjects), dtype="str")))

    def __repr__(self) -> str:
        sizes = self.posterior.sizes
        return (
            f"<Fit of {self.layout.name!r}: {many(sizes['subject'], 'subject')}, "
            f"{many(sizes['chain'], 'chain')} of {many(sizes['draw'], 'draw')}, "
            f"{len(self.failures)} failed>"
        )
