"""The two layouts of object permanence: the paper's, node by node, and ours."""

import math

import numpy as np
import pytest
from helpers import declared
from helpers.op_by_hand import OBSTACLES, published, recommended

from measurement_layouts import (
    Bias,
    Capability,
    Derived,
    MetaFeature,
    Noise,
    Success,
)
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


def test_recommended_task_performance(values):
    found = computed(RECOMMENDED, "taskPerformance", values)
    assert found == pytest.approx(recommended(values), abs=ROUNDING)
    assert found != pytest.approx(published(values)["taskPerformance"], abs=ROUNDING)
