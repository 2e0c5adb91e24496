"""The public API as one whole: the same word means the same, everywhere."""

import inspect

import pytest

import measurement_layouts as ml
from measurement_layouts import linking

ROOMS = {
    "ml": ml,
    "linking": linking,
    "annotation": ml.annotation,
    "batteries": ml.batteries,
    "decisions": ml.decisions,
    "estimation": ml.estimation,
    "evaluations": ml.evaluations,
    "reports": ml.reports,
    "validation": ml.validation,
    "dispositions": ml.dispositions,
    "plots": ml.plots,
}

DEFAULTS = {
    "prob": {0.9},
    "seed": {1, None},
    "progressbar": {True},
    "n_jobs": {None},
    "subjects": {None},
    "nodes": {None},
    "ax": {None},
    "memory_mib": {256},
    "overwrite": {False},
}
"""What an option is unless it is given; one that must be given is no option."""

FIRST = ("layout", "layouts", "fit", "fits", "methods", "forecast", "scores")
"""What comes before the evaluation that it is held against."""


def callables(room, prefix):
    """Functions of a room, and methods of its classes, by name."""
    for name in room.__all__:
        value = getattr(room, name)
        if inspect.ismodule(value) or name == "Rules":
            continue
        if inspect.isfunction(value):
            yield f"{prefix}.{name}", value
        if inspect.isclass(value):
            for method, function in vars(value).items():
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{prefix}.{name}.{method}", function


EVERYTHING = dict(pair for prefix, room in ROOMS.items() for pair in callables(room, prefix))


def faults(function):
    """What is said otherwise than elsewhere."""
    signature = inspect.signature(function)
    found = []
    for name, parameter in signature.parameters.items():
        given = parameter.default is not inspect.Parameter.empty
        if given and name in DEFAULTS and parameter.default not in DEFAULTS[name]:
            found.append(f"{name}={parameter.default!r}")
        if given and name in DEFAULTS and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            positional = function.__qualname__ in POSITIONAL.get(name, ())
            found += [] if positional else [f"{name} is no keyword"]
        if parameter.annotation is inspect.Parameter.empty and name not in ("self", "cls"):
            found.append(f"{name} has no type")
    if signature.return_annotation is inspect.Signature.empty:
        found.append("no type of what is returned")
    names = list(signature.parameters)
    found += [
        f"{first} after evaluation"
        for first in FIRST
        if {first, "evaluation"} <= set(names) and required_late(signature, first)
    ]
    return found


def required_late(signature, name):
    late = list(signature.parameters).index(name) > list(signature.parameters).index("evaluation")
    return late and signature.parameters[name].default is inspect.Parameter.empty


POSITIONAL = {
    "subjects": ("Evaluation.select", "Fit.places"),
    "nodes": ("derived",),
}
"""Methods with one option or two, which may be given without their names."""


def test_there_are_many():
    assert len(EVERYTHING) > 120


@pytest.mark.parametrize("name", EVERYTHING)
def test_options_have_one_name_one_default_and_one_place(name):
    assert faults(EVERYTHING[name]) == []


@pytest.mark.parametrize("room", ROOMS.values(), ids=ROOMS)
def test_every_room_lists_its_names_once(room):
    assert len(set(room.__all__)) == len(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)
    assert set(room.__all__) <= set(dir(room))


@pytest.mark.parametrize("name", ml.plots.__all__)
def test_figures_take_axes_and_return_them(name):
    signature = inspect.signature(getattr(ml.plots, name))
    assert list(signature.parameters)[-1] == "ax"
    returned = getattr(signature.return_annotation, "__name__", signature.return_annotation)
    assert returned.split(".")[-1] in ("Axes", "PolarAxes", "ndarray")
