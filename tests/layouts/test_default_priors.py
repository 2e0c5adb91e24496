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


@WIDTHS
def test_the_scale_is_two_and_a_half_log_odds_at_the_usual_slope(low, width):
    space = demand(low, low + width, "m")
    priors = stated(logistic(ability("m") - space, ml.Slope("slope")))
    slope = math.exp(priors["slope"][1]["mu"])
    assert slope * priors["spread"][1]["sigma"] == pytest.approx(2.5)


def test_without_a_range_they_are_in_log_odds():
    ease = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    priors = stated(logistic(ability() + ml.Bias("ease", per="item", prior=ease)))
    assert priors["mean"] == ("Normal", {"mu": 0, "sigma": 2.5})
    assert priors["spread"] == priors["easeSpread"] == ("HalfNormal", {"sigma": 2.5})
    assert stated(logistic(ml.Slope("slope") * ability()))["slope"] == ("HalfNormal", {"sigma": 2})


@pytest.mark.parametrize(("slope", "least"), [(1, 2.5), (5, 0.5), (0.1, 25)])
def test_plain_numbers_are_no_narrower_than_log_odds(slope, least):
    flag = ml.MetaFeature("flag", levels=(0, 1))
    priors = stated(logistic(ability() - flag, slope))
    assert priors["spread"][1]["sigma"] == pytest.approx(least)
    assert stated(logistic(ability() - demand(0, 100), 1))["spread"][1]["sigma"] == 25


def test_a_range_of_the_latent_itself_counts():
    prior = ml.Prior("TruncatedNormal", mu=mean(), sigma=ml.Spread("spread"), lower=0, upper=8)
    priors = stated(logistic(ml.Capability("ability", prior=prior)))
    assert priors["mean"][1] == {"mu": 4, "sigma": 2}
    assert priors["spread"][1] == {"sigma": 2}


def test_the_midpoint_is_for_the_mean_alone():
    tests = ml.MetaFeature("tests", low=-5, high=5, per="subject")
    weight = ml.Bias("weight", per="population")
    school = ml.Bias(
        "school", per=ml.Category("class", per="subject"), prior=normal(0, ml.Spread("apart"))
    )
    about = ability("m", mean() + weight * tests + school)
    priors = stated(logistic(about - demand(0, 40, "m"), ml.Slope("slope")))
    assert priors["mean"][1] == {"mu": 20, "sigma": 10}
    assert priors["weight"][1] == {"mu": 0, "sigma": 10}
    assert priors["apart"][1] == priors["spread"][1] == {"sigma": 10}


def test_a_mean_that_is_added_has_the_prior_of_one_that_is_inside():
    own = ml.Capability("own", unit="m", prior=normal(0, ml.Spread("spread")))
    added = stated(logistic(mean() + own - demand(0, 40, "m"), ml.Slope("slope")))
    inside = stated(logistic(ability("m") - demand(0, 40, "m"), ml.Slope("slope")))
    assert added["mean"] == inside["mean"]
    assert added["spread"] == inside["spread"]


def test_a_mean_of_means_has_the_range_of_the_values():
    school = ml.Bias(
        "school", per=ml.Category("class", per="subject"), prior=normal(mean(), ml.Spread("apart"))
    )
    priors = stated(logistic(ability("m", school) - demand(0, 40, "m"), ml.Slope("slope")))
    assert priors["mean"][1] == {"mu": 20, "sigma": 10}
    assert priors["apart"][1] == {"sigma": 10}


def test_demands_are_added_and_scaled():
    short = ml.MetaFeature("short", low=0, high=10, unit="m")
    margin = ability("m") - 2 * demand(0, 40, "m") - short - 5
    assert stated(logistic(margin, ml.Slope("slope")))["mean"][1] == {"mu": 50, "sigma": 22.5}


def test_logarithms_have_their_own_scale():
    about = normal(ml.Bias("usual", per="population"), ml.Spread("apart"))
    prior = ml.Prior("LogNormal", **dict(about.parameters))
    slope = ml.Slope("slope", per="item", prior=prior)
    reach = ml.Capability("reach", 0, 40, "m")
    priors = stated(logistic(reach - demand(0, 40, "m"), slope))
    assert priors["usual"][1] == pytest.approx({"mu": math.log(0.25), "sigma": 1})
    assert priors["apart"] == ("HalfNormal", {"sigma": 1})


def test_a_slope_of_two_logistics_is_between_both():
    slope, reach = ml.Slope("slope"), ml.Capability("reach", 0, 40)
    near = logistic(reach - ml.MetaFeature("near", low=0, high=1), slope)
    far = logistic(reach - ml.MetaFeature("far", low=0, high=100), slope)
    assert math.exp(stated(near * far)["slope"][1]["mu"]) == pytest.approx(1)


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


def test_the_nodes_that_were_given_are_not_changed():
    slope = ml.Slope("slope")
    margin = ml.Capability("reach", 0, 40) - demand(0, 40)
    first = ml.Layout("one", ml.Success("solved", logistic(margin, slope)))
    again = ml.Layout("two", ml.Success("solved", logistic(margin * 10, slope)))
    assert slope.prior is None
    assert first.nodes["slope"].prior != again.nodes["slope"].prior


def test_a_spread_in_a_unit_without_a_range_needs_a_prior():
    endless = ml.MetaFeature("demand", low=0, high=math.inf, unit="m")
    reach = ml.Capability("reach", unit="m", prior=normal(0, ml.Spread("apart", unit="m")))
    with pytest.raises(ml.LayoutError, match=r"apart: a spread in unit m: .* give it a prior"):
        ml.Layout("one", ml.Success("solved", logistic(reach - endless)))
