"""PyMC models of a layout and outcomes, and keys of compiled layouts."""

import inspect
from types import CodeType, FunctionType
from typing import Any

import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation, refuse_no_layout
from ...evaluations.subject_data import EDGE, SubjectData
from ...layouts import Layout
from ...linking import evaluate
from ...linking.evaluation import ancestry
from ...linking.function import Call
from .alignment import Features, align
from .cohort import Cohort
from .derived import keep_derived
from .features import read_training_features
from .joint_model import joint_model
from .prior import noncentred, profile_variables


def to_pymc(
    layout: Layout, evaluation: Evaluation, subject: object = None, *, derived: bool = False
) -> pm.Model:
    """Build an ordinary PyMC model of a layout and outcomes.

    The model is that of one subject, or, for a joint layout, of all subjects.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    evaluation : Evaluation
        Items and outcomes.
    subject : object, optional
        Name of the subject whose outcomes are observed. Must be left out for a joint layout.
    derived : bool
        Whether derived nodes are variables of the model, from which the outcome is computed. A node
        has one value per item, or a single value if it is the same for all items. In a joint model,
        it has the plates of the layout's diagram, or ``cell`` if these are subjects and items.

    Returns
    -------
    pymc.Model
        Model whose variables have the names of the nodes. The dimensions are ``item`` and the label
        dimensions. In a joint model they are ``subject``, ``item``, the categories, the labels, and
        ``cell`` for the attempted pairs of subject and item.

    Raises
    ------
    DataError
        When the items or subjects do not fit the layout, the subject is unknown or missing, a
        subject is given for a joint layout, or `evaluation` is something else, such as a table.
    LayoutError
        When PyMC does not accept a prior, or `layout` is something else.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> model = to_pymc(aaio.published_layout(), cohort.evaluation, cohort.evaluation.subjects[0])
    >>> [variable.name for variable in model.free_RVs]
    ['navigationAbility', 'rightLeftBias', 'visualAbility', 'noiseLevel']
    """
    refuse_no_layout(layout)
    refuse_no_evaluation(evaluation)
    if layout.joint:
        if subject is not None:
            raise DataError(
                f"subject={subject!r}: layout {layout.name!r} is a model of all subjects together; "
                "leave out subject=, or select subjects with evaluation.select(subjects=...)"
            )
        return joint_model(Cohort.of_evaluation(layout, evaluation), derived)
    if subject is None:
        raise DataError(
            f"subject= is missing, but layout {layout.name!r} is a model of a single subject; "
            f"name one of {some(evaluation.subjects)}"
        )
    data = SubjectData.of(evaluation, subject)
    features = read_training_features(layout, evaluation)
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
    """Build the model of one subject; all that differs between subjects or batteries is data.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    items : Index
        Names of the items.
    subject : SubjectData
        Outcomes and constants of the subject.
    deviations : frozenset of str, optional
        Latents that are sampled as deviations from their location (default: see `noncentred`).
    derived : bool
        Whether derived nodes are variables of the model; see `to_pymc`.

    Returns
    -------
    pymc.Model
        Model with the dimension ``item`` and the label dimensions.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
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
    """Return the name of the model's trials."""
    return f"{layout.outcome.name}_trials"


def successes_name(layout: Layout) -> str:
    """Return the name of the model's successes."""
    return f"{layout.outcome.name}_successes"


def compile_key(layout: Layout) -> tuple[object, ...]:
    """Return a key that is the same only for layouts with the same compiled code.

    A fingerprint includes the formulas of linking functions, but not the functions that these
    call, which may be redefined in a notebook.

    Parameters
    ----------
    layout : Layout
        The layout to compile.

    Returns
    -------
    tuple
        Hashable key: the fingerprint, and the code of all functions that the formulas call.

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
    """Collect the code of a function and of all that it calls, with the values they refer to."""
    function = getattr(function, "formula", function)  # a linking function inside another
    if not isinstance(function, FunctionType) or function.__code__ in reached:
        return
    captured = inspect.getclosurevars(function)
    values = {**captured.globals, **captured.nonlocals}
    plain = {n: v for n, v in values.items() if isinstance(v, bool | int | float | str | tuple)}
    reached[function.__code__] = repr(sorted(plain.items()))
    for value in values.values():
        _reach(value, reached)
