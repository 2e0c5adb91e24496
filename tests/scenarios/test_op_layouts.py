"""The two layouts of object permanence: the paper's, node by node, and ours."""

import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytensor
import pytest
from helpers import declared
from helpers.function_cases import AS_WRITTEN
from helpers.op_by_hand import OBSTACLES, published, recommended, sigma

from measurement_layouts import (
    Bias,
    Capability,
    Derived,
    Evaluation,
    Layout,
    MetaFeature,
    Noise,
    Slope,
    Success,
    to_pymc,
)
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence.battery import COLOURS, HIDING

PUBLISHED = op.published_layout()
RECOMMENDED = op.recommended_layout()
BOTH = pytest.mark.parametrize("layout", [PUBLISHED, RECOMMENDED], ids=["published", "recommended"])
ROUNDING = 1e-12  # some ten operations on numbers of size 10
COUNT = 1000


@pytest.fixture(scope="module")
def values():
    """Values of every node without parents, a thousand of each; a column per label."""
    rng = np.random.default_rng(3)
    chances = ("noiseLevel", "meanFailure", "lastSeenStrategy", "similarAbility")
    flags = ("occluderPresence", "similarPositions", "rewardDeflected")
    uniform = {f"{what}Ability": (0, 1) for what in OBSTACLES} | dict.fromkeys(chances, (0, 1))
    uniform |= {"memoryAbility": (0, 4.8), "OPAbility": (0, 52.8), "visualAbility": (0, 6)}
    uniform |= {"flatNavAbility": (0, 56), "goalDistance": (0, 56), "goalSize": (0.4, 5)}
    uniform |= {"timeUnderOcc": (0, 4), "OPSlope": (0.1, 2), "visualSlope": (0.5, 5)}
    uniform |= {f"{colour.lower()}Tolerance": (0, 306) for colour in COLOURS}
    uniform |= {f"occluder{colour}": (0, 255) for colour in COLOURS}
    paradigm = rng.integers(0, len(HIDING) + 1, COUNT)  # the last is none of them
    return {
        **{name: rng.uniform(*ends, COUNT) for name, ends in uniform.items()},
        **{name: rng.integers(0, 2, COUNT) for name in flags},
        **{f"{what}Presence": rng.integers(0, 2, COUNT) for what in OBSTACLES},
        "rightLeftPosition": rng.integers(-1, 2, COUNT),
        "numberOfPositions": rng.integers(1, 12, COUNT),
        "rightLeftBias": rng.normal(size=COUNT),
        "straightAhead": rng.normal(4, 2, COUNT),
        "paradigm": (paradigm[:, None] == np.arange(len(HIDING))).astype(float),
        "paradigmAbility": rng.uniform(size=(COUNT, len(HIDING))),
    }


def computed(layout, name, values):
    """A node's value at each point."""
    dims = tuple(layout.dims)
    wide = ("paradigm", "paradigmAbility")
    known = {
        key: value if key in wide or not dims else value[:, None] for key, value in values.items()
    }
    return np.reshape(evaluate(layout.nodes[name], known, dims), COUNT)


# Table 5 of Burden et al. (2023): name, type, prior. Its upper ends of OPAbility and memoryAbility
# are 48.4 and 4.4, and its flatNavAbility is N(0, 1) (the layout says why); Uniform is Beta(1, 1).
TABLE_5_LATENTS = {
    "OPAbility": (Capability, "Uniform", {"lower": 0, "upper": 52.8}, (0, 52.8)),
    "memoryAbility": (Capability, "Uniform", {"lower": 0, "upper": 4.8}, (0, 4.8)),
    "visualAbility": (Capability, "Uniform", {"lower": 0, "upper": 6}, (0, 6)),
    "rampAbility": (Capability, "Uniform", {"lower": 0, "upper": 1}, (0, 1)),
    "lavaAbility": (Capability, "Uniform", {"lower": 0, "upper": 1}, (0, 1)),
    "platformAbility": (Capability, "Uniform", {"lower": 0, "upper": 1}, (0, 1)),
    "flatNavAbility": (Capability, "Uniform", {"lower": 0, "upper": 56}, (0, 56)),
    "rightLeftBias": (Bias, "Normal", {"mu": 0, "sigma": 1}, (-math.inf, math.inf)),
    "noiseLevel": (Noise, "Uniform", {"lower": 0, "upper": 1}, (0, 1)),
}
TABLE_5_META_FEATURES = {  # levels, or the ends of the range
    **dict.fromkeys(("rampPresence", "lavaPresence", "platformPresence"), (0, 1)),
    "occluderPresence": (0, 1),
    "rightLeftPosition": (-1, 0, 1),
    "goalDistance": [0, 56],
    "goalSize": [0.4, 5],
    "timeUnderOcc": [0, 4],
    "numberOfPositions": [1, 11],
}
TABLE_5_DERIVED = {
    *("rampPerformance", "platformPerformance", "lavaPerformance", "flatNavPerformance"),
    *("navigationPerformance", "memoryPerformance", "OPPerformance"),
    *("visualAcuityPerformance", "rightLeftEffect"),
}


def test_table_5_names():
    latents = {
        kind: {name for name, row in TABLE_5_LATENTS.items() if row[0] is kind}
        for kind in (Capability, Bias, Noise)
    }
    assert declared.names(PUBLISHED) == {
        MetaFeature: set(TABLE_5_META_FEATURES),
        **latents,
        Derived: TABLE_5_DERIVED,
        Success: {"taskPerformance"},
    }
    assert len(latents[Capability]) == 7


@pytest.mark.parametrize("name", TABLE_5_LATENTS)
def test_table_5_priors(name):
    assert declared.latent(PUBLISHED, name) == TABLE_5_LATENTS[name]


@pytest.mark.parametrize("name", TABLE_5_META_FEATURES)
@BOTH
def test_table_5_meta_features(layout, name):
    node, expected = layout.nodes[name], TABLE_5_META_FEATURES[name]
    if isinstance(expected, tuple):
        assert node.levels == expected
    else:
        assert (node.levels, [node.low, node.high]) == (None, expected)
    undefined = name in ("timeUnderOcc", "numberOfPositions")
    assert (node.given is not None) == undefined
    assert not undefined or node.given.name == "occluderPresence"


def test_table_5_units():
    """Appendix D.3: each ability has its demand's unit, object permanence seconds times places."""
    units = {
        name: str(node.unit) for name, node in PUBLISHED.nodes.items() if hasattr(node, "unit")
    }
    for ability, demand in (
        ("memoryAbility", "timeUnderOcc"),
        ("visualAbility", "goalSize"),
        ("flatNavAbility", "goalDistance"),
    ):
        assert units[ability] == units[demand]
    nodes = PUBLISHED.nodes
    both = nodes["timeUnderOcc"] * nodes["numberOfPositions"]
    assert str(both.unit) == units["OPAbility"]


@pytest.mark.parametrize("name", sorted({*TABLE_5_DERIVED, "taskPerformance"}))
def test_table_5_formulas(values, name):
    found = computed(PUBLISHED, name, values)
    assert found == pytest.approx(published(values)[name], abs=ROUNDING)


def test_formulas_as_printed_differ_where_the_layout_says(values):
    """The twin: only object permanence differs, and it by what the deviations come to."""
    printed, there = published(values, ours=False), values["occluderPresence"] == 1
    differ = {
        name
        for name, expected in printed.items()
        if computed(PUBLISHED, name, values) != pytest.approx(expected, abs=ROUNDING)
    }
    assert differ == {"OPPerformance", "taskPerformance"}
    longest = values | {"timeUnderOcc": np.full(COUNT, 4.0)}
    found = computed(PUBLISHED, "OPPerformance", longest)
    expected = published(longest, ours=False)["OPPerformance"]
    assert found[there] == pytest.approx(expected[there], abs=ROUNDING)
    spared = expected[~there] / sigma(longest["memoryAbility"] - 4)[~there]
    assert found[~there] == pytest.approx(spared, abs=ROUNDING)


def test_recommended_task_performance(values):
    found = computed(RECOMMENDED, "taskPerformance", values)
    assert found == pytest.approx(recommended(values), abs=ROUNDING)
    assert found != pytest.approx(published(values)["taskPerformance"], abs=ROUNDING)


def test_recommended_latents():
    kinds = {latent.name: type(latent) for latent in RECOMMENDED.latents}
    abilities = [name for name, row in TABLE_5_LATENTS.items() if row[0] is Capability]
    tolerances = [f"{colour.lower()}Tolerance" for colour in COLOURS]
    assert kinds == {
        **dict.fromkeys([*abilities, *tolerances, "paradigmAbility", "similarAbility"], Capability),
        **dict.fromkeys(("lastSeenStrategy", "straightAhead", "rightLeftBias"), Bias),
        **dict.fromkeys(("OPSlope", "visualSlope"), Slope),
        "noiseLevel": Noise,
    }
    for name in abilities:
        assert PUBLISHED.nodes[name].range in RECOMMENDED.nodes[name].range
        assert RECOMMENDED.nodes[name].range.low == 0


@BOTH
def test_nothing_depends_on_what_is_undefined(layout, values):
    """Neither in the formulas nor in how items are read."""
    hidden = values["occluderPresence"] == 1
    undefined = [feature.name for feature in layout.meta_features if feature.given is not None]
    colours = {f"occluder{colour}" for colour in COLOURS}
    assert set(undefined) - colours == {"numberOfPositions", "timeUnderOcc"}
    assert colours.issubset(undefined) == (layout is RECOMMENDED)
    shuffled = {name: values[name][::-1] for name in undefined}
    found = computed(layout, "taskPerformance", values)
    other = computed(layout, "taskPerformance", values | shuffled)
    assert (found[~hidden] == other[~hidden]).all()
    assert not np.allclose(found[hidden], other[hidden])
    items = op.battery()
    filled = items.fillna(dict.fromkeys(undefined, 3.0))
    assert items[undefined].isna().to_numpy().any()
    one, same = (read_features(layout, table) for table in (items, filled))
    assert all((one[name] == same[name]).all() for name in one)


@BOTH
def test_layouts_are_written_drawn_and_told_by_their_fingerprints(layout, tmp_path):
    again = next(make() for make in op.SCENARIO.layouts.values() if make().name == layout.name)
    assert again.fingerprint == layout.fingerprint
    read = Layout.from_dict(json.loads(json.dumps(layout.to_dict())))
    assert read.fingerprint == layout.fingerprint
    assert list(read.nodes) == list(layout.nodes)
    assert ET.parse(layout.draw(tmp_path / "layout.svg")).getroot().tag.endswith("svg")
    for text in (layout.to_graphviz(), layout.to_mermaid()):
        assert all(name in text for name in layout.nodes)
    assert PUBLISHED.fingerprint != RECOMMENDED.fingerprint


def fast(model, *outputs):
    """Compile without C or Numba."""
    return pytensor.function(
        model.value_vars, list(outputs), mode=AS_WRITTEN, on_unused_input="ignore"
    )


@BOTH
def test_likelihoods_of_the_model_are_those_by_hand(layout):
    """Of three agents in 200 arenas; at 0 of PyMC's scales, most latents are mid-range."""
    items = op.battery().sample(200, random_state=1)
    rules = {name: op.AGENTS[name].rule(items) for name in ("Agent4", "Agent6", "Agent18")}
    outcomes = np.random.default_rng(1).binomial(1, list(rules.values()))
    evaluation = Evaluation.from_wide(pd.DataFrame(outcomes, list(rules), items.index), items)
    normal = {"rightLeftBias": 0.0, "straightAhead": 0.0, "OPSlope": 1.0, "visualSlope": 1.0}
    profile = {
        latent.name: normal.get(latent.name, (latent.range.low + latent.range.high) / 2)
        for latent in layout.latents
    }
    features = {
        feature.name: np.squeeze(items[list(feature.columns)].fillna(1.0).to_numpy(float))
        for feature in layout.meta_features
    }
    for subject, passed in zip(rules, outcomes, strict=True):
        model = to_pymc(layout, evaluation, subject)
        assert {v.name for v in model.free_RVs} == {latent.name for latent in layout.latents}
        likelihood = fast(model, model.logp(vars=model.observed_RVs))
        shapes = [variable.type.shape for variable in model.value_vars]
        (found,) = likelihood(*(np.zeros([size or len(HIDING) for size in s]) for s in shapes))
        v = {**profile, **features, "meanFailure": 1 - passed.mean()}
        p = published(v)["taskPerformance"] if layout is PUBLISHED else recommended(v)
        expected = np.log(np.where(passed == 1, p, 1 - p)).sum()
        assert found == pytest.approx(expected, abs=1e-9 * abs(expected))
