"""From a layout and one subject's outcomes to a PyMC model; telling compiled layouts apart."""

import inspect
from types import CodeType, FunctionType
from typing import Any

import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import EDGE, SubjectData
from ...layouts import Layout
from ...linking import evaluate
from ...linking.evaluation import ancestry
from ...linking.function import Call
from .alignment import Features, align
from .cohort import Cohort
from .derived import keep_derived
from .features import training_features
from .joint_model import joint_model
from .prior import noncentred, profile_variables


def to_pymc(
    layout: Layout, evaluation: Evaluation, subject: object = None, *, derived: bool = False
) -> pm.Model:
    """Compile a layout and outcomes into an ordinary PyMC model: of one subject, or a joint one.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    evaluation : Evaluation
        Items and outcomes.
    subject : object, optional
        Whose outcomes to condition on, by name. To be left out where subjects share something: the
        model is then that of all subjects.
    derived : bool
        Whether derived nodes are variables of the model, too, from which the outcome is computed:
        one value per item, or one in all of a node that is the same for all items. In a joint model
        they have the plates of the layout's diagram, and ``cell`` where these are subjects and
        items.

    Returns
    -------
    pymc.Model
        Variables bear the nodes' names; dimensions are ``item`` and the label dimensions. Where
        subjects share something, they are ``subject``, ``item``, the categories, the labels, and
        ``cell`` for the pairs of subject and item that were attempted.

    Raises
    ------
    DataError
        When the items or subjects do not fit the layout, or the subject is unknown, missing, or
        given though subjects share something.
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
    if layout.joint:
        if subject is not None:
            raise DataError(
                f"subject={subject!r}: layout {layout.name!r} is a model of all subjects together; "
                "leave subject out, or give an evaluation of some with evaluation.select(subjects="
                "...)"
            )
        return joint_model(Cohort.of_evaluation(layout, evaluation), derived)
    if subject is None:
        raise DataError(
            f"no subject is named, and each has a model of its own under layout {layout.name!r}; "
            f"name one of {some(evaluation.subjects)}"
        )
    data = SubjectData.of(evaluation, subject)
    features = training_features(layout, evaluation)
    layout = layout.several if data.trials.max() > 1 else layout
    return build_model(layout, features, evaluation.items.index, data, derived=derived)


def build_model(
    layout: Layout,
    features: Features,
    items: pd.Index,
    subject: SubjectData,
    deviations: frozenset[str] | None = None,
    derived: bool = False,
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
    deviations : frozenset of str, optional
        Latents that are sampled as deviations from their location; as `noncentred` names them for
        so many items by default.
    derived : bool
        Whether derived nodes are variables of the model, too; see `to_pymc`.

    Returns
    -------
    pymc.Model
        With the dimensions ``item`` and those of the labels.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior.
    """
    if deviations is None:
        deviations = noncentred(layout, len(items))
    dims = tuple(layout.dims)
    named = layout.dims if derived else layout.labels
    labels = {dim: list(names) for dim, names in named.items()}
    coords = {"item": [str(item) for item in items], **labels}
    with pm.Model(coords=coords) as model:
        known: dict[str, Any] = {}
        for feature in layout.row_features:
            data = pm.Data(feature.name, features[feature.name], dims=("item", *feature.label_dims))
            known[feature.name] = align(data, feature, dims, per_item=True)
        for constant in layout.constants:
            known[constant.name] = pm.Data(constant.name, subject.constants[constant.name])
        variables = profile_variables(layout, deviations, derived=derived)
        for name, variable in variables.items():
            known[name] = align(variable, layout.nodes[name], dims, per_item=False)
        for node in layout.derived if derived else ():
            if node.name not in known:
                kept = keep_derived(node, known, {"item": len(items)}, dims)
                known[node.name] = align(kept, node, dims, per_item=True)
        probability = evaluate(layout.outcome.expression, known, dims)
        trials = pm.Data(trials_name(layout), subject.trials, dims="item")
        successes = pm.Data(successes_name(layout), subject.successes, dims="item")
        bounded = pt.clip(probability, EDGE, 1 - EDGE)
        name, unseen = layout.outcome.name, layout.outcome.unseen
        if unseen is None:
            chance = bounded[(slice(None), *[0] * len(dims))] if dims else bounded
            pm.Binomial(name, n=trials, p=chance, observed=successes, dims="item")
        else:
            places = (slice(None), *(slice(None) if dim == unseen.dim else 0 for dim in dims))
            weights = pt.as_tensor(evaluate(unseen.weights, known, dims))
            bounded, weights = pt.broadcast_arrays(bounded, weights)
            each = pm.Binomial.dist(n=trials[:, None], p=bounded[places])
            pm.Mixture(name, weights[places], comp_dists=each, observed=successes, dims="item")
    return model


def trials_name(layout: Layout) -> str:
    """Name of the model's trials."""
    return f"{layout.outcome.name}_trials"


def successes_name(layout: Layout) -> str:
    """Name of the model's successes."""
    return f"{layout.outcome.name}_successes"


def compile_key(layout: Layout) -> tuple[object, ...]:
    """Make a key that two layouts share only when they compile to the same.

    A fingerprint knows the formulas of linking functions, but not the functions that those call,
    which may be defined anew in a notebook.

    Parameters
    ----------
    layout : Layout
        What is to be compiled.

    Returns
    -------
    tuple
        Hashable: the fingerprint, and all code that the layout's formulas reach.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> compile_key(coin) == (coin.fingerprint, frozenset())
    True
    """
    reached: dict[CodeType, str] = {}
    for part in ancestry(layout.outcome):
        if isinstance(part, Call):
            _reach(part.function.formula, reached)
    return layout.fingerprint, frozenset(reached.items())


def _reach(function: object, reached: dict[CodeType, str]) -> None:
    """Collect a function's code with the plain values it refers to, and what it calls."""
    function = getattr(function, "formula", function)  # a linking function inside another
    if not isinstance(function, FunctionType) or function.__code__ in reached:
        return
    captured = inspect.getclosurevars(function)
    values = {**captured.globals, **captured.nonlocals}
    plain = {n: v for n, v in values.items() if isinstance(v, bool | int | float | str | tuple)}
    reached[function.__code__] = repr(sorted(plain.items()))
    for value in values.values():
        _reach(value, reached)
