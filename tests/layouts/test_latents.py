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
        (
            lambda: Capability("skill"),
            "skill: a capability needs a range or a prior; give low= and high= in the",
        ),
        (
            lambda: Propensity("risk"),
            "risk: a propensity needs a range or a prior; give low= and high=",
        ),
        (lambda: Capability("skill", low=3, high=0), r"skill: the range \[3, 0\] is reversed"),
        (lambda: Capability("skill", low=3, high=3), r"skill: the range \[3, 3\] has zero width"),
        (lambda: Capability("skill", low=3), "skill: low=3, high=None; give both ends"),
        (
            lambda: Capability("skill", low=0, high=inf),
            r"skill: a uniform prior needs a finite range, but the range is \[0, inf\]; "
            r"give finite ends",
        ),
        (
            lambda: Capability("skill", low=0, high=5, prior=Prior("Normal", mu=0, sigma=1)),
            r"skill: its range \[0, 5\] does not contain the support \[-inf, inf\] of "
            r"Prior\('Normal'",
        ),
        (
            lambda: Capability("skill", prior="Normal"),
            "skill: prior='Normal' is not a prior; give",
        ),
        (
            lambda: Noise("noise", prior=Prior("Normal", mu=0, sigma=1)),
            r"noise: a noise must be within \[0, 1\], but Prior\('Normal', mu=0, "
            r"sigma=1\) ranges over",
        ),
        (lambda: Noise("noise", low=0, high=2), r"noise: a noise must be within \[0, 1\]"),
        (lambda: Slope("steep", low=-1, high=2), r"steep: a slope must be within \[0, inf\], but"),
        (
            lambda: Capability(
                "skill",
                prior=Prior("Normal", mu=2 * MetaFeature("far", low=0, high=1), sigma=ABILITY),
            ),
            "skill: its prior depends on far, which is not a latent node; use numbers, latents",
        ),
        (
            lambda: Capability("skill", prior={"a": Prior("Flat")}),
            "skill: prior= has one for a, and its labels are none; give a prior for each",
        ),
        (
            lambda: Capability("skill", prior={"a": Prior("Flat")}, labels=("a", "b")),
            "skill: prior= has one for a, and its labels are a, b; give a prior for each",
        ),
        (
            lambda: Capability(
                "skill", prior=dict.fromkeys("abc", Prior("Flat")), labels=("a", "b")
            ),
            "skill: prior= has one for a, b, c, and its labels are a, b; give a prior",
        ),
        (
            lambda: Capability("skill", prior={"a": "Normal"}, labels=("a",)),
            r"skill: prior=\{'a': 'Normal'\} is not a prior; give Prior\(",
        ),
        (
            lambda: Noise(
                "noise", prior={"a": Prior("Uniform"), "b": Prior("Flat")}, labels=("a", "b")
            ),
            r"noise: a noise must be within \[0, 1\], but Prior\('Flat'\) ranges over",
        ),
        (
            lambda: Capability(
                "skill",
                low=0,
                high=2,
                prior=dict.fromkeys("ab", Prior("HalfFlat")),
                labels=("a", "b"),
            ),
            r"skill: its range \[0, 2\] does not contain the support \[0, inf\] of Prior\('Half",
        ),
        (
            lambda: Capability(
                "skill",
                prior={"a": Prior("Normal", mu=Bias("each", labels=("a",)), sigma=1)},
                labels=("a",),
            ),
            r"skill: its prior depends on each, which has the label dimensions \['dimension'\] "
            "that skill lacks; give a single prior for all labels, or reduce it with over=",
        ),
        (
            lambda: Capability(
                "skill",
                prior=Prior("Normal", mu=Capability("many", low=0, high=1, labels="ab"), sigma=1),
            ),
            "many: labels='ab'",
        ),
        (
            lambda: Capability(
                "skill",
                prior=Prior(
                    "Normal", mu=Capability("many", low=0, high=1, labels=("a", "b")), sigma=1
                ),
            ),
            r"skill: its prior depends on many, which has the label dimensions \['dimension'\] "
            "that skill lacks; give both the same labels",
        ),
    ],
)
def test_a_latent_refuses(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (
            lambda: Prior("Normal", mu="a"),
            r"Prior\('Normal'\): mu='a' is neither a number nor a node",
        ),
        (lambda: Prior("Normal", mu=None), "mu=None is neither"),
        (lambda: Prior("Normal", mu=[0, 1]), r"mu=\[0, 1\] is neither"),
        (lambda: Prior("Normal", mu=math.nan), "mu=nan is neither"),
        (lambda: Prior("Normal", mu=inf), "mu=inf is infinite; give a finite number"),
        (
            lambda: Prior("Uniform", lower=3, upper=1),
            r"Prior\('Uniform', lower=3, upper=1\): its val",
        ),
        (
            lambda: Prior("Uniform", lower=3, upper=3),
            "range from 3 to 3, which is reversed or a sing",
        ),
        (lambda: Prior("Uniform", lower=2), "range from 2 to 1"),
        (
            lambda: Prior("Exponential", lam=1 / Bias("tilt")),
            r"Prior\('Exponential'\): lam=1 / tilt must be positive, but it ranges over "
            r"\[-inf, inf\]; bound the nodes in it by low= and high=, or by their priors",
        ),
        (
            lambda: Prior("Beta", mu=2 * Noise("slips"), sigma=0.1),
            r"Prior\('Beta'\): mu=2 × slips must be between 0 and 1, but it ranges over \[0, 2\]",
        ),
        (lambda: Prior("Cauchy", alpha=0, beta=0), "beta=0 must be positive; give another number"),
        (
            lambda: Prior(""),
            r"Prior\(''\): the family must be a name; give the name of a PyMC "
            r"distribution, such as 'Normal'",
        ),
        (lambda: Prior(5), r"Prior\(5\): the family must be a name"),
        (
            lambda: Prior("two words"),
            "the family must be a name; give the name of a PyMC distribution",
        ),
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


def test_the_order_of_parameters_does_not_matter():
    assert Prior("Beta", beta=5, alpha=2) == Prior("Beta", alpha=2.0, beta=5.0)
    assert hash(Prior("Beta", beta=5, alpha=2)) == hash(Prior("Beta", alpha=2, beta=5))
    assert repr(Prior("Beta", beta=5, alpha=2)) == "Prior('Beta', alpha=2, beta=5)"
    assert Prior("Beta", alpha=2, beta=5) != Prior("Beta", alpha=2, beta=6)


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


def test_a_prior_inside_the_declared_range_is_kept():
    prior = Prior("Beta", alpha=2, beta=2)
    skill = Capability("skill", low=0, high=1, prior=prior)
    assert skill.prior == prior
    assert repr(skill) == (
        "Capability('skill', low=0, high=1, prior=Prior('Beta', alpha=2, beta=2))"
    )


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


def test_a_labelled_latent_may_depend_on_one_without_labels():
    many = Capability(
        "many", prior=Prior("Normal", mu=ABILITY, sigma=1), labels=("a", "b"), dim="skill"
    )
    assert many.dims == {"skill": ("a", "b")}
