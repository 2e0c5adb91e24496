"""What is said follows from the draws by the rules."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import band, logistic, mixture, product
from measurement_layouts.reports import Rules

CHAINS, DRAWS = 4, 400
LABELS = ("read", "write")


@pytest.fixture(scope="module")
def layout():
    """Every kind of element, with labels and without, and a bias that is expected at 4."""
    demand = ml.MetaFeature("demand", low=0, high=10, unit="m")
    side = ml.MetaFeature("side", levels=(-1, 0, 1))
    low, high = (ml.MetaFeature(name, low=-4, high=4) for name in ("lowest", "highest"))
    reach = ml.Capability("reach", low=0, high=10, unit="m", about="how far it gets")
    skill = ml.Capability("skill", low=-1, high=1, labels=LABELS, dim="task")
    shown = ml.Capability("shown", prior=ml.Prior("Beta", alpha=1, beta=4))
    endless = ml.Capability("endless", prior=ml.Prior("HalfNormal", sigma=2))
    risk = ml.Propensity("risk", low=-4, high=4)
    lean, straight = ml.Bias("lean"), ml.Bias("straight", prior=ml.Prior("Normal", mu=4, sigma=2))
    parts = (
        logistic(reach - demand, ml.Slope("slope")),
        product(logistic(skill), over="task"),
        shown * logistic(endless),
        band(risk, low, high),
        logistic(straight + lean * side),
    )
    outcome = ml.Success("ok", mixture(sum(parts) / 5, by=ml.Noise("noise"), toward=0.5))
    return ml.Layout("everything", outcome)


@pytest.fixture(scope="module")
def evaluation():
    values = np.linspace(0, 10, 8)
    items = pd.DataFrame(
        {"demand": values, "lowest": values / 9 - 1, "highest": 2 - values / 9},
        index=list("abcdefgh"),
    )
    items["side"] = np.resize([-1, 0, 1], 8)
    outcomes = pd.DataFrame([[1, 1, 1, 0, 1, 0, 0, 0]], ["Ann"], items.index)
    return ml.Evaluation.from_wide(outcomes, items)


ORDINARY = {
    "reach": (5.0, 0.1),
    "slope": (1.0, 0.1),
    "skill": ([0.2, 0.2], 0.05),
    "shown": (0.5, 0.05),
    "endless": (2.0, 0.2),
    "risk": (1.0, 0.3),
    "straight": (4.0, 0.3),
    "lean": (0.0, 0.1),
    "noise": (0.02, 0.005),
}


@pytest.fixture
def crafted(layout, evaluation, rng):
    """Make a fit whose draws are normal around given means; one such draw per element."""

    def make(**changed):
        draws = {}
        for latent in layout.latents:
            mean, sd = (ORDINARY | changed)[latent.name]
            shape = (1, CHAINS, DRAWS, *np.shape(mean))
            values = rng.normal(mean, sd, shape)
            draws[latent.name] = np.clip(values, latent.range.low, latent.range.high)
        return small_layouts.crafted(layout, evaluation, draws)

    return make


def said(fit, element, **rules):
    """The finding of one element; capabilities are judged by their range unless `rules` say."""
    findings = ml.describe(fit, rules=Rules(**{"spread": 1e-6, "scale": "range"} | rules)).findings
    return findings[findings["where"] == element].iloc[0]


# --- each kind of element ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "change", "kind", "text"),
    [
        ("reach", (9.0, 0.2), "strength", "reach (how far it gets): 9.0"),
        ("reach", (2.0, 0.2), "weakness", " m of 10"),
        ("reach", (7.5, 0.2), "in between", "reach (how far it gets): 7.5"),
        ("reach", (7.0, 1.8), "unknown", "reach (how far it gets): "),
        ("skill[write]", ([0.9, -0.9], 0.03), "weakness", "within [-1, 1]"),
        ("skill[read]", ([0.9, -0.9], 0.03), "strength", "skill[read]: 0.90"),
        ("endless", (2.0, 0.2), "location", "endless 2.0"),
        ("risk", (3.5, 0.2), "location", "risk 3.5"),
        ("lean", (1.2, 0.2), "bias", "lean is positive, 1."),
        ("lean", (-1.2, 0.2), "bias", "lean is negative, -1."),
        ("lean", (0.3, 0.05), "unremarkable", "lean 0."),
        ("straight", (1.0, 0.5), "bias", "lower than expected before the data"),
        ("straight", (8.0, 0.5), "bias", "higher than expected before the data"),
        ("straight", (4.3, 0.1), "unremarkable", "straight 4.3"),
        ("noise", (0.4, 0.02), "noise", "do not follow from the demands of the items (noise)"),
        ("noise", (0.05, 0.02), "unremarkable", "noise 0.0495 ["),
    ],
)
def test_kinds(crafted, element, change, kind, text):
    found = said(crafted(**{element.split("[")[0]: change}), element)
    assert found["what"] == kind
    assert text in found["text"]


def test_each_element_is_judged_once_and_no_slope(crafted):
    findings = ml.describe(crafted()).findings
    expected = ["", "", "endless", "lean", "noise", "reach", "risk", "shown", "skill[read]"]
    expected += ["skill[write]", "straight"]
    assert sorted(findings["where"]) == expected


def test_probabilities_are_shares_of_the_draws(crafted):
    fit = crafted(reach=(6.6, 0.3), lean=(0.8, 0.6), noise=(0.19, 0.03))
    draws = {name: fit.posterior[name].to_numpy().ravel() for name in ("reach", "lean", "noise")}
    expected = {
        "reach": (draws["reach"] < 7).mean(),
        "lean": (draws["lean"] > 0).mean(),
        "noise": (draws["noise"] > 0.15).mean(),
    }
    for name, probability in expected.items():
        found = said(fit, name, certainty=0.85)
        assert found["p"] == probability
        assert 0.85 <= probability < 1
        assert found["size"] == pytest.approx(draws[name].mean(), rel=1e-12)
        assert [found["low"], found["high"]] == pytest.approx(
            np.quantile(draws[name], [0.05, 0.95])
        )


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "change", "rules", "before", "after"),
    [
        ("reach", (6.6, 0.25), {"certainty": 0.9999}, "weakness", "uncertain"),
        ("reach", (6.6, 0.25), {"weak": 0.5}, "weakness", "in between"),
        ("reach", (8.5, 0.25), {"strong": 0.9}, "strength", "in between"),
        ("reach", (7.5, 0.8), {"vague": 0.1}, "uncertain", "unknown"),
        ("reach", (5.0, 0.1), {"scale": "demands"}, "weakness", "in between"),
        ("reach", (8.4, 0.1), {"scale": "demands", "strong_demands": 0.5}, "strength", "strength"),
        (
            "reach",
            (8.7, 0.1),
            {"scale": "demands", "strong_demands": 0.9},
            "strength",
            "in between",
        ),
        ("reach", (2.0, 0.1), {"scale": "demands", "weak_demands": 0.1}, "weakness", "in between"),
        ("lean", (1.2, 0.2), {"tilt": 2}, "bias", "unremarkable"),
        ("noise", (0.4, 0.02), {"noisy": 0.5}, "noise", "unremarkable"),
    ],
)
def test_rules_decide(crafted, element, change, rules, before, after):
    fit = crafted(**{element: change})
    assert said(fit, element)["what"] == before
    assert said(fit, element, **rules)["what"] == after


def test_what_the_prior_alone_would_say_is_not_named(crafted):
    # under Beta(1, 4) the probability of a share below 0.7 is 1 - 0.3**4 = 0.992 before any data
    fit = crafted(shown=(0.45, 0.13))
    assert (fit.posterior["shown"] < 0.7).mean() > 0.95
    assert said(fit, "shown")["what"] == "unknown"
    assert said(fit, "shown", evidence=0.01)["what"] == "weakness"  # the rule is what stops it


def test_no_more_than_the_prior_is_unknown(crafted):
    found = said(crafted(lean=(0.0, 1.0)), "lean")
    assert (found["what"], found["text"]) == ("unknown", "lean")


@pytest.mark.parametrize(
    "name", ["certainty", "prob", "strong", "weak", "vague", "noisy", "spread"]
)
@pytest.mark.parametrize("value", [0, 1, "much", None, np.nan])
def test_shares_lie_between_0_and_1(name, value):
    with pytest.raises(FitError, match=f"{name}=.*between 0 and 1"):
        Rules(**{name: value})


@pytest.mark.parametrize("name", ["tilt", "gain", "evidence"])
@pytest.mark.parametrize("value", [0, -1, np.inf, np.nan, True, "much"])
def test_amounts_are_positive(name, value):
    with pytest.raises(FitError, match=f"{name}=.*positive"):
        Rules(**{name: value})


def test_rules_that_contradict():
    with pytest.raises(FitError, match=r"certainty=0\.4; .* above 0\.5"):
        Rules(certainty=0.4)
    with pytest.raises(FitError, match=r"weak=0\.9 above strong=0\.8"):
        Rules(weak=0.9)
    with pytest.raises(FitError, match=r"nearly_nothing=0\.98 above"):
        Rules(nearly_nothing=0.98)
    with pytest.raises(FitError, match="give Rules"):
        ml.describe(None, rules={"certainty": 0.9})


# --- reading it ----------------------------------------------------------------------------------


def test_texts(crafted):
    fit = crafted(reach=(2.0, 0.2), lean=(1.2, 0.2), risk=(3.5, 0.2))
    description = ml.describe(fit, rules=Rules(spread=1e-6, scale="range"))
    text = description.texts["Ann"]
    for part in (
        "Ann solved 4 of 8 items",
        "Weak in reach (how far it gets): 2.00 [",
        "; risk 3.5",
    ):
        assert part in text
    assert text.index("Weak") < text.index("Bias: lean is positive")
    assert description.weaknesses("Ann") == ["reach", "skill[read]", "skill[write]", "shown"]
    assert str(description).startswith(text)
    assert r"skill\[read\]" in description._repr_markdown_()
    assert repr(description) == "<Description of 1 subject: 0 strengths, 4 weaknesses>"
    with pytest.raises(DataError, match="Bob"):
        description.weaknesses("Bob")
