"""Layouts as plain data: round trips, fingerprints, and dictionaries that are damaged."""

import copy
import json
import random

import pytest
from helpers.random_layouts import random_layouts, rich_layout, survival
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement_layouts import Bias, Capability, Layout, LayoutError, MetaFeature, Success
from measurement_layouts.linking import linking_function as decorator
from measurement_layouts.linking import logistic


def through_json(layout, functions=(survival,)):
    return Layout.from_dict(json.loads(json.dumps(layout.to_dict(), sort_keys=True)), functions)


def written():
    return json.loads(json.dumps(rich_layout().to_dict()))


def node(data, name):
    return next(node for node in data["nodes"] if node["name"] == name)


def test_the_rich_layout_returns_from_json():
    layout = rich_layout()
    again = through_json(layout)
    assert again == layout
    assert again.fingerprint == layout.fingerprint
    assert again.to_dict() == layout.to_dict()
    assert str(again) == str(layout)
    assert list(again.nodes) == list(layout.nodes)
    steps = dict(
        again.outcome.expression.arguments[0].arguments[0].right.right.arguments[0].left.options
    )
    assert type(steps["steps"]) is int  # range(steps) must still work
    assert steps["wording"] == "inf"


@given(layout=random_layouts())
def test_every_layout_returns_from_json(layout):
    again = through_json(layout)
    assert again == layout
    assert again.fingerprint == layout.fingerprint
    assert json.dumps(layout.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "changes", [{"low": 1}, {"power": 2}, {"power": float("inf")}, {"weight": 0.25}, {"steps": 4}]
)
def test_the_fingerprint_changes_with_what_is_computed(changes):
    assert rich_layout(**changes).fingerprint != rich_layout().fingerprint


def ability(**changes):
    fields = {"name": "ability", "low": 0, "high": 2, "unit": "m"} | changes
    return Capability(**fields)


def small(**parts):
    demand = parts.get("demand", MetaFeature("demand", low=0, high=2, unit="m"))
    margin = parts.get("ability", ability()) - demand + parts.get("bias", Bias("lean"))
    return Layout(
        parts.get("name", "small"), parts.get("success", Success)("passed", logistic(margin))
    )


@pytest.mark.parametrize(
    "changed",
    [
        small(ability=ability(name="other")),
        small(ability=ability(high=3)),
        small(ability=ability(prior=Bias("lean").prior, low=None, high=None)),
        small(ability=ability(unit="cm"), demand=MetaFeature("demand", low=0, high=2, unit="cm")),
        small(demand=MetaFeature("demand", low=0, high=2.5, unit="m")),
        small(demand=MetaFeature("demand", levels=(0, 2), unit="m")),
        small(bias=Bias("lean", unit="m")),
        small(bias=-Bias("lean")),
        small(bias=Bias("lean") + 1e-9),
    ],
)
def test_the_fingerprint_changes_with_every_field(changed):
    assert changed.fingerprint != small().fingerprint
    assert changed != small()


def test_the_fingerprint_of_a_custom_function_follows_its_formula():
    def layout_with(power):
        @decorator(range=(0, 1))
        def squash(margin):
            return 1 / (1 + margin**power)

        return Layout("one", Success("passed", squash(ability()))), squash

    (one, _), (same, _), (other, different) = layout_with(2), layout_with(2), layout_with(4)
    assert one.fingerprint == same.fingerprint
    assert one == same
    assert one.fingerprint != other.fingerprint
    with pytest.raises(LayoutError, match="'squash': its source differs from that of the function"):
        Layout.from_dict(one.to_dict(), [different])


def test_a_custom_function_named_like_one_of_ours_is_told_apart():
    @decorator(range=(0, 1))
    def product(*p):
        return p[0]

    part = logistic(ability())
    layout = Layout("one", Success("passed", product(part, part)))
    assert through_json(layout, [product]) == layout
    with pytest.raises(
        LayoutError, match=r"'product': it is not known here; pass it as functions="
    ):
        through_json(layout, ())
    assert through_json(rich_layout(), [product, survival]) == rich_layout()


def edit(change):
    data = written()
    change(data)
    return data


def cycle(data):
    node(data, "weakest")["expression"] = {"node": "fitting"}
    node(data, "fitting")["expression"] = {"node": "weakest"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (cycle, "weakest:"),
        (lambda data: data.update(outcomes=["far"]), "its outcome is MetaFeature"),
        (lambda data: data.update(outcomes=["nobody"]), r"written layout \(KeyError:"),
        (lambda data: data.pop("nodes"), "this is not a written"),
        (lambda data: data.update(nodes=3), "this is not a written layout"),
        (lambda data: data.update(name=""), "the layout's name '' is not"),
        (lambda data: node(data, "risk").update(kind="Wish"), "this is not a written"),
        (lambda data: node(data, "risk").update(low=9), "risk:"),
        (lambda data: node(data, "risk").update(low="x"), "risk:"),
        (lambda data: node(data, "risk").update(colour="red"), "this is not a written"),
        (lambda data: node(data, "risk").update(unit="s"), "has unit level and is in"),
        (lambda data: node(data, "risk").update(unit=7), "risk:"),
        (
            lambda data: node(data, "able").update(expression={"op": "?", "of": [1, 2]}),
            "this is not a written",
        ),
        (
            lambda data: node(data, "able").update(expression={"op": "+", "of": [1]}),
            "not a written",
        ),
        (
            lambda data: node(data, "able").update(expression={"constant": "pi"}),
            "not a written layout",
        ),
        (
            lambda data: node(data, "able")["expression"].update(call="magic"),
            "linking function 'magic':",
        ),
        (
            lambda data: node(data, "able")["expression"].update(of=[1, 2, 3]),
            "not a written layout",
        ),
        (
            lambda data: node(data, "weakest")["expression"]["options"].update(power=None),
            "power=None; give a number",
        ),
        (
            lambda data: node(data, "weakest")["expression"]["options"].update(colour="red"),
            "got an unexpected keyword",
        ),
    ],
)
def test_a_damaged_dictionary_is_refused(change, complaint):
    with pytest.raises(LayoutError, match=complaint):
        Layout.from_dict(edit(change), [survival])


@pytest.mark.parametrize("data", [None, 5, "layout", [], {}, {"nodes": []}, {"nodes": [1]}])
def test_what_is_no_dictionary_of_a_layout_is_refused(data):
    with pytest.raises(LayoutError, match="this is not a written layout"):
        Layout.from_dict(data)


@pytest.mark.parametrize("number", [6, 8])
def test_another_format(number):
    with pytest.raises(LayoutError) as refused:
        Layout.from_dict({**written(), "format": number}, (survival,))
    assert str(refused.value) == (
        f"layout {rich_layout().name!r}: it is written in format {number}, and this version "
        "reads 7; declare it again, or use the version that wrote it"
    )


def test_a_formula_nested_without_end_is_refused():
    expression = 1.0
    for _ in range(5000):
        expression = {"op": "+", "of": [expression, 1.0]}
    data = {"format": 7, "name": "deep", "outcomes": ["y"]}
    data["nodes"] = [{"kind": "Success", "name": "y"}]
    data["nodes"][0]["expression"] = expression
    # how deep Python recurses depends on what else is imported; either way the error is ours
    with pytest.raises(LayoutError, match=r"not a written layout \(RecursionError|10,001 parts"):
        Layout.from_dict(data)


JUNK = [None, True, -1, 0, 1.5, 1e400, "", "x", "inf", "nan", "talent", [], [1], ["a"], {}]
JUNK += [{"node": "talent"}, {"node": 3}, {"op": "/", "of": [1, 0]}, {"number": "x"}, ["a", "a"]]


def places(data, path=()):
    """Paths of everything inside nested dictionaries and lists."""
    inside = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inside:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def damage(data, choice):
    """Delete, replace or double something at random."""
    *path, last = choice.choice(list(places(data)))
    holder = data
    for key in path:
        holder = holder[key]
    deed = choice.choice(["delete", "replace", "replace", "double"])
    if deed == "delete":
        del holder[last]
    elif deed == "replace":
        holder[last] = copy.deepcopy(choice.choice(JUNK))
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[last]))
    else:
        holder[f"{last}_"] = holder[last]


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32), times=st.integers(1, 3))
def test_damage_anywhere_raises_nothing_but_a_layout_error(seed, times):
    data, choice = written(), random.Random(seed)
    for _ in range(times):
        damage(data, choice)
    try:
        read = Layout.from_dict(data, [survival])
    except LayoutError:
        return
    assert through_json(read) == read
