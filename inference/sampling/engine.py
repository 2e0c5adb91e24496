"""A layout compiled once for a battery; subjects are swapped in as data."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ...common.cache import Recent
from ...evaluations.evaluation import Evaluation, SubjectData
from ...layouts import Layout
from ..kernel.terms import UnsupportedError
from ..model.identity import compile_key
from ..model.pymc_model import training_features
from .fused import Kernel
from .pytensor_density import compile_plain


@dataclass(frozen=True, eq=False)
class Battery:
    """A layout and the meta-features of the items that subjects are fitted on.

    Attributes
    ----------
    layout : Layout
        What joins items and profile.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        How many.
    """

    layout: Layout
    features: Mapping[str, np.ndarray]
    items: int

    @classmethod
    def of(cls, layout: Layout, evaluation: Evaluation) -> "Battery":
        """Read and check the items of an evaluation.

        Raises
        ------
        DataError
            When the items do not fit the layout.
        """
        return cls(layout, training_features(layout, evaluation), len(evaluation.items))

    @cached_property
    def digest(self) -> str:
        """Hash of the items' meta-features."""
        found = hashlib.sha256(str(self.items).encode())
        for name, values in sorted(self.features.items()):
            found.update(f"{name}{values.shape}\0".encode())
            found.update(np.ascontiguousarray(values))
        return found.hexdigest()

    @cached_property
    def kinds(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Meta-features of the items that differ, and for every item its row in them."""
        columns = [values.reshape(self.items, -1) for values in self.features.values()]
        table = np.hstack([np.zeros((self.items, 1)), *columns])
        _, first, kind = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return {name: values[first] for name, values in self.features.items()}, kind.ravel()


class Sampler(Protocol):
    """A layout compiled for a battery, safe to use from several threads."""

    @property
    def layout(self) -> Layout:
        """What was compiled."""

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data; memory is all it costs."""


@dataclass(frozen=True)
class FusedSampler:
    """Samples with machine code of the project's own.

    Attributes
    ----------
    layout : Layout
        What was compiled.
    kernel : Kernel
        Its compiled form.
    """

    layout: Layout
    kernel: Kernel

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data; memory is all it costs."""
        from nutpie.compile_pymc import CompiledPyMCModel

        latents = self.layout.latents
        code = self.kernel.on(subject.successes, subject.trials, subject.constants)
        names = [latent.name for latent in latents]
        shapes = [tuple(map(len, latent.dims.values())) for latent in latents]
        ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])
        places = [
            slice(end - np.prod(s, dtype=int), end) for end, s in zip(ends, shapes, strict=True)
        ]
        return CompiledPyMCModel(
            dims={},
            reparameterized_names=[],
            compiled_logp_func=_Function(code.machine.density),
            compiled_expand_func=_Function(code.machine.profile),
            initial_point_func=self._start,
            shared_data={str(place): array for place, array in enumerate(code.kept)},
            shared_var_keys={},
            user_data=code.inputs,
            n_expanded=int(ends[-1]),
            shape_info=(names, places, shapes),
            logp_func=code,  # holds the machine code
            expand_func=None,
            _n_dim=len(self.kernel.start),
            _shapes=dict(zip(names, shapes, strict=True)),
            _coords={},
        )

    def _start(self, seed: int) -> np.ndarray:
        jitter = np.random.default_rng(seed).uniform(-1, 1, len(self.kernel.start))
        return np.asarray(self.kernel.start + jitter)


@dataclass(frozen=True)
class _Function:
    """A compiled function, by its address."""

    address: int


_samplers = Recent[object, Sampler](16)  # batteries


def compile_sampler(battery: Battery) -> Sampler:
    """Compile a layout for a battery, once in this process.

    Each derived quantity is computed on the distinct combinations of its meta-features where that
    is cheaper, and items alike in all that matters are one row with summed counts. A layout with
    an operation that has no machine code here is compiled by PyTensor, in its plain form.

    Parameters
    ----------
    battery : Battery
        Layouts that compute the same share one compilation.

    Returns
    -------
    Sampler
        Safe to use from several threads.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    """
    key = compile_key(battery.layout), battery.digest
    return _samplers.find(key, lambda: _compile(battery))


def _compile(battery: Battery) -> Sampler:
    try:
        kernel = Kernel(battery.layout, battery.features, battery.items)
    except UnsupportedError:
        return compile_plain(battery.layout, battery.features, battery.items)
    return FusedSampler(battery.layout, kernel)
