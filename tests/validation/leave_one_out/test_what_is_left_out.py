"""Leave-one-out of whole items and subjects: by hand, against refits, and what is refused."""

import numpy as np
import pytest
from helpers import joint_fits, shared_layouts
from scipy.special import log_expit, logsumexp, roots_hermitenorm

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.population.left_out import LeftOut
from measurement_layouts.linking import logistic

SUBJECTS, ITEMS = 12, 8


@pytest.fixture(scope="module")
def evaluation():
    return shared_layouts.simulated(shared_layouts.rasch(), SUBJECTS, ITEMS)[0]


@pytest.fixture(scope="module")
def fit(evaluation):
    return ml.fit(
        shared_layouts.rasch(), evaluation, draws=500, tune=300, chains=2, seed=1, progressbar=False
    )


def own_part(logits, won, spread):
    """Log of the chance of outcomes, (draws,), whose log-odds share a normal part."""
    nodes, weights = roots_hermitenorm(61)
    levels = []
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        shifted = logits + spread[:, None] * node
        levels.append(log_expit(np.where(won == 1, shifted, -shifted)).sum(axis=1))
        levels[-1] = levels[-1] + np.log(weight)
    return logsumexp(levels, axis=0)


def draws_of(fit):
    """Draws of a Rasch fit, (draws, ...)."""
    found = {}
    for name, plate in (("ability", "subject"), ("ease", "item"), ("mean", ""), ("spread", "")):
        dims = ("chain", "draw", plate) if plate else ("chain", "draw")
        values = fit.posterior[name].transpose(*dims).to_numpy()
        found[name] = values.reshape(-1, *values.shape[2:])
    found["easeSpread"] = fit.posterior["easeSpread"].to_numpy().ravel()
    return found


@pytest.mark.parametrize("unit", ["item", "subject"])
def test_whole_units_by_hand(fit, evaluation, unit):
    """Importance weights by hand, unsmoothed, of those whose k is small."""
    found = ml.validation.loo(fit, unit=unit)
    draws, won = draws_of(fit), evaluation.successes.to_numpy()
    by_hand = []
    for place in range(found.n_data_points):
        if unit == "item":
            others = np.delete(draws["ease"], place, axis=1).mean(axis=1)
            logits = draws["ability"] + others[:, None]
            spread = draws["easeSpread"] * np.sqrt(1 + 1 / (ITEMS - 1))
            levels = own_part(logits, won[:, place], spread)
        else:
            logits = draws["ease"] + draws["mean"][:, None]
            levels = own_part(logits, won[place], draws["spread"])
        by_hand.append(np.log(len(levels)) - logsumexp(-levels))
    sure = found.pareto_k.to_numpy() < 0.4
    assert sure.sum() >= 3
    differences = found.elpd_i.to_numpy() - np.array(by_hand)
    np.testing.assert_allclose(differences[sure], 0, atol=0.1)
    assert found.elpd_i.dims == (unit,)


def test_what_others_taught_of_an_item_is_not_known_of_a_new_one(fit):
    """By cell an item's own ease is known, so that whole items are foreseen worse."""
    assert ml.validation.loo(fit, unit="item").elpd < ml.validation.loo(fit).elpd - 1


@pytest.fixture(scope="module")
def alone(evaluation):
    skill = ml.Capability("skill", low=-4, high=4)
    layout = ml.Layout("alone", ml.Success("solved", logistic(skill)))
    return ml.fit(layout, evaluation, method="grid", seed=1, progressbar=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "subject"}, "subjects share no value"),
        ({"unit": "task"}, "give the unit to leave out:"),
        ({"unit": "item", "subjects": ["subject 1"]}, "omit subjects="),
    ],
)
def test_what_cannot_be_left_out_is_refused(alone, options, words):
    with pytest.raises(FitError, match=words):
        ml.validation.loo(alone, **options)
    with pytest.raises(FitError, match=words):
        ml.validation.compare_layouts({"one": alone, "other": alone}, **options)


def test_layouts_are_compared_by_item(fit, alone):
    fits = {"rasch": fit, "alone": alone}
    compared = ml.validation.compare_layouts(fits, unit="item")
    single = {name: ml.validation.loo(one, unit="item") for name, one in fits.items()}
    for name, one in single.items():
        assert compared.loc[name, "elpd"] == pytest.approx(one.elpd)
    gaps = single["rasch"].elpd_i - single["alone"].elpd_i
    assert compared.iloc[1]["elpd_diff"] == pytest.approx(-abs(float(gaps.sum())))
    assert compared.iloc[1]["dse"] == pytest.approx(float(np.sqrt(ITEMS * gaps.var())))


def test_items_that_all_change_the_posterior_are_not_ranked(monkeypatch):
    """Draws of which few explain any item: the first items tell, and the others are not tried."""
    evaluation = shared_layouts.simulated(shared_layouts.rasch(), SUBJECTS, 14)[0]
    draws = joint_fits.random_draws(shared_layouts.rasch(), evaluation, 400, seed=3)
    draws["ability"] *= 8
    made = joint_fits.crafted(shared_layouts.rasch(), evaluation, draws, chains=2)
    tried, marginal = [], LeftOut.marginal

    def counted(cohort, unit, place, seed):
        tried.append(place)
        return marginal(cohort, unit, place, seed)

    monkeypatch.setattr(LeftOut, "marginal", counted)
    words = "for 6 of 6 items tried.*ml.validation.cross_validate.*split=ml.validation.Items"
    with pytest.raises(FitError, match=words):
        ml.validation.compare_layouts({"one": made}, unit="item")
    assert len(tried) == len(set(tried)) == 6


def refitted(layout, evaluation, place):
    """Log of the chance of an item's outcomes, under a fit without it."""
    names = list(evaluation.items.index)
    rest = evaluation.select(items=[name for name in names if name != names[place]])
    options = {"draws": 1000, "tune": 500, "chains": 2, "seed": 3, "progressbar": False}
    draws = draws_of(ml.fit(layout, rest, **options))
    spread = draws["easeSpread"] * np.sqrt(1 + 1 / (len(names) - 1))
    levels = own_part(draws["ability"], evaluation.successes.to_numpy()[:, place], spread)
    return logsumexp(levels) - np.log(len(levels))


@pytest.mark.slow
def test_items_against_fits_without_them(evaluation):
    """The mean difference is within .15 nats; cells, which know the item's ease, are not."""
    layout = shared_layouts.rasch()
    options = {"draws": 1000, "tune": 500, "chains": 2, "seed": 1, "progressbar": False}
    whole = ml.fit(layout, evaluation, **options)
    found = ml.validation.loo(whole, unit="item")
    expected = np.array([refitted(layout, evaluation, place) for place in range(ITEMS)])
    sure = found.pareto_k.to_numpy() <= found.good_k
    assert sure.sum() >= 4
    apart = (found.elpd_i.to_numpy() - expected)[sure]
    assert abs(apart.mean()) < 0.15
    assert np.abs(apart).max() < 0.5
    cells = ml.validation.loo(whole).elpd_i.groupby("item").sum()
    cells = cells.sel(item=found.elpd_i["item"]).to_numpy()
    assert (cells - expected)[sure].mean() > 0.2


@pytest.mark.slow
def test_subjects_against_fits_without_them():
    """Every other subject."""
    layout = shared_layouts.rasch()
    evaluation = shared_layouts.simulated(layout, 12, 12, seed=7)[0]
    options = {"draws": 1000, "tune": 500, "chains": 2, "progressbar": False}
    found = ml.validation.loo(ml.fit(layout, evaluation, seed=1, **options), unit="subject")
    expected = []
    places = range(0, 12, 2)
    for place in places:
        name = evaluation.subjects[place]
        rest = evaluation.select(subjects=[one for one in evaluation.subjects if one != name])
        draws = draws_of(ml.fit(layout, rest, seed=3, **options))
        logits = draws["ease"] + draws["mean"][:, None]
        levels = own_part(logits, evaluation.successes.to_numpy()[place], draws["spread"])
        expected.append(logsumexp(levels) - np.log(len(levels)))
    chosen = found.elpd_i[::2].to_numpy()
    sure = found.pareto_k[::2].to_numpy() <= found.good_k
    assert sure.sum() >= 5
    apart = (chosen - np.array(expected))[sure]
    assert abs(apart.mean()) < 0.15
    assert np.abs(apart).max() < 0.5
