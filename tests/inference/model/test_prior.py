"""Priors: families that PyMC has, drawn as they are written."""

import numpy as np
import pytest
from scipy import special, stats

import measurement_layouts as ml
from measurement_layouts import LayoutError, Prior
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.linking import logistic

DRAWS = 4000


class LogitNormal:
    """Logit of it is normal; PyMC's is no ordinary distribution."""

    def __init__(self, mu, sigma):
        self.normal = stats.norm(mu, sigma)

    def cdf(self, x):
        return self.normal.cdf(special.logit(x))


def layout(prior, **fields):
    demand = ml.MetaFeature("demand", low=0, high=1)
    skill = ml.Capability("skill", prior=prior, **fields)
    return ml.Layout("one", ml.Success("ok", logistic(skill - demand)))


@pytest.mark.parametrize(
    ("prior", "exact"),
    [
        (Prior("Uniform", lower=-1, upper=4), stats.uniform(-1, 5)),
        (Prior("Normal", mu=2, sigma=3), stats.norm(2, 3)),
        (Prior("Beta", alpha=2, beta=5), stats.beta(2, 5)),
        (Prior("HalfNormal", sigma=2), stats.halfnorm(scale=2)),
        (Prior("Exponential", scale=4), stats.expon(scale=4)),
        (Prior("LogNormal", mu=1, sigma=0.5), stats.lognorm(0.5, scale=np.e)),
        (Prior("LogitNormal", mu=0.5, sigma=1.2), LogitNormal(0.5, 1.2)),
    ],
)
def test_draws_follow_the_family(prior, exact):
    """Kolmogorov's test of independent draws; the seed is fixed, so p = 1e-4 is no gamble."""
    draws = draw_prior(layout(prior))["skill"]
    assert draws.shape == (DRAWS,)
    assert stats.kstest(draws, exact.cdf).pvalue > 1e-4


def test_hierarchical_draws_belong_together():
    """A half-normal divided by its own scale is a standard half-normal."""
    scale = ml.Capability("scale", prior=Prior("Exponential", scale=2))
    below = ml.Capability("skill", prior=Prior("HalfNormal", sigma=scale))
    demand = ml.MetaFeature("demand", low=0, high=1)
    draws = draw_prior(ml.Layout("two", ml.Success("ok", logistic(below - demand))))
    assert list(draws) == ["scale", "skill"]
    ratio = draws["skill"] / draws["scale"]
    assert stats.kstest(ratio, stats.halfnorm.cdf).pvalue > 1e-4
    apart = draws["skill"] / draws["scale"][::-1]
    assert stats.kstest(apart, stats.halfnorm.cdf).pvalue < 1e-4


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (Prior("sample"), "skill:"),
        (Prior("Normal", shape=3), "skill:"),
        (Prior("Beta", alpha=2), "skill:"),
        (Prior("LKJCorr", n=1, eta=1), "skill:"),
        (Prior("Triangular", c=2), "'one': its priors cannot be"),
    ],
)
def test_priors_that_nuts_cannot_have(prior, message):
    """Others are in `test_fault_layouts.py`."""
    with pytest.raises(LayoutError, match=message):
        draw_prior(layout(prior))
