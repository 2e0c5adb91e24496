"""From a layout to a PyMC model, and from that to a sampler compiled once."""

import dataclasses
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from ..layouts import Layout
from ..linking import MEAN_FAILURE, evaluate
from ..linking.interval import Interval
from .data import Evaluation
from .errors import DataError
from .features import Features, align, check_training, read_features
from .identity import compile_key
from .prior import profile_variables
from .wording import some

_EDGE = 1e-12  # probabilities stay this far from 0 and 1, so that one surprise costs 27 nats


@dataclass(frozen=True)
class SubjectData:
    """What changes between subjects: outcomes and constants.

    Attributes
    ----------
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    constants : mapping of str to float
        By subject constant.
    """

    successes: np.ndarray
    trials: np.ndarray
    constants: Mapping[str, float]

    @classmethod
    def of(cls, evaluation: Evaluation, subject: object) -> "SubjectData":
        """Take one subject's row of an evaluation.

        Raises
        ------
        DataError
            When the subject is unknown.
        """
        name = str(subject)
        if name not in evaluation.successes.index:
            raise DataError(f"unknown subject {name}; know {some(evaluation.subjects)}")
        successes = evaluation.successes.loc[name].to_numpy()
        trials = evaluation.trials.loc[name].to_numpy()
        failure = float(1 - successes.sum() / trials.sum())
        return cls(successes, trials, {MEAN_FAILURE.name: failure})


def to_pymc(layout: Layout, evaluation: Evaluation, subject: object) -> pm.Model:
    """Compile a layout and one subject's outcomes into an ordinary PyMC model.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    evaluation : Evaluation
        Items and outcomes.
    subject : object
        Whose outcomes to condition on, by name.

    Returns
    -------
    pymc.Model
        Variables bear the nodes' names; dimensions are ``item`` and the label dimensions.

    Raises
    ------
    DataError
        When the items do not fit the layout, or the subject is unknown.
    LayoutError
        When PyMC does not take a prior.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> model = to_pymc(aaio.published_layout(), cohort.evaluation, cohort.evaluation.subjects[0])
    >>> [variable.name for variable in model.free_RVs]
    ['navigationAbility', 'rightLeftBias', 'visualAbility', 'noiseLevel']
    """
    data = SubjectData.of(evaluation, subject)
    return build_model(layout, training_features(layout, evaluation), evaluation.items.index, data)


def training_features(layout: Layout, evaluation: Evaluation) -> Features:
    """Read and check the meta-features of items that a fit is to be made on.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    """
    features = read_features(layout, evaluation.items)
    check_training(layout, evaluation.items, features)
    return features


def build_model(
    layout: Layout, features: Features, items: pd.Index, subject: SubjectData
) -> pm.Model:
    """Write the model; everything that changes between subjects or batteries is a `pymc.Data`.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : Index
        Names of the items.
    subject : SubjectData
        Outcomes and constants.

    Returns
    -------
    pymc.Model
        With the dimensions ``item`` and those of the labels.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    """
    dims = tuple(layout.dims)
    coords = {"item": [str(item) for item in items], **{d: list(v) for d, v in layout.dims.items()}}
    with pm.Model(coords=coords) as model:
        known: dict[str, Any] = {}
        for feature in layout.meta_features:
            data = pm.Data(feature.name, features[feature.name], dims=("item", *feature.label_dims))
            known[feature.name] = align(data, feature, dims, per_item=True)
        for constant in layout.constants:
            known[constant.name] = pm.Data(constant.name, subject.constants[constant.name])
        variables = profile_variables(layout)
        for latent in layout.latents:
            known[latent.name] = align(variables[latent.name], latent, dims, per_item=False)
        probability = evaluate(layout.outcome.expression, known, dims)
        if dims:
            probability = probability[(slice(None), *[0] * len(dims))]
        trials = pm.Data(_trials(layout), subject.trials, dims="item")
        successes = pm.Data(_successes(layout), subject.successes, dims="item")
        bounded = pt.clip(probability, _EDGE, 1 - _EDGE)
        pm.Binomial(layout.outcome.name, n=trials, p=bounded, observed=successes, dims="item")
    return model


def _trials(layout: Layout) -> str:
    return f"{layout.outcome.name}_trials"


def _successes(layout: Layout) -> str:
    return f"{layout.outcome.name}_successes"


@dataclass(frozen=True)
class Sampler:
    """A layout's compiled log-density and gradient; batteries and subjects are swapped as data.

    Attributes
    ----------
    layout : Layout
        What was compiled.
    compiled : object
        Its compiled form, nutpie's.
    """

    layout: Layout
    compiled: Any

    def on(self, features: Features, subject: SubjectData) -> Any:
        """Return nutpie's compiled model over one subject's data; memory is all it costs."""
        return self.compiled.with_data(
            **features,
            **{
                constant.name: np.asarray(subject.constants[constant.name])
                for constant in self.layout.constants
            },
            **{_trials(self.layout): subject.trials, _successes(self.layout): subject.successes},
        )


_compiled: dict[tuple[object, ...], Sampler] = {}
_compiling = threading.Lock()


def compile_sampler(layout: Layout) -> Sampler:
    """Compile a layout once in this process, whatever the battery or the subjects.

    Parameters
    ----------
    layout : Layout
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

    with _compiling:
        key = compile_key(layout)
        if key not in _compiled:
            compiled = nutpie.compile_pymc_model(_example(layout))
            one_at_a_time = _Locked(compiled.initial_point_func)
            compiled = dataclasses.replace(compiled, initial_point_func=one_at_a_time)
            _compiled[key] = Sampler(layout, compiled)
        return _compiled[key]


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
