"""A layout compiled once for a battery; subjects are swapped in as data."""

import dataclasses
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm

from ..layouts import Layout
from ..linking.interval import Interval
from .compiler import SubjectData, build_model, successes_name, training_features, trials_name
from .data import Evaluation
from .features import Features
from .identity import compile_key


@dataclass(frozen=True, eq=False)
class Battery:
    """A layout and the meta-features of the items that subjects are fitted on.

    Attributes
    ----------
    layout : Layout
        What joins items and profile.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    """

    layout: Layout
    features: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, layout: Layout, evaluation: Evaluation) -> "Battery":
        """Read and check the items of an evaluation.

        Raises
        ------
        DataError
            When the items do not fit the layout.
        """
        return cls(layout, training_features(layout, evaluation))

    @cached_property
    def digest(self) -> str:
        """Hash of the items' meta-features."""
        found = hashlib.sha256()
        for name, values in sorted(self.features.items()):
            found.update(f"{name}{values.shape}\0".encode())
            found.update(np.ascontiguousarray(values))
        return found.hexdigest()


@dataclass(frozen=True)
class Sampler:
    """A layout's compiled log-density and gradient on a battery.

    Attributes
    ----------
    layout : Layout
        What was compiled.
    compiled : object
        Its compiled form, nutpie's.
    features : dict of str to ndarray
        The battery's meta-features.
    """

    layout: Layout
    compiled: Any
    features: Features

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model over one subject's data; memory is all it costs."""
        return self.compiled.with_data(
            **self.features,
            **{
                constant.name: np.asarray(subject.constants[constant.name])
                for constant in self.layout.constants
            },
            **{
                trials_name(self.layout): subject.trials,
                successes_name(self.layout): subject.successes,
            },
        )


_compiled: dict[tuple[object, ...], Any] = {}
_compiling = threading.Lock()


def compile_sampler(battery: Battery) -> Sampler:
    """Compile a layout once in this process, whatever the battery or the subjects.

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
    import nutpie

    layout = battery.layout
    with _compiling:
        key = compile_key(layout)
        if key not in _compiled:
            compiled = nutpie.compile_pymc_model(_example(layout))
            one_at_a_time = _Locked(compiled.initial_point_func)
            _compiled[key] = dataclasses.replace(compiled, initial_point_func=one_at_a_time)
        return Sampler(layout, _compiled[key], dict(battery.features))


def _example(layout: Layout) -> pm.Model:
    """Write the model over two items that stand for any."""
    features = {
        feature.name: np.full((2, *map(len, feature.dims.values())), _some_value(feature.range))
        for feature in layout.meta_features
    }
    ones = np.ones(2, dtype="int64")
    constants = {constant.name: 0.5 for constant in layout.constants}
    return build_model(layout, features, pd.RangeIndex(2), SubjectData(ones, ones, constants))


def _some_value(interval: Interval) -> float:
    finite = [end for end in (interval.low, interval.high) if np.isfinite(end)]
    return float(np.mean(finite)) if finite else 0.0


class _Locked:
    """A function that threads take turns in: PyTensor functions share their storage."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.lock = threading.Lock()

    def __call__(self, *args: Any) -> Any:
        with self.lock:
            return self.function(*args)
