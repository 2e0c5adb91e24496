"""Expected information of a cohort about shared values and subjects' own, before its outcomes."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...evaluations.subject_data import EDGE
from ...inference.cells import CellEvaluator
from ...inference.model.cohort import Cohort, indices
from ...inference.model.families import LOCATION_SCALE
from ...inference.model.new_levels import at_all_levels, parameter_at, parents
from ...inference.model.prior import draw_prior
from ...layouts import Latent, Prior
from ...layouts.elements import Element
from ...linking import Expr
from ...linking.expression import Constant

_LOCATION_SCALE = LOCATION_SCALE | {"TruncatedNormal": ("mu", "sigma"), "LogNormal": ("", "")}
_STEP = 1e-4  # step of a numerical derivative, as a fraction of the prior sd
_FIRM = 1e6  # precision with which effects sum to zero, relative to that of their priors
_MATTERS = 1e-6  # change of log-odds per prior sd that is more than rounding error


@dataclass(frozen=True, kw_only=True)
class PlatedElement(Element):
    """Values of one label of a latent: a single one, or one for each level of its plates.

    Attributes
    ----------
    columns : ndarray of int
        Positions of its levels among all values.
    """

    columns: np.ndarray


def location_and_scale(prior: Prior) -> tuple[Expr, Expr] | None:
    """Return the location and the scale of a prior; None where values have another dependence.

    Examples
    --------
    >>> location_and_scale(Prior("Normal", mu=0, sigma=2))
    (<0>, <2>)
    >>> location_and_scale(Prior("Beta", alpha=1, beta=2)) is None
    True
    """
    location, scale = _LOCATION_SCALE.get(prior.family, ("", ""))
    parameters = dict(prior.parameters)
    if prior.zero_sum_axes:
        parameters["mu"] = Constant(0)
    if location not in parameters or scale not in parameters:
        return None
    return parameters[location], parameters[scale]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """All values of a cohort as one vector, with the dependence that outcomes and priors imply.

    Attributes
    ----------
    cohort : Cohort
        Layout, levels and attempts.
    """

    cohort: Cohort

    @cached_property
    def parts(self) -> list[PlatedElement]:
        """Every latent and label, with the positions of its levels."""
        found, start = [], 0
        for latent in self.cohort.layout.latents:
            labels = list(itertools.product(*latent.dims.values()))
            levels = int(np.prod(self.cohort.size(latent.plates), dtype=int))
            own = start + np.arange(levels * len(labels)).reshape(levels, len(labels))
            each = zip(labels, own.T, strict=True)
            found += [PlatedElement(latent, (), names, columns=columns) for names, columns in each]
            start += own.size
        return found

    @cached_property
    def of_latent(self) -> dict[str, list[PlatedElement]]:
        """Parts of each latent, one for each label."""
        found: dict[str, list[PlatedElement]] = {}
        for part in self.parts:
            found.setdefault(part.latent.name, []).append(part)
        return found

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self.parts[-1].columns[-1]) + 1

    @cached_property
    def prior_sd(self) -> np.ndarray:
        """Prior standard deviation of a single level of each part."""
        drawn = draw_prior(self.cohort.layout)
        return np.array(
            [
                drawn[p.latent.name].reshape(len(drawn[p.latent.name]), -1)[:, p.index].std(ddof=1)
                for p in self.parts
            ]
        )

    def levels(self, latent: Latent) -> np.ndarray:
        """Find the level of a latent's plates that each cell belongs to."""
        sizes = self.cohort.size(latent.plates)
        codes = [self.cohort.codes(plate) for plate in latent.plates]
        if not codes:
            return np.zeros(len(self.cohort.subject), dtype=int)
        return np.asarray(np.ravel_multi_index(codes, sizes))

    def slopes(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        r"""Take derivatives of each cell's success probability by each part at the cell's level.

        Returns
        -------
        ndarray, shape (cells, parts)
            :math:`\sqrt{n / (p (1 - p))}\, \partial p / \partial x`, by central differences.
        """
        draws = self._evaluator.draws_by_level({name: one[None] for name, one in values.items()})
        chance = self._evaluator.chances(draws)[:, 0].clip(EDGE, 1 - EDGE)
        slopes = np.empty((len(chance), len(self.parts)))
        for column, part in enumerate(self.parts):
            span, name, step = part.latent.range, part.latent.name, _STEP * self.prior_sd[column]
            moved = np.stack([values[name], values[name]])
            by_label = moved.reshape(2, -1, len(self.of_latent[name]))[..., part.label_index]
            by_label += np.array([[-step], [step]])
            np.clip(by_label, span.low, span.high, out=by_label)
            two = self._evaluator.chances(draws | self._evaluator.draws_by_level({name: moved}))
            width = np.diff(by_label, axis=0)[0, self.levels(part.latent)]
            slopes[:, column] = np.diff(two)[:, 0] / width
        weights = np.sqrt(self.cohort.trials / (chance * (1 - chance)))
        return np.asarray(slopes * weights[:, None])

    @cached_property
    def _evaluator(self) -> CellEvaluator:
        return CellEvaluator(self.cohort)

    def ties(self, values: Mapping[str, np.ndarray]) -> tuple[sp.csr_array, sp.csr_array]:
        r"""Write values as locations plus scales times deviations.

        .. math:: x = T z, \qquad z \sim \mathrm{Normal}(0, 1)

        to the first order about some values. A prior that is not of a location-scale family has
        deviations in units of its standard deviation, regardless of what it depends on.

        Returns
        -------
        ties, own : sparse array, shape (values, values)
            T, and the part of T that belongs to each value's own deviation.
        """
        rows = list[sp.csr_array]()
        alone = np.zeros(self.size)
        for latent in self.cohort.layout.latents:
            count = int(np.prod(self.cohort.size(latent.plates), dtype=int))
            block = sp.csr_array((count * len(self.of_latent[latent.name]), self.size))
            for prior, chosen, labels in self._by_prior(latent):
                family = location_and_scale(prior)
                own = np.concatenate([part.columns for part in chosen])
                if family is None:
                    spread = [self.prior_sd[self.parts.index(part)] for part in chosen]
                    alone[own] = np.repeat(spread, [len(part.columns) for part in chosen])
                    continue
                here = values[latent.name].reshape(count, -1)[
                    :, [part.label_index for part in chosen]
                ]
                location, scale = (
                    self._parameter(latent, labels, each, values).reshape(count, -1)
                    for each in family
                )
                alone[own] = scale.T.ravel()
                deviation = (here - location) / scale
                start = self.of_latent[latent.name][0].columns[0]
                for each, times in zip(family, (1.0, deviation), strict=True):
                    for change, by in self._changes(latent, labels, each, values):
                        moved = change.reshape(count, -1) * times
                        for at, part in enumerate(chosen):
                            put = sp.csr_array(
                                (moved[:, at], (part.columns - start, np.arange(count))),
                                shape=(block.shape[0], count),
                            )
                            block = block + put @ sp.vstack(rows, format="csr")[by]
            first = self.of_latent[latent.name][0].columns[0]
            places = np.arange(block.shape[0])
            diagonal = sp.csr_array(
                (alone[first + places], (places, first + places)), shape=block.shape
            )
            rows.append((block + diagonal).tocsr())
        return sp.vstack(rows, format="csr"), sp.diags_array(alone, format="csr")

    def _changes(
        self,
        latent: Latent,
        labels: tuple[str, ...],
        expression: Expr,
        values: Mapping[str, np.ndarray],
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Take derivatives of a prior's parameter by its parents, with their levels' positions."""
        for parent in parents(expression):
            for part in self.of_latent[parent.name]:
                step = _STEP * self.prior_sd[self.parts.index(part)]
                ends = []
                for side in (-1, 1):
                    moved = values[parent.name].copy()
                    flat = moved.reshape(-1, len(self.of_latent[parent.name]))
                    flat[:, part.label_index] += side * step
                    now = {**values, parent.name: moved}
                    ends.append(self._parameter(latent, labels, expression, now))
                yield (ends[1] - ends[0]) / (2 * step), part.columns[self._above(latent, parent)]

    def _by_prior(self, latent: Latent) -> list[tuple[Prior, list[PlatedElement], tuple[str, ...]]]:
        """List a latent's priors with their parts and label dimensions."""
        parts = self.of_latent[latent.name]
        if not isinstance(latent.prior, tuple):
            return [(latent.priors[0], parts, latent.label_dims)]
        return [(prior, [part], ()) for prior, part in zip(latent.priors, parts, strict=True)]

    def _parameter(
        self,
        latent: Latent,
        labels: tuple[str, ...],
        expression: Expr,
        values: Mapping[str, np.ndarray],
    ) -> np.ndarray:
        """Compute a prior's parameter at all levels of its latent: (levels..., labels...)."""
        tables = {name: each[None] for name, each in {**values, **self.cohort.covariates}.items()}
        values_of = at_all_levels(self.cohort, latent, tables)
        axes = 1 + len(latent.plates)
        numbers = parameter_at(self.cohort, expression, axes, labels, values_of)[0]
        sizes = (len(self.cohort.layout.dims[dim]) for dim in labels)
        return np.broadcast_to(numbers, (*self.cohort.size(latent.plates), *sizes))

    def _above(self, latent: Latent, parent: Latent) -> np.ndarray:
        """Find the level of a parent for each level of a latent."""
        sizes = self.cohort.size(latent.plates)
        at = indices(self.cohort, parent, latent.plates)
        if not at:
            return np.zeros(int(np.prod(sizes, dtype=int)), dtype=int)
        flat = np.ravel_multi_index(
            [np.broadcast_to(each, sizes) for each in at], self.cohort.size(parent.plates)
        )
        return np.asarray(flat).ravel()

    def posterior(
        self, values: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Compute the posterior that is expected at given true values.

        Returns
        -------
        before, after : ndarray, shape (values,)
            Variances without and with the outcomes.
        correlation : ndarray, shape (parts, parts)
            Correlations of shared values, and of the mean deviation of those with levels.
        slopes : ndarray, shape (cells, parts)
            As returned by `slopes`.
        """
        slopes = self.slopes(values)
        cells = np.arange(len(slopes))
        columns = [part.columns[self.levels(part.latent)] for part in self.parts]
        direct = sp.csr_array(
            (slopes.T.ravel(), (np.tile(cells, len(columns)), np.concatenate(columns))),
            shape=(len(cells), self.size),
        )
        ties, own = self.ties(values)
        turned = direct @ ties
        precision = (turned.T @ turned).toarray() + np.eye(self.size)
        for latent in self.cohort.layout.latents:
            self._sum_to_zero(latent, precision)
        covariance = np.linalg.inv(precision)
        dense = ties.toarray()
        before, after = (dense**2).sum(axis=1), (dense @ covariance * dense).sum(axis=1)
        means = np.zeros((len(self.parts), self.size))
        for row, part in enumerate(self.parts):
            source = own if part.latent.plates else ties
            means[row] = source[part.columns].toarray().mean(axis=0)
        between = means @ covariance @ means.T
        spread = np.sqrt(np.diag(between))
        with np.errstate(invalid="ignore"):  # effects that sum to zero have no mean deviation
            return before, after, between / np.outer(spread, spread), slopes

    def _sum_to_zero(self, latent: Latent, precision: np.ndarray) -> None:
        """Fix the sums of deviations at zero for priors that sum to zero."""
        sizes = self.cohort.size(latent.plates)
        for prior, parts, _ in self._by_prior(latent):
            for part in parts if prior.zero_sum_axes else ():
                free: np.ndarray = np.ones((1, 1))
                for axis, count in enumerate(sizes):
                    eye = np.eye(count)
                    summed = axis >= len(sizes) - prior.zero_sum_axes
                    free = np.kron(free, eye - 1 / count if summed else eye)
                at = np.ix_(part.columns, part.columns)
                precision[at] += _FIRM * (np.eye(len(part.columns)) - free)

    def matters(self, slopes: np.ndarray) -> np.ndarray:
        """Find the cells on which success depends on each part; shape (cells, parts)."""
        return np.asarray(np.abs(slopes) * self.prior_sd > _MATTERS)
