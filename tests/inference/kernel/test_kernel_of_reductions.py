"""Reduced labels of few combinations, which have a table of their own, against the plain model."""

import numpy as np
import pytest
from helpers.densities import Fused, Plain, random_outcomes

import measurement_layouts as ml
from measurement_layouts.linking import band, generalised_mean, guessing, logistic, product, total

LABELS, KINDS = tuple("abcde"), ("x", "y")
ITEMS, COMBINATIONS = 400, 12
DEMAND = ml.MetaFeature("demand", low=-3, high=3, labels=LABELS)
CHANCE = ml.MetaFeature("chance", low=0, high=1)
LOWER, UPPER = (ml.MetaFeature(end, low=-9, high=9, labels=KINDS, dim="kind") for end in "lu")
SKILL = ml.Bias("skill", labels=LABELS)
LEANING = ml.Propensity(
    "leaning", labels=KINDS, dim="kind", prior=ml.Prior("Normal", mu=0, sigma=1)
)
MET = logistic(SKILL - DEMAND, 2)
EACH = {
    "product": product(MET, over="dimension"),
    "minimum": generalised_mean(MET, power=-np.inf, over="dimension"),
    "maximum": generalised_mean(MET, power=np.inf, over="dimension"),
    "geometric": generalised_mean(MET, power=0, over="dimension"),
    "sum": logistic(total(SKILL * DEMAND, over="dimension")),
    "reduced beside labelled": product(
        logistic(SKILL - DEMAND + total(SKILL * DEMAND, over="dimension")), over="dimension"
    ),
    "two dimensions": product(MET, over="dimension")
    * product(band(LEANING, LOWER, UPPER), over="kind"),
}


@pytest.mark.parametrize("name", EACH)
def test_value_and_slopes(name, rng):
    """Near the mode, where every part counts: a product of small factors has no slopes to see."""
    layout = ml.Layout(name, ml.Success("ok", guessing(EACH[name], CHANCE)))
    which = rng.integers(0, COMBINATIONS, ITEMS)
    lower = rng.choice([-2.0, -1.0, 0.0], (COMBINATIONS, len(KINDS)))
    columns = {
        "demand": rng.choice([-2.0, -1.0, 0.5], (COMBINATIONS, len(LABELS)))[which],
        "l": lower[which],
        "u": (lower + rng.choice([1.0, 3.0], lower.shape))[which],
        "chance": rng.random(ITEMS) / 3,  # tells all items apart
    }
    features = {part.name: columns[part.name] for part in layout.meta_features}
    who = layout, features, random_outcomes(layout, rng, ITEMS)
    fused, plain = Fused(*who), Plain(*who)
    assert any(part.dim is None and part.size <= 12 for part in fused.kernel.domains.known)
    for _ in range(5):
        point = rng.normal(0.5, 0.7, len(fused.start))
        value, gradient, status = fused(point)
        wanted, slopes = plain(point)
        assert status == 0
        assert value == pytest.approx(wanted, rel=1e-11)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-8, atol=1e-9)
