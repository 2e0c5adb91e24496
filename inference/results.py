"""What a fit is: every subject's posterior, and the questions one asks of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from ..layouts import Layout
from ..linking import LinkingFunction
from .errors import FitError
from .tables import refuse_repeats
from .wording import many, some

if TYPE_CHECKING:
    from .forecasting import Forecast

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
        per item, constants per subject). ArviZ reads it.
    failures : dict of str to str
        Subjects whose sampling failed, and why.
    """

    layout: Layout
    data: xr.DataTree
    failures: Mapping[str, str]

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

    def profiles(self, prob: float = 0.9) -> pd.DataFrame:
        """Summarise every profile element of every subject; see `diagnostics.profiles`."""
        from .diagnostics import profiles

        return profiles(self, prob)

    def diagnostics(self) -> pd.DataFrame:
        """Judge every subject's sampling and data; see `diagnostics.diagnose`."""
        from .diagnostics import diagnose

        return diagnose(self)

    def forecast(
        self,
        items: pd.DataFrame,
        *,
        subjects: Iterable[object] | None = None,
        prob: float = 0.9,
    ) -> "Forecast":
        """Forecast success on items; see `forecasting.forecast`."""
        from .forecasting import forecast

        return forecast(self, items, subjects=subjects, prob=prob)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit into one netCDF file; see `storage.save`."""
        from .storage import save

        return save(self, path, overwrite=overwrite)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        layout: Layout | None = None,
        functions: Sequence[LinkingFunction] = (),
    ) -> "Fit":
        """Read a fit from its file; see `storage.load`."""
        from .storage import load

        return load(path, layout=layout, functions=functions)

    def select(self, subjects: Iterable[object]) -> list[str]:
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
        names = [subjects] if isinstance(subjects, str) else [str(name) for name in subjects]
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
        """Find subjects' rows in the fit's arrays; everybody's by default.

        Raises
        ------
        FitError, DataError
            As `select` does.
        """
        if subjects is None:
            return np.arange(len(self._places))
        return np.asarray(self._places.get_indexer(pd.Index(self.select(subjects), dtype="str")))

    def __repr__(self) -> str:
        sizes = self.posterior.sizes
        return (
            f"<Fit of {self.layout.name!r}: {many(sizes['subject'], 'subject')}, "
            f"{many(sizes['chain'], 'chain')} of {many(sizes['draw'], 'draw')}, "
            f"{len(self.failures)} failed>"
        )
