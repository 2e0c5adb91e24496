"""Priors that a layout states where a latent has none, at several widths of a demand's range."""

import math

import pytest
import scipy.stats

import measurement_layouts as ml
from measurement_layouts.linking import band, logistic


def normal(mu, sigma):
    return ml.Prior("Normal", mu=mu, sigma=sigma)


def mean():
    return ml.Bias("mean", per="population")


def ability(unit=None, mu=None):
    prior = normal(mean() if mu is None else mu, ml.Spread("spread"))
    return ml.Capability("ability", unit=unit, prior=prior)


def demand(low, high, unit=None):
    return ml.MetaFeature("demand", low=low, high=high, unit=unit)


def stated(chance):
    """The priors of a layout, by latent: family and parameters that are numbers."""
    layout = ml.Layout("one", ml.Success("solved", chance))
    assert ml.Layout.from_dict(layout.to_dict()).fingerprint == layout.fingerprint
    return {
        latent.name: (prior.family, {k: v.range.low for k, v in prior.parameters})
        for latent in layout.latents
        for prior in latent.priors
    }


WIDTHS = pytest.mark.parametrize(
    ("low", "width"), [(0, 1), (0, 40), (-3, 6), (100, 2500), (0, 0.02)]
)


@WIDTHS
@pytest.mark.parametrize("form", ["argument", "factor", "derived"])
def test_the_usual_slope_is_ten_divided_by_the_range(low, width, form):
    slope, reach = ml.Slope("slope"), ml.Capability("reach", low, low + width, "m")
    margin = reach - demand(low, low + width, "m")
    chance = {
        "argument": lambda: logistic(margin, slope),
        "factor": lambda: logistic(slope * margin + ml.Bias("lean")),
        "derived": lambda: logistic(ml.Derived("margin", margin), ml.Derived("steep", slope)),
    }[form]()
    family, parameters = stated(chance)["slope"]
    prior = scipy.stats.lognorm(parameters["sigma"], scale=math.exp(parameters["mu"]))
    assert family == "LogNormal"
    assert prior.median() == pytest.approx(10 / width)
    above = scipy.stats.norm.cdf(1)  # one standard deviation is a factor of two
    assert prior.ppf(above) == pytest.approx(20 / width)


@WIDTHS
def test_a_mean_and_a_spread_scale_with_the_range(low, width):
    space = demand(low, low + width, "m")
    priors = stated(logistic(ability("m") - space, ml.Slope("slope")))
    assert priors["mean"][0] == "Normal"
    assert priors["mean"][1] == pytest.approx({"mu": low + width / 2, "sigma": width / 4})
    assert priors["spread"][0] == "HalfNormal"
    assert priors["spread"][1] == pytest.approx({"sigma": width / 4})


def test_without_a_range_they_are_in_log_odds():
    ease = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    priors = stated(logistic(ability() + ml.Bias("ease", per="item", prior=ease)))
    assert priors["mean"] == ("Normal", {"mu": 0, "sigma": 2.5})
    assert priors["spread"] == priors["easeSpread"] == ("HalfNormal", {"sigma": 2.5})
    assert stated(logistic(ml.Slope("slope") * ability()))["slope"] == ("HalfNormal", {"sigma": 2})


def test_a_range_of_the_latent_itself_counts():
    prior = ml.Prior("TruncatedNormal", mu=mean(), sigma=ml.Spread("spread"), lower=0, upper=8)
    priors = stated(logistic(ml.Capability("ability", prior=prior)))
    assert priors["mean"][1] == {"mu": 4, "sigma": 2}
    assert priors["spread"][1] == {"sigma": 2}


def test_logarithms_have_their_own_scale():
    about = normal(ml.Bias("usual", per="population"), ml.Spread("apart"))
    prior = ml.Prior("LogNormal", **dict(about.parameters))
    slope = ml.Slope("slope", per="item", prior=prior)
    reach = ml.Capability("reach", 0, 40, "m")
    priors = stated(logistic(reach - demand(0, 40, "m"), slope))
    assert priors["usual"][1] == pytest.approx({"mu": math.log(0.25), "sigma": 1})
    assert priors["apart"] == ("HalfNormal", {"sigma": 1})


def test_bands_have_a_range_too():
    ends = ml.MetaFeature("low", low=-4, high=2), ml.MetaFeature("high", low=-2, high=4)
    risk = ml.Propensity("risk", prior=normal(mean(), ml.Spread("spread")))
    priors = stated(band(risk, *ends, ml.Slope("slope")))
    assert priors["mean"][1] == {"mu": 0, "sigma": 2}
    assert math.exp(priors["slope"][1]["mu"]) == pytest.approx(10 / 8)


def test_stated_priors_are_not_changed():
    half = ml.Prior("HalfNormal", sigma=1)
    about = normal(
        ml.Bias("mean", per="population", prior=normal(0, 1)), ml.Spread("s", prior=half)
    )
    slope = ml.Slope("slope", prior=half)
    reach = ml.Capability("reach", unit="m", prior=about)
    outcome = ml.Success("solved", logistic(reach - demand(0, 40, "m"), slope))
    assert ml.Layout("one", outcome).outcome is outcome


def test_a_spread_in_a_unit_without_a_range_needs_a_prior():
    endless = ml.MetaFeature("demand", low=0, high=math.inf, unit="m")
    reach = ml.Capability("reach", unit="m", prior=normal(0, ml.Spread("apart", unit="m")))
    with pytest.raises(ml.LayoutError, match=r"apart: a spread in unit m: .* give it a prior"):
        ml.Layout("one", ml.Success("solved", logistic(reach - endless)))
