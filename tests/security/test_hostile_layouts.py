"""A layout's dictionary may come from anywhere: it names things that exist, and is never run."""

import copy
import json
import re
import time

import pytest

import measurement_layouts as ml
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.linking import LayoutError, logistic
from measurement_layouts.linking.units import parse

CODE = "__import__('os').system('touch canary')"
REMEDY = "; write a word, or words joined by '*', '/' and '**', such as 's*position'"
NO_PRODUCT = f"(it is not a product of powers of words){REMEDY}"


@pytest.fixture
def written():
    """A layout as it lies in a file, which reads back."""
    skill = ml.Capability("skill", low=0, high=1, unit="m")
    difficulty = ml.MetaFeature("difficulty", low=0, high=1, unit="m")
    layout = ml.Layout("test", ml.Success("right", logistic(skill - difficulty)))
    found = json.loads(json.dumps(layout.to_dict()))
    assert ml.Layout.from_dict(copy.deepcopy(found)) == layout
    return found


def call(written):
    return written["nodes"][2]["expression"]


CHANGES = {
    "a function named eval": (
        lambda w: call(w).update(call="eval"),
        "linking function 'eval': it is not known here",
    ),
    "an attribute as a function": (
        lambda w: call(w).update(call="__class__"),
        "linking function '__class__': it is not known here",
    ),
    "code as a function": (
        lambda w: call(w).update(call=CODE),
        f"linking function {CODE!r}: it is not known here",
    ),
    "code as an operation": (
        lambda w: call(w)["of"][0].update(op="__reduce__"),
        "this is not a written layout (KeyError: '__reduce__')",
    ),
    "code as a number": (
        lambda w: call(w)["of"].__setitem__(1, CODE),
        f"{CODE!r} (str) cannot be part of an expression",
    ),
    "code as an end of a range": (
        lambda w: w["nodes"][0].update(low=CODE),
        f"skill: low={CODE!r} is not a number",
    ),
    "code as a unit": (
        lambda w: w["nodes"][0].update(unit=CODE),
        f"the unit {CODE!r} cannot be read {NO_PRODUCT}",
    ),
    "code as a family": (
        lambda w: w["nodes"][0]["prior"].update(family=CODE),
        f"Prior({CODE!r}): the family must be a name; give the name of a PyMC "
        f"distribution, such as 'Normal' or 'Beta'",
    ),
    "a class as a kind": (
        lambda w: w["nodes"][0].update(kind="object"),
        "this is not a written layout (KeyError: 'object')",
    ),
    "a method as a field": (
        lambda w: w["nodes"][0].update(__class__="object"),
        "this is not a written layout (TypeError: ",
    ),
    "a path as a name": (
        lambda w: w["nodes"][0].update(name="../skill"),
        "Capability: the name '../skill' must start with a letter",
    ),
    "a constant that is an attribute": (
        lambda w: call(w)["of"].__setitem__(1, {"constant": "__globals__"}),
        "this is not a written layout (KeyError: '__globals__')",
    ),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_a_dictionary_is_refused(written, change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    change(written)
    with pytest.raises(LayoutError, match=re.escape(message)):
        ml.Layout.from_dict(written)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", ["Model", "CustomDist", "Simulator", "__doc__", "sample"])
def test_a_family_names_a_distribution_only(written, family):
    parameters = {"lower": 0, "upper": 1}
    prior = {"family": family, "parameters": parameters}
    written["nodes"][0] |= {"prior": prior, "low": None, "high": None}
    layout = ml.Layout.from_dict(written)
    with pytest.raises(LayoutError, match=f"skill: .*{family}"):
        draw_prior(layout)


@pytest.mark.parametrize(
    "text",
    [
        *("9**9**9**9", "m**9**9**9", "9**99999999", "m**(9**9**9)", "m**1e400", "m²**9**9"),
        *("m ^ 9 ^ 9 ^ 9", "sq cubic square m squared cubed", "m.__class__", "(lambda: 1)()"),
        *("[x for x in m]", "m\x00", "m\x1b[31m", "a" * 301, "((" * 150 + "m", "a" * 200 + "!"),
    ],
)
def test_a_unit_is_not_computed(text):
    start = time.process_time()
    with pytest.raises(LayoutError) as caught:
        parse(text)
    assert str(caught.value) == f"the unit {text[:60]!r} cannot be read {NO_PRODUCT}"
    assert time.process_time() - start < 1  # the first takes for ever without the check


@pytest.mark.parametrize(
    ("text", "same"),
    [
        *(("m**2", "m*m"), ("1/m", "m**-1"), ("J / kg / K", "J*kg**-1*K**-1"), ("µm", "μm")),
        *(("m**0.5*m**0.5", "m"), ("s*position", "position * second")),
    ],
)
def test_units_that_are_products_are_read(text, same):
    assert parse(text) == parse(same)
