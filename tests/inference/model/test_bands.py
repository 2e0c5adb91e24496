"""The bands of a layout: found, their ends computed, and reversed ends refused in data."""

import numpy as np
import pandas as pd
import pytest
from helpers.densities import first_compiled

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.model.bands import ends, find_bands
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.model.pymc_model import to_pymc
from measurement_layouts.inference.sampling.engine import Battery, Kernel
from measurement_layouts.inference.simulate import expected_success
from measurement_layouts.linking import (
    band,
    bilogistic,
    generalised_mean,
    mixture,
    presence,
    product,
    uncertain_band,
)

inf = np.inf
RISK = ml.Propensity("risk", low=-4, high=4)
LOW, HIGH = (ml.MetaFeature(end, low=-inf, high=inf) for end in ("low", "high"))
SAID = {"labels": ("a", "b"), "dim": "annotator"}


def layout_of(inside, name="risk"):
    return ml.Layout(name, ml.Success("right", inside))


def test_every_kind_of_band_is_found_with_its_parts():
    caution, steep = ml.Bias("caution"), ml.Slope("steep")
    named = ml.Derived("readiness", RISK)
    kinds = (
        band(named, LOW, HIGH, steep, min_width=0.2),
        bilogistic(RISK + caution, LOW, 2, 1, steep),
        uncertain_band(2 * RISK, -1, HIGH, 0.5),
    )
    first, second, third = find_bands(layout_of(product(*kinds)))
    assert [found.call.function.name for found in (first, second, third)] == [
        "band",
        "bilogistic",
        "uncertain_band",
    ]
    assert (first.latent, first.latents) == (RISK, (RISK,))
    assert first.min_width == 0.2
    assert (second.latent, second.latents, second.min_width) == (None, (RISK, caution), None)
    assert (third.latent, third.min_width) == (None, 0.1)
    assert (str(third.low), third.high) == ("−1", HIGH)


def test_the_relatives_of_the_band_are_read_back_and_end_a_margin():
    noise = mixture(uncertain_band(RISK, LOW, HIGH, 0.5), by=ml.Noise("noise"), toward=0.5)
    layout = layout_of(product(noise, bilogistic(RISK, -2, HIGH, 1, 3)))
    again = ml.Layout.from_dict(layout.to_dict())
    assert again == layout
    assert [found.call.function for found in find_bands(again)] == [uncertain_band, bilogistic]
    for opposed in (bilogistic(0.5, LOW, 2), uncertain_band(0.5, LOW, 2, 1)):
        with pytest.raises(ml.LayoutError, match=r"low: no latent opposes it in .*\(0.5, low, 2"):
            layout_of(product(noise, opposed))


def test_ends_are_computed_per_item():
    features = {"low": np.array([-inf, 0.0, 1.0]), "high": np.array([1.0, 2.0, inf])}
    layout = layout_of(band(RISK, LOW - 1, ml.Derived("top", 2 * HIGH)))
    low, high = ends(find_bands(layout)[0], features, layout)
    assert low.tolist() == [-inf, -1, 0]
    assert high.tolist() == [2, 4, inf]


def evaluation(low, high):
    items = pd.DataFrame({"low": low, "high": high}, index=["ant", "bee", "cat"])
    return ml.Evaluation.from_wide(pd.DataFrame([[0, 1, 1]], ["Ann"], list(items.index)), items)


@pytest.mark.parametrize("kind", [band, bilogistic, lambda *parts: uncertain_band(*parts, 0.5)])
def test_reversed_ends_are_refused_when_data_are_read(kind):
    layout = layout_of(kind(RISK, LOW, HIGH))
    message = (
        r"\w+\(risk, low, high.*\): the ends are reversed on 2 item\(s\): "
        r"ant \(low = 2, high = 1\), cat \(low = inf, high = 0.5\); .* exchange the two values"
    )
    bad = evaluation([2, 0, inf], [1, 1, 0.5])
    for read in (
        lambda: read_features(layout, bad.items),
        lambda: to_pymc(layout, bad, "Ann"),
        lambda: Battery.of(layout, bad),
        lambda: ml.simulate(layout, bad.items, pd.DataFrame({"risk": [0.0]}), seed=1),
    ):
        with pytest.raises(DataError, match=message):
            read()


def test_what_is_not_reversed_is_read():
    layout = layout_of(band(RISK, LOW, HIGH))
    for low, high in [([-inf, 0, 1], [1, 0, inf]), ([0, -inf, 2], [inf, inf, 2])]:
        read_features(layout, evaluation(low, high).items)
    assert float(band(0.0, 0.5, -0.5)) == 1  # plain numbers are widened


def test_reversed_ends_of_labels_and_of_formulas_are_named():
    low, high = (ml.MetaFeature(end, low=-3, high=3, **SAID) for end in ("low", "high"))
    layout = layout_of(generalised_mean(band(RISK, low, high), power=1, over="annotator"))
    items = pd.DataFrame(
        {"low[a]": [0, 0], "low[b]": [0, 2], "high[a]": [1, 1], "high[b]": [1, 1.5]}
    )
    with pytest.raises(DataError, match=r"on 1 item\(s\): 1 \(low\[b\] = 2, high\[b\] = 1.5\);"):
        read_features(layout, items)
    layout = layout_of(band(RISK, LOW, LOW + HIGH))
    with pytest.raises(DataError, match=r"0 \(low = 1, low \+ high = 0.5\)"):
        read_features(layout, pd.DataFrame({"low": [1.0], "high": [-0.5]}))


def test_ends_are_not_compared_where_they_are_undefined():
    asked = ml.MetaFeature("asked", levels=(0, 1))
    low = ml.MetaFeature("low", low=1, high=3, given=asked)
    high = ml.MetaFeature("high", low=-3, high=4, given=asked)
    layout = layout_of(presence(band(RISK, low, high), asked))
    items = pd.DataFrame({"asked": [0, 1], "low": [None, 2.0], "high": [None, 3.0]})
    assert read_features(layout, items)["high"].tolist() == [0, 3]  # below the 1 that low stands in
    with pytest.raises(DataError, match=r"on 1 item\(s\): 1 \(low = 2, high = 1\)"):
        read_features(layout, items.assign(high=[None, 1.0]))


def test_forecasts_refuse_reversed_ends_too():
    layout = layout_of(band(RISK, LOW, HIGH))
    good = evaluation([-1, 0, -2], [1, 1, 0.5])
    fit = ml.fit(layout, good, method="grid", draws=20, chains=2, seed=1, progressbar=False)
    with pytest.raises(DataError, match=r"ant \(low = 1, high = -1\)"):
        fit.forecast(good.items.rename(columns={"low": "high", "high": "low"}))


def test_several_annotators_are_averaged_in_a_layout():
    """The mean of the curves that each annotator's ends give, in NumPy and in machine code."""
    low, high = (ml.MetaFeature(end, low=-3, high=3, **SAID) for end in ("low", "high"))
    layout = layout_of(generalised_mean(band(RISK, low, high), power=1, over="annotator"))
    rng = np.random.default_rng(3)
    starts = rng.integers(-3, 2, (6, 2))
    stops = starts + rng.integers(0, 3, (6, 2))
    columns = [f"{end}[{label}]" for end in ("low", "high") for label in "ab"]
    items = pd.DataFrame(np.hstack([starts, stops]), columns=columns)
    profiles = pd.DataFrame({"risk": [-1.0, 0.3]})
    found = expected_success(layout, read_features(layout, items), profiles, len(items))
    wanted = [band(risk, starts, stops).mean(axis=1) for risk in profiles["risk"]]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    outcomes = ml.simulate(layout, items, profiles, seed=1)
    assert isinstance(first_compiled(layout, outcomes), Kernel)
