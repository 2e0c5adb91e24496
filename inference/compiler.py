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

from ..layouts import Latent, Layout
from ..linking import LayoutError, evaluate
from .data import Evaluation
from .errors import DataError
from .features import Features, align, check_training, read_features

_EDGE = 1e-12  # probabilities stay this far from 0 and 1, so that one surprise costs 27 nats


@dataclass(frozen=True)
class SubjectData:
    """What changes between subjects: outcomes and constants."""

    successes: np.ndarray
    trials: np.ndarray
    constants: Mapping[str, float]

    @classmethod
    def of(cls, evaluation: Evaluation, subject: str) -> "SubjectData":
        """Take one subject's row of an evaluation."""
        if subject not in evaluation.subjects:
            raise DataError(f"unknown subject {subject!r}; know {', '.join(evaluation.subjects)}")
        successes = evaluation.successes.loc[subject].to_numpy()
        trials = evaluation.trials.loc[subject].to_numpy()
        return cls(successes, trials, {"meanFailure": float(1 - successes.sum() / trials.sum())})


def to_pymc(layout: Layout, evaluation: Evaluation, subject: str) -> pm.Model:
    """Compile a layout and one subject's outcomes into an ordinary PyMC model.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    evaluation : Evaluation
        Items and outcomes.
    subject : str
        Whose outcomes to condition on.

    Returns
    -------
    pymc.Model
        Variables bear the nodes' names; dimensions are ``item`` and the label dimensions.

    Raises
    ------
    DataError
        When the items do not fit the layout, or the subject is unknown.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> model = to_pymc(aaio.published_layout(), cohort.evaluation, cohort.evaluation.subjects[0])
    >>> [variable.name for variable in model.free_RVs]
    ['navigationAbility', 'rightLeftBias', 'visualAbility', 'noiseLevel']
    """
    features = training_features(layout, evaluation)
    return build_model(
        layout, features, evaluation.items.index, SubjectData.of(evaluation, subject)
    )


def training_features(layout: Layout, evaluation: Evaluation) -> Features:
    """Read and check the meta-features of items that a fit is to be made on."""
    features = read_features(layout, evaluation.items)
    check_training(layout, evaluation.items, features)
    return features


def build_model(
    layout: Layout, features: Features, items: pd.Index, subject: SubjectData
) -> pm.Model:
    """Write the model; everything that changes between subjects or batteries is a `pymc.Data`."""
    dims = tuple(layout.dims)
    outcome = layout.outcome.name
    coords = {"item": [str(item) for item in items], **{d: list(v) for d, v in layout.dims.items()}}
    with pm.Model(coords=coords) as model:
        known: dict[str, Any] = {}
        for feature in layout.meta_features:
            data = pm.Data(feature.name, features[feature.name], dims=("item", *feature.label_dims))
            known[feature.name] = align(data, feature, dims, per_item=True)
        for constant in layout.constants:
            known[constant.name] = pm.Data(constant.name, subject.constants[constant.name])
        variables: dict[str, Any] = {}
        for latent in layout.latents:
            variables[latent.name] = _random_variable(latent, variables)
            known[latent.name] = align(variables[latent.name], latent, dims, per_item=False)
        probability = evaluate(layout.outcome.expression, known, dims)
        if dims:
            probability = probability[(slice(None), *[0] * len(dims))]
        trials = pm.Data(_trials(layout), subject.trials, dims="item")
        successes = pm.Data(_successes(layout), subject.successes, dims="item")
        bounded = pt.clip(probability, _EDGE, 1 - _EDGE)
        pm.Binomial(outcome, n=trials, p=bounded, observed=successes, dims="item")
    return model


def _random_variable(latent: Latent, variables: Mapping[str, Any]) -> Any:
    prior = latent.distribution
    family = getattr(pm, prior.family, None)
    if not (isinstance(family, type) and issubclass(family, pm.Distribution)):
        raise LayoutError(
            f"{latent.name}: PyMC has no distribution {prior.family!r}; write its name as PyMC does, "
            "such as 'Normal', 'Beta' or 'HalfNormal'"
        )
    parameters = {name: evaluate(parameter, variables) for name, parameter in prior.parameters}
    try:
        return family(latent.name, **parameters, dims=latent.label_dims or None)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise LayoutError(
            f"{latent.name}: PyMC does not take the prior {prior} ({error}); name the parameters as "
            f"pymc.{prior.family} does"
        ) from error


def _trials(layout: Layout) -> str:
    return f"{layout.outcome.name}_trials"


def _successes(layout: Layout) -> str:
    return f"{layout.outcome.name}_successes"


@dataclass(frozen=True)
class Sampler:
    """A layout's compiled log-density and gradient; batteries and subjects are swapped as data."""

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


_compiled: dict[str, Sampler] = {}
_compiling = threading.Lock()


def compile_sampler(layout: Layout) -> Sampler:
    """Compile a layout once in this process, whatever the battery or the subjects."""
    import nutpie

    with _compiling:
        if layout.fingerprint not in _compiled:
            features = {
                feature.name: np.full(
                    (2, *map(len, feature.dims.values())), _some_value(feature.range)
                )
                for feature in layout.meta_features
            }
            constants = {constant.name: 0.5 for constant in layout.constants}
            ones = np.ones(2, dtype="int64")
            example = SubjectData(ones, ones, constants)
            model = build_model(layout, features, pd.RangeIndex(2), example)
            compiled = nutpie.compile_pymc_model(model)
            one_at_a_time = _Locked(compiled.initial_point_func)
            compiled = dataclasses.replace(compiled, initial_point_func=one_at_a_time)
            _compiled[layout.fingerprint] = Sampler(layout, compiled)
        return _compiled[layout.fingerprint]


def _some_value(interval: Any) -> float:
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
