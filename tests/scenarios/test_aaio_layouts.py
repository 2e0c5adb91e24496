"""The two layouts of the Animal-AI Olympics: the paper's, node by node, and ours."""

import math

import numpy as np
import pytest
from helpers import declared

from measurement_layouts import Bias, Capability, Derived, MetaFeature, Noise, Success
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios import animal_ai_olympics as aaio

PUBLISHED = aaio.published_layout()
RECOMMENDED = aaio.recommended_layout()
ROUNDING = 1e-12  # some ten operations on numbers of size 10


def sigma(x):
    return 1 / (1 + np.exp(-x))


@pytest.fixture
def values():
    """Values of every node without parents, a thousand of each."""
    rng = np.random.default_rng(3)
    return {
        "rewardSize": rng.uniform(-1.9, 1.9, 1000),
        "rewardDistance": rng.uniform(-2.4, 2.4, 1000),
        "rewardBehind": rng.choice([0, 0.5, 1], 1000),
        "XPos": rng.choice([-1.0, 0, 1], 1000),
        "navigationAbility": rng.uniform(0, 5.3, 1000),
        "visualAbility": rng.uniform(0, 1.9, 1000),
        "rightLeftBias": rng.normal(size=1000),
        "noiseLevel": rng.uniform(size=1000),
        "meanFailure": rng.uniform(size=1000),
        "distance": rng.uniform(1, 60, 1000),
        "size": rng.uniform(0.25, 8, 1000),
        "turningCost": rng.uniform(0, 20, 1000),
        "navigationSlope": rng.uniform(0.05, 1, 1000),
        "visualSlope": rng.uniform(0.5, 5, 1000),
    }


def computed(layout, name, values):
    return evaluate(layout.nodes[name], values)


# Table 3 of Burden et al. (2023): name, type, prior. `ScaledBeta(1, 1, a, b)` is Uniform(a, b).
# The bias is spelled as in Figure 9; Table 3 writes rightleftBias.
TABLE_3_LATENTS = {
    "navigationAbility": (Capability, "Uniform", {"lower": 0, "upper": 5.3}, (0, 5.3)),
    "visualAbility": (Capability, "Uniform", {"lower": 0, "upper": 1.9}, (0, 1.9)),
    "rightLeftBias": (Bias, "Normal", {"mu": 0, "sigma": 1}, (-math.inf, math.inf)),
    "noiseLevel": (Noise, "Uniform", {"lower": 0, "upper": 1}, (0, 1)),
}
TABLE_3_LEVELS = {"rewardBehind": (0, 0.5, 1), "XPos": (-1, 0, 1)}


def test_table_3_names():
    assert declared.names(PUBLISHED) == {
        MetaFeature: {"rewardSize", "rewardDistance", "rewardBehind", "XPos"},
        Capability: {"navigationAbility", "visualAbility"},
        Bias: {"rightLeftBias"},
        Noise: {"noiseLevel"},
        Derived: {"rightLeftEffect", "navigationPerformance", "visualPerformance"},
        Success: {"taskPerformance"},
    }


@pytest.mark.parametrize("name", TABLE_3_LATENTS)
def test_table_3_priors(name):
    assert declared.latent(PUBLISHED, name) == TABLE_3_LATENTS[name]


@pytest.mark.parametrize("name", TABLE_3_LEVELS)
def test_table_3_levels(name):
    assert PUBLISHED.nodes[name].levels == TABLE_3_LEVELS[name]


def published_navigation(v):
    effort = v["rewardDistance"] * (0.5 * v["rewardBehind"] + 1)
    return sigma(v["navigationAbility"] - effort + v["rightLeftBias"] * v["XPos"])


def test_table_3_task_performance(values):
    noise, explained = values["noiseLevel"], published_navigation(values)
    explained = explained * sigma(values["visualAbility"] - values["rewardSize"])
    expected = (1 - noise) * explained + noise * values["meanFailure"]
    assert [constant.name for constant in PUBLISHED.constants] == ["meanFailure"]
    found = computed(PUBLISHED, "taskPerformance", values)
    assert found == pytest.approx(expected, abs=ROUNDING)


def test_recommended_task_performance(values):
    v = values
    reach = v["distance"] + v["turningCost"] * v["rewardBehind"] - v["rightLeftBias"] * v["XPos"]
    navigate = sigma(v["navigationSlope"] * (v["navigationAbility"] - reach))
    see = sigma(v["visualSlope"] * (v["visualAbility"] - np.log2(v["distance"] / v["size"])))
    expected = (1 - v["noiseLevel"]) * navigate * see + v["noiseLevel"] / 2
    found = computed(RECOMMENDED, "taskPerformance", values)
    assert found == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize(("distance", "size", "octaves"), [(8, 0.5, 4), (3, 3, 0), (1, 8, -3)])
def test_apparent_smallness(distance, size, octaves):
    assert aaio.apparent_smallness(float(distance), float(size)) == pytest.approx(octaves)
