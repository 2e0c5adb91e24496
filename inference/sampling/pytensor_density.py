"""A layout compiled by PyTensor as it stands: for what has no machine code of the project's own."""

import dataclasses
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm

from ...common.cache import unwritable
from ...evaluations.evaluation import SubjectData
from ...layouts import Layout
from ...linking.interval import Interval
from ..model.identity import compile_key
from ..model.prior import noncentred
from ..model.pymc_model import build_model, successes_name, trials_name

_compiled: dict[object, Any] = {}


@dataclass(frozen=True)
class PlainSampler:
    """Samples with PyTensor's compiled log-density.

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
    features: Mapping[str, np.ndarray]

    def on(self, subject: SubjectData) -> Any:
        """Return nutpie's compiled model of one subject's data; memory is all it costs."""
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


def compile_plain(layout: Layout, features: Mapping[str, np.ndarray], items: int) -> PlainSampler:
    """Compile a layout once in this process, whatever the subjects and the items' features.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    FitError
        When there is no folder to compile in.
    """
    import nutpie

    deviations = noncentred(layout, items)
    key = compile_key(layout), deviations
    if key not in _compiled:
        try:
            compiled = nutpie.compile_pymc_model(_example(layout, deviations))
        except OSError as error:  # Numba's part of it
            raise unwritable(error) from error
        one_at_a_time = _Locked(compiled.initial_point_func)
        _compiled[key] = dataclasses.replace(compiled, initial_point_func=one_at_a_time)
    return PlainSampler(layout, _compiled[key], dict(features))


def _example(layout: Layout, deviations: frozenset[str]) -> pm.Model:
    """Write the model over two items that stand for any."""
    features = {
        feature.name: np.full((2, *map(len, feature.dims.values())), _some_value(feature.range))
        for feature in layout.row_features
    }
    ones = np.ones(2, dtype="int64")
    constants = {constant.name: 0.5 for constant in layout.constants}
    data = SubjectData(ones, ones, constants)
    return build_model(layout, features, pd.RangeIndex(2), data, deviations)


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
