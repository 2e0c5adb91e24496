"""The shipped sampler against reference posteriors, statistic by statistic, in every run.

The references are ten chains of PyMC's own sampler (`make_references`), a summary each. Two
gates, both to be passed: Monte Carlo errors, and posterior standard deviations
(`posterior_summaries`).
"""

import pytest
from helpers.make_references import RHAT, sampled
from helpers.posterior_summaries import STATISTICS, differences, summarise
from helpers.reference_cases import CASES, SUBJECT

import measurement_layouts as ml

SAMPLING = {"draws": 4000, "tune": 1000, "chains": 4, "seed": 1, "progressbar": False}
THEIRS = {"draws": 2500, "tune": 500, "chains": 2, "target_accept": 0.8, "seed": 3}
# of 2,000 draws the standard error of an upper quantile is itself off by a factor of three
ERRORS = 4.5  # 280 comparisons pass it by chance in 1 of 500 seeds

cases = pytest.mark.parametrize("name", CASES)


def by_us(case, layout=None, **changes):
    """Fit as users do; also a layout that is not the case's."""
    layout = layout or case.declare()
    fit = ml.fit(layout, case.evaluation(), **SAMPLING | changes)
    verdict = fit.diagnostics().loc[SUBJECT]
    return summarise(layout, fit.posterior.sel(subject=SUBJECT)), verdict


def apart(found, reference):
    return [difference for difference in differences(found, reference) if not difference.held]


@cases
def test_the_shipped_sampler_gives_the_reference(name):
    found, verdict = by_us(CASES[name])
    assert (verdict["status"], verdict["divergences"]) == ("ok", 0)
    assert verdict["rhat"] < RHAT
    assert apart(found, CASES[name].read()["elements"]) == []


# --- twins that must fail ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def coin():
    return by_us(CASES["coin"])[0]


@pytest.mark.parametrize("name", CASES)
def test_a_shifted_reference_is_noticed(name):
    """By 0.15 standard deviations, in one element: it meets the reference, but shifted it fails."""
    elements = CASES[name].read()["elements"]
    element = next(iter(elements))
    shift = 0.15 * elements[element]["sd"][0]
    moved = {
        kind: [value[0] + shift * (kind != "sd"), value[1]]
        for kind, value in elements[element].items()
        if kind in STATISTICS
    }
    assert apart(elements, elements) == []
    failed = apart(elements | {element: moved}, elements)
    assert {"mean", "50 %"} <= {difference.statistic for difference in failed}


def wrong_prior():
    p = ml.Capability("p", prior=ml.Prior("Beta", alpha=2, beta=2))
    return ml.Layout("coin", ml.Success("heads", p))


def wrong_slope():
    """The recommended layout, with a slope of 3 instead of 8."""
    written = CASES["propensity"].declare().to_dict()
    outcome = written["nodes"][-1]
    band = outcome["expression"]["of"][0]
    assert band["of"][-1] == 8
    band["of"][-1] = 3
    return ml.Layout.from_dict(written)


@pytest.mark.parametrize(
    ("name", "wrong"), [("coin", wrong_prior), ("propensity", wrong_slope)], ids=["prior", "slope"]
)
def test_a_wrong_model_is_noticed(name, wrong):
    found, verdict = by_us(CASES[name], wrong())
    assert verdict["status"] == "ok"
    assert apart(found, CASES[name].read()["elements"]) != []


# --- a second opinion ----------------------------------------------------------------------------


@pytest.mark.slow
@cases
def test_the_second_sampler_agrees_with_the_reference_and_with_us(name):
    """Sampled anew, shortly: the reference is what PyMC gives today, too."""
    case = CASES[name]
    posterior, _ = sampled(case, cores=1, **THEIRS)
    theirs, reference = summarise(case.declare(), posterior), case.read()["elements"]
    for other in (reference, by_us(case)[0]):
        assert max(difference.errors for difference in differences(theirs, other)) < ERRORS
