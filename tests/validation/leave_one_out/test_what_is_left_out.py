"""Leave-one-out of whole items and subjects: by hand, against refits, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, shared_layouts
from scipy.special import log_expit, logsumexp, roots_hermitenorm

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.linking import logistic
from measurement_layouts.validation.leave_one_out.compare import stacking_weights

SUBJECTS, ITEMS = 12, 8


@pytest.fixture(scope="module")
def evaluation():
    return shared_layouts.simulated(shared_layouts.rasch(), SUBJECTS, ITEMS)[0]


@pytest.fixture(scope="module")
def fit(evaluation):
    return ml.fit(
        shared_layouts.rasch(),
        evaluation,
        draws=500,
        tune=300,
        chains=2,
        seed=1,
        progressbar=False,
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
    for place in range(len(found.table)):
        if unit == "item":
            others = np.delete(draws["ease"], place, axis=1).mean(axis=1)
            logits = draws["ability"] + others[:, None]
            spread = draws["easeSpread"] * np.sqrt(1 + 1 / (ITEMS - 1))
            levels = own_part(logits, won[:, place], spread)
        else:
            logits = draws["ease"] + draws["mean"][:, None]
            levels = own_part(logits, won[place], draws["spread"])
        by_hand.append(np.log(len(levels)) - logsumexp(-levels))
    sure = found.table["worst_k"].to_numpy() < 0.4
    assert sure.sum() >= 3
    apart = found.table["elpd"].to_numpy() - np.array(by_hand)
    np.testing.assert_allclose(apart[sure], 0, atol=0.1)
    assert found.unit == unit
    assert repr(found).startswith(f"<LeaveOneOut by {unit}: {len(found.table)} {unit}s, 96 outc")
    assert found.table["outcomes"].tolist() == [won.size // len(found.table)] * len(found.table)
    assert list(found.pointwise["elpd"].dims) == [unit]


def test_what_others_taught_of_an_item_is_not_known_of_a_new_one(fit):
    """By cell an item's own ease is known, so that whole items are foreseen worse."""
    cells = ml.validation.loo(fit).pointwise["elpd"]
    items = ml.validation.loo(fit, unit="item").table["elpd"]
    assert items.sum() < float(cells.sum()) - 1


def test_some_subjects_are_left_out(fit):
    names = fit.subjects[3:5]
    found = ml.validation.loo(fit, unit="subject", subjects=names)
    every = ml.validation.loo(fit, unit="subject")
    assert found.table.index.tolist() == names
    pd.testing.assert_frame_equal(found.table, every.table.loc[names])


@pytest.fixture(scope="module")
def alone(evaluation):
    skill = ml.Capability("skill", low=-4, high=4)
    layout = ml.Layout("alone", ml.Success("solved", logistic(skill)))
    return ml.fit(layout, evaluation, method="grid", seed=1, progressbar=False)


def test_an_item_of_subjects_alone_is_its_cells(alone):
    cells = ml.validation.loo(alone)
    items = ml.validation.loo(alone, unit="item")
    of_item = cells.pointwise.to_dataframe().groupby(level="item")
    expected = of_item["elpd"].sum().loc[items.table.index]
    np.testing.assert_allclose(items.table["elpd"], expected, rtol=1e-12)
    worst = of_item["k"].max().loc[items.table.index]
    np.testing.assert_allclose(items.table["worst_k"], worst)
    assert items.table["p_loo"].sum() == pytest.approx(cells.table["p_loo"].sum())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "subject"}, "subjects share no value"),
        ({"unit": "task"}, "give the unit to leave out: 'cell', 'item' or 'subject'"),
        ({"unit": "item", "subjects": ["subject 1"]}, "omit subjects="),
    ],
)
def test_what_cannot_be_left_out_is_refused(alone, options, words):
    with pytest.raises(FitError, match=words):
        ml.validation.loo(alone, **options)
    with pytest.raises(FitError, match=words):
        ml.validation.compare_layouts({"one": alone, "other": alone}, **options)


def test_layouts_are_compared_by_item(fit, alone):
    compared = ml.validation.compare_layouts({"rasch": fit, "alone": alone}, unit="item")
    single = {
        name: ml.validation.loo(one, unit="item")
        for name, one in {"rasch": fit, "alone": alone}.items()
    }
    points = np.stack([one.table["elpd"] for one in single.values()], axis=1)
    total = compared.total.set_index("layout")
    for place, name in enumerate(single):
        assert total.loc[name, "elpd"] == pytest.approx(points[:, place].sum())
        assert total.loc[name, "weight"] == pytest.approx(stacking_weights(points)[place])
        assert total.loc[name, "se"] == pytest.approx(np.sqrt(ITEMS * points[:, place].var(ddof=1)))
    apart = points[:, 0] - points[:, 1]
    behind = compared.total.iloc[1]
    assert behind["elpd_diff"] == pytest.approx(-abs(apart.sum()))
    assert behind["dse"] == pytest.approx(np.sqrt(ITEMS * apart.var(ddof=1)))
    assert compared.unit == compared.rows == "item"
    assert repr(compared).startswith("<LayoutComparison by item: 2 layouts, 8 items; best in tot")
    assert compared.table.columns[0] == "item"
    assert len(compared.table) == 2 * ITEMS
    assert compared.table["dse"].isna().all()


def test_a_warning_names_what_is_left_out(evaluation):
    """An item that decides the others' profiles almost alone."""
    draws = joint_fits.random_draws(shared_layouts.rasch(), evaluation, 400, seed=3)
    draws["ability"] *= 4
    made = joint_fits.crafted(shared_layouts.rasch(), evaluation, draws, chains=2)
    compared = ml.validation.compare_layouts({"one": made, "other": made}, unit="item")
    bad = compared.table[compared.table["bad_k"] > 0]
    assert len(bad)
    assert bad["warning"].str.contains("fit without this item and score its forecasts").all()
    assert compared.total["warning"].str.contains("items? with a warning").all()


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
    sure = found.table["bad_k"].to_numpy() == 0
    assert sure.sum() >= 4
    apart = (found.table["elpd"].to_numpy() - expected)[sure]
    assert abs(apart.mean()) < 0.15
    assert np.abs(apart).max() < 0.5
    cells = ml.validation.loo(whole).pointwise["elpd"].groupby("item").sum()
    cells = cells.sel(item=found.table.index).to_numpy()
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
    table = found.table.iloc[places]
    sure = table["bad_k"].to_numpy() == 0
    assert sure.sum() >= 5
    apart = (table["elpd"].to_numpy() - np.array(expected))[sure]
    assert abs(apart.mean()) < 0.15
    assert np.abs(apart).max() < 0.5
