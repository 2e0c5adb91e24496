"""The algebraic assessor: equation 1 by hand, all powers, and subjects without abilities."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation.prediction.splits import masked

DEMANDS = ["demand[AS]", "demand[VO]"]


@pytest.fixture(scope="module")
def training():
    """Ann fails more at higher levels, Bob never does, Cy has answered one level only."""
    rng = np.random.default_rng(1)
    items = pd.DataFrame(rng.integers(1, 6, (400, 2)), columns=DEMANDS)
    items["unguessability"] = rng.choice([0.0, 50.0, 75.0, 100.0], 400)
    items.index = [f"q{number}" for number in range(400)]
    highest = items[DEMANDS].max(axis=1).to_numpy()
    ann = rng.random(400) < 1 / (1 + np.exp(1.5 * (highest - 3.3)))
    cy = np.where(highest == 3, rng.random(400) < 0.7, np.nan)
    wide = pd.DataFrame([ann, np.ones(400), cy], ["Ann", "Bob", "Cy"], items.index)
    return masked(ml.Evaluation.from_wide(wide.astype(float), items), list(items.index[:60]))


ASKED = [f"q{number}" for number in range(60)]


def predicted(assessor, training):
    """Predict all subjects on the items that were left out."""
    pairs = pd.MultiIndex.from_product([training.subjects, ASKED], names=["subject", "item"])
    chances = assessor.predict(training, pairs.to_frame(index=False), seed=1)
    return pd.Series(chances, pairs).unstack("item")[ASKED]


def parts_of(training):
    """Nineteen values of the paper, here three: by hand."""
    abilities = (
        ml.batteries.characteristic_curves(training, DEMANDS).abilities.loc["Ann"].to_numpy()
    )
    items = training.items.loc[ASKED]
    margins = abilities - items[DEMANDS].to_numpy()
    guess = 1 - items["unguessability"].to_numpy() / 100
    return np.column_stack([1 / (1 + np.exp(-margins)), guess])


def means(parts, power):
    """Textbook formulas, for parts above 0."""
    if power == 0:
        return np.prod(parts, axis=1) ** (1 / parts.shape[1])
    if np.isinf(power):
        return parts.max(axis=1) if power > 0 else parts.min(axis=1)
    return np.mean(parts**power, axis=1) ** (1 / power)


@pytest.mark.parametrize("power", [-np.inf, -50.0, -2.0, -1, 0.0, 0.5, 1, 3.0, np.inf])
def test_it_is_the_formula(training, power):
    found = predicted(ml.validation.Algebraic(DEMANDS, "unguessability", power), training)
    parts = parts_of(training)
    sure = parts[:, 2] == 0  # 100 % unguessable
    assert 5 < sure.sum() < 40
    ann = found.loc["Ann"].to_numpy()
    np.testing.assert_allclose(ann[~sure], means(parts[~sure], power), rtol=1e-9)
    if power <= 0:
        assert (ann[sure] == 0).all()
    else:
        np.testing.assert_allclose(ann[sure], means(parts[sure], power), rtol=1e-9)
    assert found.stack().between(0, 1).all()
    turned = np.column_stack([parts[:, :2], 1 - parts[:, 2]])
    some = (parts[:, 2] > 0) & (turned[:, 2] > 0)
    assert not np.allclose(ann[some], means(turned[some], power))  # twin: the other direction


def test_subjects_without_abilities(training):
    """They are predicted by their mean; a subject with one curve, by that alone."""
    found = predicted(ml.validation.Algebraic(DEMANDS, "unguessability"), training)
    rates = training.success_rates()
    for name in ("Bob", "Cy"):
        assert (found.loc[name] == rates[name]).all()
    assert 0.5 < rates["Cy"] < 0.9
    level = training.items.assign(**{DEMANDS[1]: 0})
    flat = ml.Evaluation(level, training.successes, training.trials)
    both, one = (
        predicted(ml.validation.Algebraic(columns, power=1), flat).loc["Ann"]
        for columns in (DEMANDS, DEMANDS[:1])
    )
    np.testing.assert_allclose(both, one)


def test_what_is_refused(training):
    with pytest.raises(DataError, match=r"one: the items have no column demand\[QL\]"):
        ml.validation.cross_validate(
            {"one": ml.validation.Algebraic(["demand[QL]"])}, training, progressbar=False
        )
    over = ml.Evaluation(
        training.items.assign(unguessability=101.0), training.successes, training.trials
    )
    with pytest.raises(DataError, match="400 unguessabilities are not percentages: q0 on unguess"):
        ml.validation.cross_validate(
            {"one": ml.validation.Algebraic(DEMANDS, "unguessability")}, over, progressbar=False
        )
