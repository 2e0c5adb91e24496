"""The cognitive profile: latents, their priors, and what is refused."""

import math

import pytest

from measurement_layouts import (
    Bias,
    Capability,
    Layout,
    LayoutError,
    MetaFeature,
    Noise,
    Prior,
    Propensity,
    Slope,
    Success,
)
from measurement_layouts.linking import logistic

inf = math.inf
ABILITY = Capability("ability", prior=Prior("HalfNormal", sigma=3))


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: Capability("skill"), "skill:"),
        (lambda: Propensity("risk"), "risk:"),
        (lambda: Capability("skill", low=3, high=0), "skill:"),
        (lambda: Capability("skill", low=3, high=3), "skill:"),
        (lambda: Capability("skill", low=3), "skill:"),
        (lambda: Capability("skill", low=0, high=inf), "skill:"),
        (
            lambda: Capability("skill", low=0, high=5, prior=Prior("Normal", mu=0, sigma=1)),
            "skill:",
        ),
        (lambda: Capability("skill", prior="Normal"), "skill:"),
        (lambda: Noise("noise", prior=Prior("Normal", mu=0, sigma=1)), "noise:"),
        (lambda: Noise("noise", low=0, high=2), "noise:"),
        (lambda: Slope("steep", low=-1, high=2), "steep:"),
        (
            lambda: Capability(
                "skill",
                prior=Prior("Normal", mu=2 * MetaFeature("far", low=0, high=1), sigma=ABILITY),
            ),
            "skill:",
        ),
        (lambda: Capability("skill", prior={"a": Prior("Flat")}), "skill:"),
        (lambda: Capability("skill", prior={"a": Prior("Flat")}, labels=("a", "b")), "skill:"),
        (
            lambda: Capability(
                "skill", prior=dict.fromkeys("abc", Prior("Flat")), labels=("a", "b")
            ),
            "skill:",
        ),
        (lambda: Capability("skill", prior={"a": "Normal"}, labels=("a",)), "skill:"),
        (
            lambda: Noise(
                "noise", prior={"a": Prior("Uniform"), "b": Prior("Flat")}, labels=("a", "b")
            ),
            "noise:",
        ),
        (
            lambda: Capability(
                "skill",
                low=0,
                high=2,
                prior=dict.fromkeys("ab", Prior("HalfFlat")),
                labels=("a", "b"),
            ),
            "skill:",
        ),
        (
            lambda: Capability(
                "skill",
                prior={"a": Prior("Normal", mu=Bias("each", labels=("a",)), sigma=1)},
                labels=("a",),
            ),
            "skill:",
        ),
        (
            lambda: Capability(
                "skill",
                prior=Prior("Normal", mu=Capability("many", low=0, high=1, labels="ab"), sigma=1),
            ),
            "many:",
        ),
        (
            lambda: Capability(
                "skill",
                prior=Prior(
                    "Normal", mu=Capability("many", low=0, high=1, labels=("a", "b")), sigma=1
                ),
            ),
            "skill:",
        ),
    ],
)
def test_a_latent_refuses(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: Prior("Normal", mu="a"), r"Prior\('Normal'\): mu='a'"),
        (lambda: Prior("Normal", mu=None), "mu=None is neither"),
        (lambda: Prior("Normal", mu=[0, 1]), r"mu=\[0, 1\] is neither"),
        (lambda: Prior("Normal", mu=math.nan), "mu=nan is neither"),
        (lambda: Prior("Normal", mu=inf), "mu=inf is infinite; give a"),
        (lambda: Prior("Uniform", lower=3, upper=1), r"Prior\('Uniform', lower=3,"),
        (lambda: Prior("Uniform", lower=3, upper=3), "range from 3 to 3, which is"),
        (lambda: Prior("Uniform", lower=2), "range from 2 to 1"),
        (lambda: Prior("Exponential", lam=1 / Bias("tilt")), r"Prior\('Exponential'\):"),
        (lambda: Prior("Beta", mu=2 * Noise("slips"), sigma=0.1), r"Prior\('Beta'\): mu=2 ×"),
        (lambda: Prior("Cauchy", alpha=0, beta=0), "beta=0 must be positive;"),
        (lambda: Prior(""), r"Prior\(''\): the family"),
        (lambda: Prior(5), r"Prior\(5\): the family must"),
        (lambda: Prior("two words"), "the family must be a name;"),
    ],
)
def test_a_prior_refuses(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


def test_a_formula_in_a_prior_must_be_readable():
    rate = ABILITY
    for _ in range(200):
        rate = 1 + rate
    skill = Capability("skill", prior=Prior("Exponential", lam=rate))
    with pytest.raises(LayoutError, match=r"skill: its formula has .* nested 200 deep"):
        Layout("deep", Success("done", logistic(skill)))


@pytest.mark.parametrize(
    ("prior", "support"),
    [
        (Prior("Uniform"), "[0, 1]"),
        (Prior("Uniform", lower=-2, upper=5.3), "[-2, 5.3]"),
        (Prior("Beta", alpha=1, beta=1), "[0, 1]"),
        (Prior("HalfNormal", sigma=1), "[0, inf]"),
        (Prior("Normal", mu=0, sigma=1), "[-inf, inf]"),
        (Prior("ExGaussian", mu=0, sigma=1, nu=1), "[-inf, inf]"),
        (Prior("TruncatedNormal", mu=0, sigma=1, upper=4), "[-inf, 4]"),
        (Prior("Triangular", c=0.5), "[0, 1]"),
        (Prior("Uniform", lower=0, upper=ABILITY), "[0, inf]"),
        (Prior("VonMises", mu=0, kappa=1), "[-3.141592654, 3.141592654]"),
    ],
)
def test_known_supports(prior, support):
    assert repr(prior.support) == support


@pytest.mark.parametrize(
    ("latent", "prior"),
    [
        (Capability("skill", low=0, high=5.3), Prior("Uniform", lower=0, upper=5.3)),
        (Bias("lean"), Prior("Normal", mu=0, sigma=1)),
        (Bias("lean", low=-1, high=1), Prior("Uniform", lower=-1, upper=1)),
        (Noise("noise"), Prior("Uniform", lower=0, upper=1)),
    ],
)
def test_default_priors(latent, prior):
    assert (latent.prior,) == latent.priors == (prior,)
    assert latent.range == prior.support


def test_a_hierarchical_prior_joins_the_layout():
    arithmetic = Capability("arithmetic", prior=Prior("HalfNormal", sigma=2))
    addition = Capability("addition", prior=Prior("Exponential", scale=arithmetic))
    assert addition.parents == (arithmetic,)
    layout = Layout(
        "sums", Success("right", logistic(addition - MetaFeature("digits", low=1, high=9)))
    )
    assert list(layout.nodes) == ["arithmetic", "addition", "digits", "right"]
    assert layout.latents == (arithmetic, addition)
    assert ("arithmetic", "addition") in layout.graph.edges
    assert not layout.graph.nodes["addition"]["per_item"]
