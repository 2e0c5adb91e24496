"""Capabilities are judged by what the battery asks, whatever range was declared for them."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.layouts.elements import find_elements
from measurement_layouts.linking import guessing, logistic, mixture, presence, product
from measurement_layouts.reports import Rules
from measurement_layouts.reports.contents import Contents
from measurement_layouts.reports.description.demands import demand_levels
from measurement_layouts.reports.summary import findings

LOUD = Rules(spread=1e-6)


def fitted(layout, items, rng, *, mixed=True, **normal):
    """Make a fit of one subject whose draws are normal, by latent: mean and standard deviation."""
    outcomes = pd.DataFrame([np.arange(len(items)) % 2], ["Ann"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    draws = {}
    for latent in layout.latents:
        mean, sd = normal[latent.name]
        values = rng.normal(mean, sd, (1, 4, 400, *np.shape(mean)))
        if not mixed:
            values[:, :2] = rng.normal(mean, sd, (1, 2, 400)) + 4
        draws[latent.name] = np.clip(values, latent.range.low, latent.range.high)
    return small_layouts.crafted(layout, evaluation, draws)


def reaching(high, low=0):
    """One capability, of a range that ends where it is told to."""
    demand = ml.MetaFeature("demand", low=0, high=20, unit="m")
    reach = ml.Capability("reach", low=low, high=high, unit="m")
    return ml.Layout("reaching", ml.Success("ok", logistic(reach - demand, 2)))


def table(**columns):
    items = pd.DataFrame(columns)
    return items.set_axis([f"item-{place}" for place in range(len(items))])


def finding(fit, rules=LOUD, element="reach"):
    listed = ml.describe(fit, rules=rules).findings
    return listed[listed["where"] == element].iloc[0]


@pytest.mark.parametrize("high", [6, 13, 60])
@pytest.mark.parametrize(
    ("mean", "sd", "kind"),
    [
        (4.7, 0.1, "strength"),
        (1.2, 0.1, "weakness"),
        (3.4, 0.05, "in between"),
        (4.0, 0.5, "uncertain"),
    ],
)
def test_the_declared_range_does_not_matter(high, mean, sd, kind, rng):
    """Demands are 1, 1.5, ..., 5: 4.7 surpasses eight of nine, whatever anybody thinks possible."""
    fit = fitted(reaching(high), table(demand=np.arange(1, 5.5, 0.5)), rng, reach=(mean, sd))
    found = finding(fit)
    assert found["what"] == kind
    assert " of the 9 levels demanded" in found["text"]
    assert f"of {high}" not in found["text"]


def test_by_the_range_it_does(rng):
    """Twin: the same subject is weak or strong as somebody thought more or less possible."""
    kinds = [
        finding(
            fitted(reaching(high), table(demand=np.arange(1, 5.5, 0.5)), rng, reach=(4.7, 0.1)),
            Rules(spread=1e-6, scale="range"),
        )["what"]
        for high in (5, 13)
    ]
    assert kinds == ["strength", "weakness"]


def test_an_interval_across_classes_is_uncertain(rng):
    """Whether it is strong cannot be told: the interval says so, and the words do, too."""
    items = table(demand=np.arange(1, 5.5, 0.5))
    sure, unsure = (fitted(reaching(9), items, rng, reach=(3.4, sd)) for sd in (0.05, 0.6))
    assert finding(sure)["what"] == "in between"
    assert finding(unsure)["what"] == "uncertain"
    text = ml.describe(unsure, rules=LOUD).texts["Ann"]
    assert "Uncertain: reach: half solved at 3.39 [" in text
    assert "Neither" not in text


def test_what_is_counted_is_what_is_said(rng):
    items = table(demand=np.arange(1, 5.5, 0.5))
    fit = fitted(reaching(9), items, rng, reach=(3.6, 0.3))
    draws = fit.posterior["reach"].to_numpy().ravel()
    counts = (draws[:, None] > items["demand"].to_numpy()).sum(axis=1)
    low, high = np.quantile(counts, [0.05, 0.95])
    text = finding(fit)["text"]
    assert f", above {low:.0f} to {high:.0f} of the 9 levels demanded" in text


def test_only_attempted_items_count(rng):
    layout = reaching(9)
    items = table(demand=np.arange(1, 5.5, 0.5))
    tried = [1.0, 0.0, 1.0, *[np.nan] * 6]
    few = ml.Evaluation.from_wide(pd.DataFrame([tried], ["Ann"], items.index), items)
    fit = small_layouts.crafted(layout, few, {"reach": rng.normal(2.6, 0.1, (1, 4, 400))})
    found = finding(fit)
    assert found["what"] == "strength"
    assert "of the 3 levels demanded" in found["text"]


@pytest.mark.parametrize("high", [60, 120, 240])
def test_what_is_bounded_on_one_side_only_has_no_rank(high):
    """A bird that was tested at 0 and 5 s only: its memory is longer, nobody knows how much."""
    delay = ml.MetaFeature("delay", low=0, high=60, unit="s")
    slips = ml.Noise("slips", low=0, high=0.5)
    memory = ml.Capability("memory", low=0, high=high, unit="s")
    knows = mixture(logistic(np.log2((memory + 1) / (delay + 1)), 1.7), by=slips, toward=0)
    layout = ml.Layout("hiding", ml.Success("found", guessing(knows, 1 / 3)))
    items = table(delay=[0, 5, 15, 30, 60.0])
    successes = pd.DataFrame([[22, 26, 0, 0, 0], [25, 29, 27, 22, 15]], ["A", "B"], items.index)
    trials = pd.DataFrame([[26, 29, 0, 0, 0], [27, 30, 30, 30, 30]], ["A", "B"], items.index)
    fit = ml.fit(
        layout, ml.Evaluation(items, successes, trials), method="grid", seed=1, progressbar=False
    )
    described = ml.describe(fit)
    kinds = described.findings.query("where == 'memory'").set_index("subject")["what"].to_dict()
    assert kinds == {"A": "bounded", "B": "strength"}
    assert "memory is above 5.0" in described.texts["A"]
    sentences = [one for part in findings(Contents(fit)) for one in part.parts[0]]
    (told,) = [one for one in sentences if one.startswith("memory: ")]
    assert "bounded on one side only, without a rank, in A" in told
    assert "highest" not in told
    assert any("run items that demand" in one for one in sentences)


def levels(fit, name, items):
    features = {feature.name: fit.constants[feature.name].to_numpy()
                for feature in fit.layout.meta_features}  # fmt: skip
    (element,) = find_elements(fit.elements, name)
    return demand_levels(fit, "Ann", features, len(items), element)


def test_levels_are_those_of_the_formula(rng):
    """A product of two meta-features, a slope, a bias, and a flag that switches it off."""
    distance, behind = (ml.MetaFeature(name, low=0, high=4) for name in ("distance", "behind"))
    side = ml.MetaFeature("side", levels=(-1, 0, 1))
    reach, lean = ml.Capability("reach", low=0, high=10), ml.Bias("lean")
    margin = reach - distance * (0.5 * behind + 1) + lean * side
    outcome = mixture(logistic(margin, ml.Slope("slope")), by=ml.Noise("noise"), toward=0.5)
    layout = ml.Layout("away", ml.Success("ok", outcome))
    items = table(distance=rng.uniform(0, 4, 30), behind=rng.uniform(0, 4, 30))
    items["side"] = np.resize([-1, 0, 1], 30)
    known = {"reach": (5, 1), "lean": (0.3, 0.1), "slope": (1.7, 0.1), "noise": (0.1, 0.01)}
    fit = fitted(layout, items, rng, **known)
    mean = float(fit.posterior["lean"].mean())
    exact = items["distance"] * (0.5 * items["behind"] + 1) - mean * items["side"]
    found = levels(fit, "reach", items)
    assert found == pytest.approx(np.sort(exact[exact > 0]), abs=0.02)
    assert abs(found - np.sort(exact[exact > 0])).max() < 0.02 < exact.std() / 20


def test_each_label_has_levels_of_its_own(rng):
    labels = ("read", "write")
    layout = small_layouts.labelled(labels)
    items = pd.DataFrame({"demand[read]": [1.0, 2, 3, 2], "demand[write]": [4.0, 4, 4, 4.5]})
    fit = fitted(layout, items.set_axis(list("abcd")), rng, ability=([2.5, 2.5], 0.1))
    assert levels(fit, "ability[read]", items) == pytest.approx([1, 2, 3], abs=0.02)
    assert levels(fit, "ability[write]", items) == pytest.approx([4, 4.5], abs=0.02)


def test_what_is_not_judged(rng):
    """A chance is judged by its own range; what another capability makes up for, not at all."""
    demand, flag = ml.MetaFeature("demand", low=0, high=9), ml.MetaFeature("flag", levels=(0, 1))
    one, two = (ml.Capability(name, low=0, high=9) for name in ("one", "two"))
    cope = ml.Capability("cope", low=0, high=1)
    outcome = product(logistic((one + two) / 2 - demand), presence(cope, flag))
    layout = ml.Layout("either", ml.Success("ok", outcome))
    items = table(demand=[1.0, 2, 3, 4], flag=[0, 1, 0, 1])
    fit = fitted(layout, items, rng, one=(8, 0.2), two=(1, 0.2), cope=(0.1, 0.01))
    assert len(levels(fit, "one", items)) == 0
    assert levels(fit, "cope", items) is None
    assert finding(fit, element="one")["what"] == "location"
    assert finding(fit, element="cope")["what"] == "weakness"


def test_items_that_ask_nothing_leave_nothing_to_judge(rng):
    fit = fitted(reaching(9, low=2), table(demand=[0.0, 1.0, 0.0, 1.0]), rng, reach=(4, 0.2))
    assert finding(fit)["what"] == "location"


def test_modes_on_which_chains_do_not_agree_are_uncertain(rng):
    items = table(demand=np.arange(1, 5.5, 0.5))
    fit = fitted(reaching(9), items, rng, mixed=False, reach=(4.6, 0.1))
    found = finding(fit)
    assert found["what"] == "uncertain"
    assert "separate modes" in found["text"]


def test_the_scale_is_one_of_two():
    with pytest.raises(FitError, match=r"scale='items'; give one of 'demands', 'range'"):
        Rules(scale="items")
    with pytest.raises(FitError, match=r"weak_demands=0\.8 above strong_demands=0\.75"):
        Rules(weak_demands=0.8)
    assert "demands" in repr(Rules())
