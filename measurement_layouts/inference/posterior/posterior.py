"""The subjects' posteriors, in memory or on disk, and the draws of single elements."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import many, some
from ...evaluations.cells import Cells
from ...evaluations.steps import Rows
from ...evaluations.tables import refuse_repeats, texts
from ...layouts import Latent, Layout
from ...layouts.elements import Element, elements
from ...layouts.plates import ITEM, SUBJECT, plate_name
from ..sampling.convergence import by_element

FAULTS = "faults"  # attribute of a fit without NUTS chains: faults of its draws
GROUPS = ("posterior", "sample_stats", "prior", "observed_data", "constant_data")
"""Groups of the tree of arrays, with ArviZ's names."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of all subjects under one layout, with the data that they were fitted to.

    `Fit` is a subclass, whose methods call the functions that take a posterior.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    data : xarray.DataTree
        Groups ``posterior`` (chain, draw, subject or other plates, labels), ``sample_stats``
        (chain, draw, and subject if each was fitted alone), ``prior``,
        ``observed_data`` (successes and trials by attempted cell, with its subject and item) and
        ``constant_data`` (meta-features per item, constants per subject). ArviZ reads it. The
        draws of a fit in a store are read from the disk on each access and are not kept in memory.
    failures : dict of str to str
        Subjects whose sampling failed, each with the reason.
    attempts : dict of str to int
        Number of times that a subject was sampled, for subjects that were sampled more than once.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> draws = {"p": (("chain", "draw", "subject"), np.full((2, 50, 1), 0.5))}
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
        """Convert from another class, such as from `Posterior` to `Fit`; nothing is copied."""
        return cls(posterior.layout, posterior.data, posterior.failures, posterior.attempts)

    @cached_property
    def _places(self) -> pd.Index:
        return self.posterior.indexes["subject"].astype("str")

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Results of functions of the draws, kept so that they are not computed again."""
        return {}

    def once[T](self, name: str, compute: Callable[[], T]) -> T:
        """Compute a function of the draws once, and keep its result."""
        if name not in self.kept:
            self.kept[name] = compute()
        result: T = self.kept[name]
        return result

    @property
    def subjects(self) -> list[str]:
        """Names of the fitted subjects."""
        return list(self._places)

    @property
    def posterior(self) -> xr.Dataset:
        """Draws of every latent, (chain, draw, plates, labels)."""
        return self.data["posterior"].to_dataset()

    @cached_property
    def levels(self) -> dict[str, list[str]]:
        """Names of the levels of each plate, in the order of the draws."""
        indexes = self.posterior.indexes
        return {name: list(map(str, indexes[name])) for name in map(plate_name, self.layout.plates)}

    @cached_property
    def elements(self) -> list[Element]:
        """Elements of each subject's profile, in the order of its tables."""
        return elements(self.layout, self.levels)

    @cached_property
    def shared(self) -> list[Latent]:
        """Latents that are no part of a profile: shared by subjects, or of a subject and item."""
        return [latent for latent in self.layout.latents if latent not in self.layout.profile]

    @cached_property
    def prior(self) -> dict[str, np.ndarray]:
        """Prior draws of every profile element; the first axis is that of the draws."""
        group = self.data["prior"]
        return {latent.name: group[latent.name].to_numpy()[0] for latent in self.layout.latents}

    @property
    def observed(self) -> xr.Dataset:
        """Training successes and trials of the attempted cells."""
        return self.data["observed_data"].to_dataset()

    @cached_property
    def item_names(self) -> pd.Index:
        """Names of the training items, or of their steps."""
        return self.constants.indexes["item"].map(str)

    @cached_property
    def coded(self) -> Cells:
        """Training successes and trials of the attempted cells, by positions."""
        observed, indexes = self.observed, (self._places, self.item_names)
        codes = [
            index.get_indexer(pd.Index(observed[name].to_numpy(), dtype="str"))
            for name, index in zip(("subject", "item"), indexes, strict=True)
        ]
        arrays = (*codes, *(observed[name].to_numpy() for name in ("successes", "trials")))
        fitted = np.min(codes, axis=0) >= 0  # a tree may hold fewer subjects than were fitted
        shape = len(indexes[0]), len(indexes[1])
        return Cells.of(*(values[fitted] for values in arrays), shape=shape)

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
            The same names, as strings.

        Raises
        ------
        FitError
            When a subject was not fitted; the reason is given if sampling failed. Also when
            `subjects` is a table.
        DataError
            When a subject is named twice.
        """
        if isinstance(subjects, pd.DataFrame):
            raise FitError(
                f"subjects= is a table of {len(subjects)} subject(s), but here it must be names of "
                f"subjects in the fit; only forecast and derive of a joint fit take new subjects: "
                f"name some of {some(self.subjects)}, or fit a joint layout"
            )
        names = (
            [subjects] if isinstance(subjects, str) else texts(subjects, "the subjects asked for")
        )
        unknown = [
            f"{name} ({self.failures[name]})" if name in self.failures else name
            for name in names
            if name not in self._places
        ]
        if unknown:
            raise FitError(f"not in this fit: {some(unknown)}; it has {some(self.subjects)}")
        refuse_repeats(names, "subject", "the subjects asked for")
        return names

    def places(self, subjects: Iterable[object] | None = None) -> np.ndarray:
        """Return the rows of subjects in the fit's arrays (default: all), checked by `named`."""
        if subjects is None:
            return np.arange(len(self._places))
        return np.asarray(self._places.get_indexer(pd.Index(self.named(subjects), dtype="str")))

    def names(self, rows: np.ndarray) -> list[str]:
        """Return the names of the subjects in some rows of the fit's arrays."""
        return list(self._places[rows])

    def __repr__(self) -> str:
        sizes = self.posterior.sizes
        return (
            f"<{type(self).__name__} of {self.layout.name!r}: {many(sizes['subject'], 'subject')}, "
            f"{many(sizes['chain'], 'chain')} of {many(sizes['draw'], 'draw')}, "
            f"{len(self.failures)} failed>"
        )


def observed_data(cells: Cells, subjects: Sequence[str], items: Sequence[str]) -> xr.Dataset:
    """Write attempted cells as a fit's ``observed_data``, with the names of subject and item."""
    names = {
        SUBJECT: np.array(subjects, dtype=object)[cells.subject],
        ITEM: np.array(items, dtype=object)[cells.item],
    }
    return xr.Dataset(
        {"successes": ("cell", cells.successes), "trials": ("cell", cells.trials)},
        # without fastpath, xarray copies the text of every cell
        {name: xr.Variable("cell", texts, fastpath=True) for name, texts in names.items()},
    )


def sampled_dims(latent: Latent) -> tuple[str, ...]:
    """Return the dimensions of a latent's draws, in ArviZ's order."""
    return ("chain", "draw", *map(plate_name, latent.plates), *latent.label_dims)


_PRIOR_VIEW = 0.99  # central mass of the prior that replaces an infinite range


def posterior_draws(fit: Posterior, element: Element, subject: str) -> np.ndarray:
    """Return draws of one element of one subject, chains joined; shape (chains times draws,)."""
    draws = fit.posterior[element.latent.name].sel(subject=subject).to_numpy()
    return np.asarray(draws.reshape(*draws.shape[:2], -1)[..., element.index].ravel())


def draws_of(fit: Posterior, latent: Latent, rows: np.ndarray | None = None) -> np.ndarray:
    """Arrange a latent's draws as (subjects, elements, chains, draws).

    `rows` are positions of subjects (default: all). A latent that is no part of a profile has one
    row with all its values.
    """
    variable: Any = fit.posterior.variables[latent.name].transpose(*sampled_dims(latent))
    if latent not in fit.layout.profile:
        values = variable.to_numpy()[None]
    else:
        variable = variable if rows is None else variable.isel(subject=rows)
        values = np.moveaxis(variable.to_numpy(), variable.dims.index(SUBJECT), 0)
    return np.ascontiguousarray(by_element(values))


def statistic_of(fit: Posterior, name: str, rows: np.ndarray | None = None) -> np.ndarray:
    """Read a sampler statistic of some subjects, (subjects, chains, draws).

    `rows` are positions of subjects (default: all). A joint fit has one row.
    """
    variable: Any = fit.data["sample_stats"].variables[name]
    if SUBJECT not in variable.dims:
        return np.asarray(variable.transpose("chain", "draw").to_numpy()[None])
    variable = variable if rows is None else variable.isel(subject=rows)
    return np.moveaxis(variable.transpose("chain", "draw", SUBJECT).to_numpy(), -1, 0)


def prior_draws(fit: Posterior, element: Element) -> np.ndarray:
    """Return prior draws of one element; shape (draws,)."""
    draws = fit.prior[element.latent.name]
    return np.asarray(draws.reshape(len(draws), -1)[:, element.label_index])


def rows_of(table: pd.DataFrame, element: Element, subjects: Sequence[str]) -> pd.DataFrame:
    """Return one element's rows of a table of profiles, indexed by subject in the given order."""
    chosen = (table["node"] == element.latent.name) & (table["label"] == element.label)
    return table[chosen].set_index("subject").loc[list(subjects)]


def span(fit: Posterior, element: Element) -> tuple[float, float]:
    """Return the range over which to show an element.

    Returns
    -------
    (float, float)
        The node's range; an infinite end is replaced by that of the prior's central 99 %.
    """
    tail = (1 - _PRIOR_VIEW) / 2
    low, high = np.quantile(prior_draws(fit, element), [tail, 1 - tail])
    support = element.latent.range
    return (
        float(support.low if np.isfinite(support.low) else low),
        float(support.high if np.isfinite(support.high) else high),
    )


def success_rates(fit: Posterior, rows: np.ndarray | None = None) -> pd.Series:
    """Return the mean success of fitted subjects over their training trials, in [0, 1].

    Where rows are steps, it is the mean outcome of all attempts as a part of the highest outcome.
    `rows` are the subjects' positions in the fit (default: all).
    """
    places = np.arange(len(fit.subjects)) if rows is None else rows
    cells = fit.coded if rows is None else fit.coded.select(rows)
    rates = cells.rates if fit.layout.steps is None else Rows.read(fit.item_names).means(cells)
    return pd.Series(rates, pd.Index(fit.names(places), name="subject"), name="success")


def some_draws(fit: Posterior, most: int) -> np.ndarray:
    """Return positions of evenly spaced draws among those of all chains, at most `most` of them."""
    sizes = fit.posterior.sizes
    count = sizes["chain"] * sizes["draw"]
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def stacked(fit: Posterior, latent: Latent, draws: np.ndarray) -> np.ndarray:
    """Read some draws of a latent; shape (draws, *plates, *labels)."""
    array = fit.posterior[latent.name].transpose(*sampled_dims(latent))
    return np.asarray(array.to_numpy().reshape(-1, *array.shape[2:])[draws])
