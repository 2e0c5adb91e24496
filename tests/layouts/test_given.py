"""Meta-features that are undefined on some items: declared, checked, written and drawn."""

import math
import pickle

import pytest

import measurement_layouts as ml
from measurement_layouts import LayoutError, MetaFeature
from measurement_layouts.layouts.drawing import matplotlib as fallback
from measurement_layouts.linking import (
    generalised_mean,
    linking_function,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
)

OCCLUDER = MetaFeature("occluderPresence", levels=(0, 1))
LABELS = ("early", "late")


def timed(**changes):
    declared = {"low": 0, "high": 4, "unit": "s", "given": OCCLUDER}
    return MetaFeature("timeUnderOcc", **declared | changes)


def sees():
    sight = ml.Capability("sight", low=0, high=2)
    return logistic(sight - MetaFeature("smallness", low=0, high=2))


TIME = timed()


def remembers(time=TIME, **changes):
    memory = {"low": 0, "high": 6, "unit": "s"} | changes
    return logistic(ml.Capability("memory", **memory) - time)


def layout(probability):
    return ml.Layout("occlusion", ml.Success("taskPerformance", probability))


def sound(**changes):
    through = presence(remembers(timed(**changes)), OCCLUDER)
    return layout(mixture(sees() * through, by=ml.Noise("noise"), toward=mean_failure))


@pytest.mark.parametrize(
    "flag",
    [
        "occluderPresence",
        1,
        ml.Capability("occluderPresence", low=0, high=1),
        OCCLUDER * 1,
        MetaFeature("height", low=1, high=2),
        MetaFeature("height", levels=(-1, 1)),
        MetaFeature("flags", levels=(0, 1), labels=LABELS),
    ],
    ids=str,
)
def test_a_flag_is_a_meta_feature_that_can_be_zero(flag):
    with pytest.raises(LayoutError, match=r"timeUnderOcc: given=.* give a MetaFeature without lab"):
        timed(given=flag)


@pytest.mark.parametrize(
    ("declared", "stand_in"),
    [
        ({"low": 0, "high": 4}, 0),
        ({"low": -2, "high": 4}, 0),
        ({"low": 1, "high": 4}, 1),
        ({"low": -math.inf, "high": -3}, -3),
        ({"low": -math.inf, "high": math.inf}, 0),
        ({"levels": (5, -2, 3)}, -2),
    ],
)
def test_the_stand_in_is_the_value_nearest_zero(declared, stand_in):
    assert MetaFeature("it", **declared).stand_in == stand_in


def in_the_dark():
    """Need memory where the light is out, which it may be under an occluder only."""
    dark = MetaFeature("dark", levels=(0, 1), given=OCCLUDER)
    return presence(presence(remembers(timed(given=dark)), dark), OCCLUDER)


@linking_function(range=(0, 1), domain={"ability": (0, 1)})
def counted(ability, number):
    """Require an ability as often as its obstacle is there."""
    return ability**number


LABELLED = {"labels": LABELS, "dim": "phase"}
SHARE = 0.5 * sees()


@pytest.mark.parametrize(
    "probability",
    [
        presence(remembers(), OCCLUDER),
        presence(remembers(timed(low=-math.inf, high=math.inf)), OCCLUDER),
        logistic(ml.Capability("memory", low=0, high=6, unit="s") - TIME * OCCLUDER),
        generalised_mean(presence(remembers(), OCCLUDER), sees(), power=0),
        product(presence(remembers(timed(**LABELLED), **LABELLED), OCCLUDER), over="phase"),
        presence(product(remembers(timed(**LABELLED), **LABELLED), over="phase"), OCCLUDER),
        counted(remembers(), OCCLUDER),
        in_the_dark(),
        SHARE + 0.5 * presence(remembers(timed(low=None, high=None, levels=(1, 2, 3))), OCCLUDER),
    ],
    ids=str,
)
def test_an_outcome_that_needs_it_only_where_it_is_defined(probability):
    assert layout(sees() * probability).nodes["timeUnderOcc"].given is not None


SOMEHOW = presence(sees(), OCCLUDER)


@pytest.mark.parametrize(
    "probability",
    [
        SOMEHOW * remembers(),
        SOMEHOW * remembers(timed(low=-math.inf, high=math.inf)),
        SOMEHOW * remembers(timed(low=None, high=None, levels=(1, 2, 3))),
        SOMEHOW * presence(remembers(), MetaFeature("other", levels=(0, 1))),
        (1 - 1e-8) * SOMEHOW + 1e-8 * remembers(),  # hardly at all
        1e-12 * SOMEHOW * remembers(),  # all of something small
        mixture(SOMEHOW, by=ml.Noise("noise"), toward=remembers()),
        presence(remembers(), 1 - OCCLUDER),  # the flag is turned
        presence(remembers(), 0.99 * OCCLUDER + 0.01),
        SOMEHOW * product(remembers(timed(**LABELLED), **LABELLED), over="phase"),
        SOMEHOW * product(*(remembers() for _ in range(9))),
        # demands in milliseconds, so that chances are 0 or 1 nearly everywhere
        SOMEHOW * remembers(timed(high=1e6), high=1e6),
        # no number where it stands for nothing
        SOMEHOW * presence(logistic(ml.Bias("b") * OCCLUDER / timed(unit=None)), OCCLUDER),
    ],
    ids=str,
)
def test_an_outcome_that_needs_it_where_it_is_undefined(probability):
    complaint = (
        "^timeUnderOcc: it is undefined where occluderPresence is 0, but taskPerformance depends "
        r"on it there; wrap the part that uses timeUnderOcc, as in presence"
    )
    with pytest.raises(LayoutError, match=complaint):
        layout(probability)


def test_a_layout_survives_writing_and_pickling():
    made = sound()
    again = ml.Layout.from_dict(made.to_dict())
    assert again == made
    assert again.fingerprint == made.fingerprint
    assert again.nodes["timeUnderOcc"].given == OCCLUDER
    assert pickle.loads(pickle.dumps(made)) == made
    nested = layout(in_the_dark())
    assert ml.Layout.from_dict(nested.to_dict()) == nested


def test_written_layouts_that_are_damaged():
    written = sound().to_dict()
    node = next(node for node in written["nodes"] if node["name"] == "timeUnderOcc")
    for given, complaint in (
        ({"node": "nowhere"}, "this is not a written layout"),
        ({"node": "timeUnderOcc"}, "timeUnderOcc: it depends on itself"),
        ({"node": "sight"}, "timeUnderOcc: given=Capability.* give a MetaFeature without labels"),
        ("occluderPresence", "timeUnderOcc: given='occluderPresence' cannot be"),
    ):
        node["given"] = given
        with pytest.raises(LayoutError, match=complaint):
            ml.Layout.from_dict(written)


def test_diagrams_say_where_it_is_defined():
    said = "where occluderPresence ≠ 0"
    assert said in sound().to_graphviz()
    assert "where occluderPresence #8800; 0" in sound().to_mermaid()
    assert "where" not in sound(given=None).to_graphviz()
    drawn = fallback.picture(sound(), "svg").decode()  # letters are outlines, with a comment
    assert f"<!-- {said} -->" in drawn
