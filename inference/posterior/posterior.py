"""What subjects' posteriors consist of, in memory or on disk."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import many, some
from ...evaluations.tables import refuse_repeats, texts
from ...layouts import Layout

GROUPS = ("posterior", "sample_stats", "prior", "observed_data", "constant_data")
"""Of the tree of arrays, as ArviZ names them."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of all subjects under one layout, and what they were fitted to.

    A `Fit` is one, and has the functions that take one as its methods.

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
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> draws = {"p": (("subject", "chain", "draw"), np.full((1, 2, 50), 0.5))}
    >>> tree = xr.DataTree.from_dict({"posterior": xr.Dataset(draws, {"subject": ["Ann"]})})
    >>> found = Posterior(layout, tree, failures={"Bob": "no start"})
    >>> found
    <Posterior of 'coin': 1 subject, 2 chains of 50 draws, 1 failed>
    >>> found.places(["Ann"])
    array([0])
    """

    layout: Layout
    data: xr.DataTree
    failures: Mapping[str, str]
    attempts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, posterior: "Posterior") -> Self:
        """Take the parts of another one, such as a `Posterior` for a `Fit`; nothing is copied."""
        return cls(posterior.layout, posterior.data, posterior.failures, posterior.attempts)

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
            f"<{type(self).__name__} of {self.layout.name!r}: {many(sizes['subject'], 'subject')}, "
            f"{many(sizes['chain'], 'chain')} of {many(sizes['draw'], 'draw')}, "
            f"{len(self.failures)} failed>"
        )
