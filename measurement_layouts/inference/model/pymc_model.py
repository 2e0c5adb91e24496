"""`to_pymc`: an ordinary PyMC model of a layout and outcomes, and keys of compiled layouts."""

import inspect
from collections.abc import Collection
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation, refuse_no_layout
from ...evaluations.subject_data import EDGE, SubjectData
from ...layouts import Layout, MetaFeature, Node
from ...layouts.outcomes.averaging import averaged
from ...layouts.plates import ITEM, SUBJECT, Plate
from ...linking import evaluate
from ...linking.evaluation import ancestry
from ...linking.function import Call
from .alignment import align
from .cohort import Cohort, indices
from .features import read_training_features
from .prior import draw_variables
from .variables import add_nodes, keep_derived, noncentred

ROW = "row"  # dimension of steps of items' outcomes, in a joint model


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
        dimensions. In a joint model they are ``subject``, ``item``, the categories, the labels,
        ``cell`` for the attempted pairs of subject and item, and ``row`` for the steps of items'
        outcomes, if there are several. Latents with few outcomes whose scale is a latent are
        sampled as deviations from their location.

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
        return build_model(Cohort.of_evaluation(layout, evaluation), derived=derived)
    if subject is None:
        raise DataError(
            f"subject= is missing, but layout {layout.name!r} is a model of a single subject; "
            f"name one of {some(evaluation.subjects)}"
        )
    data = SubjectData.of(evaluation, subject)
    features, rows = read_training_features(layout, evaluation), list(evaluation.items.index)
    return build_model(Cohort.alone(layout, features, rows, data), derived=derived)


def build_model(
    cohort: Cohort, deviations: Collection[str] | None = None, derived: bool = False
) -> pm.Model:
    """Build the model of a cohort; all data are named data of the model.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes.
    deviations : collection of str, optional
        Latents that are sampled as deviations from their location; see `variables.Deviations`
        (default: those of `few_outcomes`).
    derived : bool
        Whether derived nodes are variables of the model; see `to_pymc`.

    Returns
    -------
    pymc.Model
        Model with the dimensions of `to_pymc`.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    """
    layout, dims = cohort.layout, tuple(cohort.layout.dims)
    cells = "cell" if layout.joint else ITEM
    with pm.Model(coords=_coords(cohort, derived)) as model:
        by_node: dict[str, Any] = {}
        data = _data(cohort)
        few = few_outcomes(cohort) if deviations is None else deviations
        variables = _variables(cohort, data, derived, few)
        for feature in layout.row_features:
            value = data[feature.name][cohort.row] if layout.joint else data[feature.name]
            by_node[feature.name] = align(value, feature, dims, per_item=True)
        for constant in layout.constants:
            value = data[constant.name]
            at = (cohort.subject, *[None] * len(dims)) if layout.joint else ()
            by_node[constant.name] = value[at]
        for node in layout.nodes.values():
            if node.name in variables and node.name not in by_node:
                plates = layout.plates_of_nodes[node.name] if layout.joint else ()
                at = tuple(map(cohort.codes, plates))
                value = variables[node.name][at] if at else variables[node.name]
                by_node[node.name] = align(value, node, dims, per_item=bool(at))
        for node in layout.derived if derived else ():
            if node.name not in by_node:
                value = evaluate(averaged(node), by_node, dims)
                variable = keep_derived(node, value, {cells: len(cohort.trials)}, dims)
                by_node[node.name] = align(variable, node, dims, per_item=True)
        _add_outcomes(cohort, by_node, cells)
    return model


def few_outcomes(cohort: Cohort) -> frozenset[str]:
    """Name the latents with few outcomes for each value; see `noncentred`."""
    layout = cohort.layout
    if not layout.joint:  # all subjects of a battery are compiled once
        return noncentred(layout, len(cohort.trials))
    sizes = {name: len(levels) for name, levels in cohort.levels.items()}
    return noncentred(layout, int(cohort.trials.sum()), sizes)


def draw_values(cohort: Cohort, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw all latents from their priors, for the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Joint layout, levels and covariates; the outcomes are not used.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws.

    Returns
    -------
    dict of str to ndarray
        Draws by latent, shape (draws, levels..., labels...).

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, or a parameter is out of range.
    """
    with pm.Model(coords=_coords(cohort, False)):
        variables = _variables(cohort, dict(cohort.covariates), False, ())
    latents = [latent.name for latent in cohort.layout.latents]
    return draw_variables(cohort.layout, {name: variables[name] for name in latents}, draws, seed)


def _coords(cohort: Cohort, derived: bool) -> dict[str, Any]:
    """Return the dimensions of a model and the names of their entries."""
    layout = cohort.layout
    named = layout.dims if derived or layout.joint else layout.labels
    coords: dict[str, Any] = {dim: list(names) for dim, names in named.items()}
    if not layout.joint:
        return coords | {ITEM: list(map(str, cohort.levels[ITEM]))}
    subjects, items = cohort.levels[SUBJECT], cohort.levels[ITEM]
    pairs = zip(cohort.subject, cohort.item, strict=True)
    coords |= {name: list(levels) for name, levels in cohort.levels.items()}
    return coords | {"cell": [f"{subjects[s]}, {items[i]}" for s, i in pairs]}


def _data(cohort: Cohort) -> dict[str, Any]:
    """Add the properties of rows and subjects to the current model, as data."""
    layout, data = cohort.layout, {}
    for node in (*layout.row_features, *layout.covariates, *layout.constants):
        name = str(node.name)
        of_rows = name in cohort.features
        values = (cohort.features if of_rows else cohort.covariates)[name]
        side = (ITEM if cohort.item_of_row is None else ROW) if of_rows else SUBJECT
        dims: tuple[str, ...] | None = (side, *node.dims)
        if not (of_rows or layout.joint):
            values, dims = values[0], None
        data[name] = pm.Data(name, values, dims=dims)
    return data


def _variables(
    cohort: Cohort, given: dict[str, Any], derived: bool, deviations: Collection[str]
) -> dict[str, Any]:
    """Add the latents to the current model, and derived nodes that are not computed by cell."""
    layout = cohort.layout
    by_cell = {SUBJECT, ITEM} if layout.joint else {ITEM}
    nodes = [
        node.name
        for node in layout.derived
        if derived and not by_cell <= set(layout.plates_of_nodes[node.name])
    ]
    if not layout.joint:
        return add_nodes(layout, {}, nodes, deviations)

    def levels(node: Node, plates: tuple[Plate, ...]) -> tuple[np.ndarray, ...]:
        at = indices(cohort, node, plates)
        of_items = isinstance(node, MetaFeature) and node.per == ITEM
        return tuple(cohort.first_row[items] for items in at) if of_items else at

    sizes = {name: len(names) for name, names in cohort.levels.items()}
    return add_nodes(layout, given, nodes, deviations, levels, sizes)


def _add_outcomes(cohort: Cohort, by_node: dict[str, Any], cells: str) -> None:
    """Add the outcomes of cells to the current model, with the values that they depend on."""
    layout, dims = cohort.layout, tuple(cohort.layout.dims)
    trials = pm.Data(trials_name(layout), cohort.trials, dims=cells)
    successes = pm.Data(successes_name(layout), cohort.successes, dims=cells)
    bounded = pt.clip(evaluate(layout.outcome.expression, by_node, dims), EDGE, 1 - EDGE)
    name, unseen = layout.outcome.name, layout.outcome.unseen
    if unseen is None:
        chance = bounded[(slice(None), *[0] * len(dims))] if dims else bounded
        pm.Binomial(name, n=trials, p=chance, observed=successes, dims=cells)
        return
    axes = (slice(None), *(slice(None) if dim == unseen.dim else 0 for dim in dims))
    weights = pt.as_tensor(evaluate(unseen.weights, by_node, dims))
    bounded, weights = pt.broadcast_arrays(bounded, weights)
    binomial = pm.Binomial.dist(n=trials[:, None], p=bounded[axes])
    pm.Mixture(name, weights[axes], comp_dists=binomial, observed=successes, dims=cells)


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
    for node in ancestry(layout.outcome):
        if isinstance(node, Call):
            _reach(node.function.formula, reached)
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
