"""Comparing layouts: the one that made the data wins, ArviZ agrees, and only like is compared."""

import dataclasses

import arviz_stats
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.linking import logistic
from measurement_layouts.validation.leave_one_out.compare import stacking_weights
from measurement_layouts.validation.leave_one_out.smoothing import standard_error

GRID = {"method": "grid", "seed": 1, "progressbar": False}
COLUMNS = ["rank", "elpd", "se", "p_loo", "items", "elpd_diff", "dse", "weight", "bad_k", "warning"]


def layouts():
    """One that knows what makes items hard, one that takes them as alike, one that errs."""
    reach = ml.MetaFeature("reach", low=-3, high=3)
    colour = ml.MetaFeature("colour", low=-3, high=3)
    able, luck = ml.Capability("able", low=-3, high=3), ml.Capability("luck", low=0, high=1)
    return {
        "alike": ml.Layout("alike", ml.Success("ok", luck)),
        "hard": ml.Layout("hard", ml.Success("ok", logistic(able - reach, slope=2))),
        "wrong": ml.Layout("wrong", ml.Success("ok", logistic(able - colour, slope=2))),
    }


@pytest.fixture(scope="module")
def outcomes():
    """Made by the layout that knows."""
    rng = np.random.default_rng(8)
    items = pd.DataFrame(rng.uniform(-3, 3, (60, 2)), columns=["reach", "colour"])
    items = items.rename("item-{}".format)
    profiles = pd.DataFrame({"able": [1.0, -1.0, 0.0]}, index=["Ann", "Bob", "Cyd"])
    made = ml.simulate(layouts()["hard"], items, profiles, seed=3)
    successes = made.successes.astype(float)
    successes.loc["Cyd", successes.columns[40:]] = np.nan
    return ml.Evaluation.from_wide(successes, items)


@pytest.fixture(scope="module")
def fits(outcomes):
    return {name: ml.fit(layout, outcomes, **GRID) for name, layout in layouts().items()}


@pytest.fixture(scope="module")
def compared(fits):
    return ml.validation.compare_layouts(fits)


def test_the_layout_that_made_the_data_wins(compared):
    best = compared.table[compared.table["rank"] == 1]
    assert best["layout"].tolist() == ["hard"] * 3
    assert compared.total["layout"].tolist() == ["hard", "alike", "wrong"]
    assert (compared.total["elpd_diff"] < -4 * compared.total["dse"])[1:].all()
    assert compared.total["weight"][0] > 0.9


def test_data_of_the_other_layout_turn_the_ranks(outcomes):
    """Twin: the richer layout does not win whatever the data are."""
    profiles = pd.DataFrame({"luck": [0.5, 0.5, 0.5]}, index=["Ann", "Bob", "Cyd"])
    made = ml.simulate(layouts()["alike"], outcomes.items, profiles, seed=3)
    fits = {name: ml.fit(layout, made, **GRID) for name, layout in layouts().items()}
    total = ml.validation.compare_layouts(fits).total
    assert total["layout"][0] == "alike"
    assert total["elpd_diff"][1] < -4 * total["dse"][1]


def test_table(compared, fits):
    table = compared.table
    assert table.columns.tolist() == ["subject", "layout", *COLUMNS]
    assert table["subject"].tolist() == np.repeat(["Ann", "Bob", "Cyd"], 3).tolist()
    assert table["rank"].tolist() == [1, 2, 3] * 3
    assert table["items"].tolist() == [60] * 6 + [40] * 3
    for _, own in table.groupby("subject"):
        assert own["elpd"].is_monotonic_decreasing
        np.testing.assert_allclose(own["elpd_diff"], own["elpd"] - own["elpd"].iloc[0])
        np.testing.assert_allclose(own["weight"].sum(), 1)
    wanted = ml.validation.loo(fits["wrong"]).table
    mine = table[table["layout"] == "wrong"].set_index("subject")
    for name in ("elpd", "se", "p_loo", "items", "bad_k"):
        np.testing.assert_array_equal(mine[name], wanted[name])


def test_totals_add_up(compared, fits):
    total, table = compared.total, compared.table
    assert total.columns.tolist() == ["layout", *COLUMNS]
    sums = table.groupby("layout")[["elpd", "p_loo", "items", "bad_k"]].sum().loc[total["layout"]]
    np.testing.assert_allclose(total[sums.columns], sums)
    pointwise = {name: ml.validation.loo(fit).pointwise["elpd"] for name, fit in fits.items()}
    for row in total[1:].itertuples():
        behind = pointwise[row.layout] - pointwise["hard"]
        errors = [standard_error(own.to_numpy()) for _, own in behind.groupby("subject")]
        np.testing.assert_allclose(row.elpd_diff, behind.sum())
        np.testing.assert_allclose(row.dse, np.sqrt(np.sum(np.square(errors))))


def test_shown_in_one_line(compared):
    assert repr(compared).startswith(
        "<LayoutComparison by cell: 3 layouts, 3 subjects; best in total: hard, ahead of alike by "
    )


def test_arviz_agrees(compared, fits):
    trees = {}
    for name, fit in fits.items():
        posterior = fit.posterior.sel(subject="Ann")
        if name == "alike":
            chances = np.repeat(posterior["luck"].to_numpy()[..., None], 60, axis=-1)
        else:
            demand = fit.constants["reach" if name == "hard" else "colour"].to_numpy()
            chances = 1 / (1 + np.exp(2 * (demand - posterior["able"].to_numpy()[..., None])))
        failures = 1 - fit.observed["successes"][fit.observed["subject"] == "Ann"].to_numpy()
        values = xr.Dataset({"ok": (("chain", "draw", "item"), np.log(abs(failures - chances)))})
        trees[name] = xr.DataTree.from_dict({"posterior": posterior, "log_likelihood": values})
    theirs = arviz_stats.compare(trees, round_to="none")
    ours = compared.table[compared.table["subject"] == "Ann"].set_index("layout")
    assert theirs.index.tolist() == ours.index.tolist()
    for mine, other in (("elpd", "elpd"), ("se", "se"), ("p_loo", "p"), ("elpd_diff", "elpd_diff")):
        np.testing.assert_allclose(ours[mine], theirs[other], rtol=1e-6, atol=1e-8)
    bessel = np.sqrt(60 / 59)  # ArviZ divides by n in this one standard error
    np.testing.assert_allclose(ours["dse"], theirs["dse"] * bessel, rtol=1e-6)
    np.testing.assert_allclose(ours["weight"], theirs["weight"], atol=2e-3)


def test_order_and_choice_of_fits_change_no_number(compared, fits):
    turned = ml.validation.compare_layouts(dict(reversed(fits.items())), subjects=["Bob"])
    wanted = compared.table[compared.table["subject"] == "Bob"].reset_index(drop=True)
    numbers = turned.table.drop(columns="weight")
    pd.testing.assert_frame_equal(numbers, wanted.drop(columns="weight"))
    np.testing.assert_allclose(turned.table["weight"], wanted["weight"], atol=1e-4)


def test_items_may_come_in_another_order(fits, outcomes, compared):
    turned = ml.Evaluation(
        outcomes.items[::-1], outcomes.successes.iloc[:, ::-1], outcomes.trials.iloc[:, ::-1]
    )
    again = ml.fit(layouts()["hard"], turned, **GRID)
    total = ml.validation.compare_layouts({**fits, "hard": again}).total
    np.testing.assert_allclose(total["elpd"], compared.total["elpd"], atol=1e-6)
    np.testing.assert_allclose(total["dse"], compared.total["dse"], atol=1e-6)


# --- only like with like -------------------------------------------------------------------------


def refit(outcomes, change, subjects=None):
    successes, trials = outcomes.successes.copy(), outcomes.trials.copy()
    change(successes, trials)
    evaluation = ml.Evaluation(outcomes.items, successes, trials)
    return ml.fit(layouts()["alike"], evaluation, subjects=subjects, **GRID)


def test_other_items(fits, outcomes):
    def leave_out(successes, trials):
        successes.loc["Bob", "item-7"] = trials.loc["Bob", "item-7"] = 0

    other = {"hard": fits["hard"], "other": refit(outcomes, leave_out)}
    wanted = "Bob's items in the fit of 'other' are not those of the fit of 'hard': missing item-7;"
    with pytest.raises(DataError, match=wanted):
        ml.validation.compare_layouts(other)
    ml.validation.compare_layouts(other, subjects=["Ann", "Cyd"])


def test_other_outcomes(fits, outcomes):
    def flip(successes, trials):
        successes.loc["Ann", "item-3"] = 1 - successes.loc["Ann", "item-3"]

    def count(successes, trials):
        trials.loc["Ann", "item-3"] = 4

    for change in (flip, count):
        with pytest.raises(DataError, match=r"Ann's outcomes in .*'other' are not .* on item-3;"):
            ml.validation.compare_layouts({"hard": fits["hard"], "other": refit(outcomes, change)})


def test_missing_subjects(fits, outcomes):
    fewer = refit(outcomes, lambda *tables: None, subjects=["Ann"])
    for pair in ({"hard": fits["hard"], "fewer": fewer}, {"fewer": fewer, "hard": fits["hard"]}):
        with pytest.raises(DataError, match="fit of 'fewer' does not hold Bob, Cyd; fit all"):
            ml.validation.compare_layouts(pair)
    failed = dataclasses.replace(fewer, failures={"Bob": "no start"})
    with pytest.raises(DataError, match=r"does not hold Bob \(no start\)"):
        ml.validation.compare_layouts({"hard": fits["hard"], "fewer": failed}, subjects="Bob")


@pytest.mark.parametrize("subjects", [None, []])
def test_nothing_to_compare(fits, subjects):
    with pytest.raises(DataError, match="at least two fits"):
        ml.validation.compare_layouts({} if subjects is None else fits, subjects=subjects)


def test_one_layout_is_its_own_best(fits):
    total = ml.validation.compare_layouts({"hard": fits["hard"]}).total
    assert total[["rank", "elpd_diff", "dse", "weight"]].to_numpy().tolist() == [[1, 0, 0, 1]]


# --- warnings ------------------------------------------------------------------------------------


def test_warnings_say_what_to_do(rng):
    """Draws that find the one failure next to impossible, and chains that do not meet."""
    tosses = small_layouts.counts([1, 1, 0], [1, 1, 1])
    draws = {
        "sure": 1 - rng.uniform(0, 1, (2, 500)) ** 6,
        "split": rng.uniform([[0.2], [0.6]], [[0.4], [0.8]], (2, 500)),
        "fair": rng.uniform(0.3, 0.7, (2, 500)),
    }
    coin = small_layouts.coin()
    fits = {
        name: small_layouts.crafted(coin, tosses, {"p": own[None]}) for name, own in draws.items()
    }
    found = ml.validation.compare_layouts(fits)
    table = found.table.set_index("layout")["warning"]
    assert table["sure"] == (
        "1 of 3 items have Pareto k above 0.67: fit without them and score their forecasts, or use "
        "cross_validate"
    )
    assert table["split"].startswith("not converged, see Fit.diagnostics")
    assert table["fair"] == ""
    total = found.total.set_index("layout")
    assert total["warning"].to_dict() == {
        "fair": "", "split": "1 subject with a warning", "sure": "1 subject with a warning"
    }  # fmt: skip
    assert total["bad_k"].to_dict() == {"fair": 0, "split": 0, "sure": 1}


# --- stacking ------------------------------------------------------------------------------------


def test_weights_are_the_best(rng):
    """Nothing on a grid of all mixtures foresees the points better."""
    elpd = rng.normal(-1, 0.7, (40, 3))
    weights = stacking_weights(elpd)
    steps = np.linspace(0, 1, 51)
    grid = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1]
    gain = np.log(np.exp(elpd) @ np.transpose([weights, *grid])).sum(axis=0)
    assert gain[0] >= gain[1:].max() - 1e-6
    assert gain[0] > np.log(np.exp(elpd).mean(axis=1)).sum() + 1e-3  # twin: equal weights are not


def test_weights_of_layouts_thousands_of_nats_apart():
    elpd = np.array([[-1.0, -4000.0], [-3000.0, -2000.0], [-5.0, -5.0]])
    np.testing.assert_allclose(stacking_weights(elpd), [0.5, 0.5], atol=1e-3)
    np.testing.assert_allclose(stacking_weights(elpd[:1]), [1, 0], atol=1e-3)
