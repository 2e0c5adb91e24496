"""What leaving groups out tells, and predictions that use it."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.linking import logistic
from measurement_layouts.validation import ChosenLayout, Elsewhere, FittedLayout, transfer
from measurement_layouts.validation.prediction.splits import Groups, masked

HARDER = dict(zip("abcdef", (-1.5, 1.5, -0.5, 0.5, -1.0, 1.0), strict=True))


@pytest.fixture(scope="module")
def layout():
    size = ml.MetaFeature("size", low=0, high=5)
    return ml.Layout("one", ml.Success("done", logistic(ml.Capability("skill", 0, 5) - size)))


@pytest.fixture(scope="module")
def evaluation():
    """Six groups of items that are harder or easier than their size says."""
    rng = np.random.default_rng(3)
    items = pd.DataFrame({"size": rng.uniform(0, 5, 120), "kind": np.repeat(list("abcdef"), 20)})
    items.index = [f"item-{place}" for place in range(120)]
    skill = np.array([[1.5], [2.5], [3.5]])
    chance = expit(skill - (items["size"] + items["kind"].map(HARDER)).to_numpy())
    outcomes = pd.DataFrame(rng.binomial(1, chance), ["Ann", "Bob", "Cy"], items.index)
    return ml.Evaluation.from_wide(outcomes, items)


@pytest.fixture(scope="module")
def told(layout, evaluation):
    return transfer(FittedLayout(layout, method="grid"), evaluation, "kind", progressbar=False)


def test_groups_that_are_harder_are_found(told):
    """An offset is that of a group against the others, which are harder by a fifth of it less."""
    harder = pd.Series(HARDER)
    assert sorted(told.table.index) == list("abcdef")
    assert told.table["offset"].sort_index().to_numpy() == pytest.approx(
        -1.2 * harder.to_numpy(), abs=0.6
    )
    assert told.table["items"].eq(20).all()
    assert told.table["trials"].eq(60).all()
    summary = told.summary()
    assert summary.loc["group_sd", "low"] < 1.3 < summary.loc["group_sd", "high"]


def test_groups_are_a_column_or_named_by_item(layout, evaluation, told):
    named = evaluation.item_table["kind"].to_dict()
    how = FittedLayout(layout, method="grid")
    assert transfer(how, evaluation, named, progressbar=False).draws.equals(told.draws)


def test_forecasts_of_groups_met_stay_as_they_are(layout, evaluation, told):
    training = masked(evaluation, evaluation.item_table.index[100:])
    fit = FittedLayout(layout, method="grid").fit(training, seed=1)
    items = evaluation.item_table.iloc[[0, 119]].assign(size=2.5)
    items.index = ["of group a", "of group f"]
    found, home = (fit.forecast(items, trust=trust).data for trust in (told, "home"))
    assert (found["mean"][:, 0] == home["mean"][:, 0]).all()
    wider = (found["high"] - found["low"]) / (home["high"] - home["low"])
    assert (wider[:, 1] > 1.5).all()


def test_nothing_held_out_is_learnt_from(layout, evaluation):
    """Other outcomes of what is held out leave the prediction as it is."""
    held = list(evaluation.item_table.index[100:])
    turned = ml.Evaluation(
        evaluation.items,
        evaluation.successes.assign(**{name: 1 - evaluation.successes[name] for name in held}),
        evaluation.trials,
    )
    assessor = Elsewhere(FittedLayout(layout, method="grid"), "kind")
    one, other = (
        assessor.predict(masked(each, held), held, seed=1) for each in (evaluation, turned)
    )
    assert one.identical(other)


def test_a_layout_is_chosen_before_groups_are_left_out(layout, evaluation):
    """Size explains success, and a bias alone does not."""
    plain = ml.Layout("plain", ml.Success("done", logistic(ml.Bias("ease"))))
    sampling = {"draws": 60, "tune": 80, "chains": 1}
    choice = ChosenLayout({"plain": plain, "one": layout}, "kind", **sampling)
    held = list(evaluation.item_table.index[100:])
    training = masked(evaluation, held)
    best = FittedLayout(layout, **sampling)
    assert choice.best(training, seed=1) == best
    found, own = (
        Elsewhere(how, "kind", folds=2).predict(training, held, seed=1) for how in (choice, best)
    )
    assert found.identical(own)
    with pytest.raises(DataError, match="size"):
        Elsewhere(choice, "kind").check(evaluation.items[["kind"]])


@pytest.mark.slow
def test_intervals_elsewhere_hold_the_success_of_a_group(layout, evaluation):
    """Groups harder by more than a log-odd: the layout alone is too sure.

    Items of a group are off together, so that the mean of their intervals is nearly that of the
    group's mean success, of 18 subjects and groups.
    """
    found = ml.validation.cross_validate(
        {
            "alone": FittedLayout(layout, method="grid", trust="home"),
            "told": Elsewhere(FittedLayout(layout, method="grid"), "kind"),
        },
        evaluation,
        split=Groups("kind", folds=6),
        progressbar=False,
    )
    kind = found.predictions["item"].map(evaluation.item_table["kind"])
    cells = found.predictions.groupby(["method", "subject", kind])
    means = cells[["successes", "low", "high"]].mean()
    held = means["successes"].between(means["low"], means["high"]).groupby("method").mean()
    assert held["told"] > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 18)
    assert held["alone"] < 0.5


def test_one_group_is_too_few(layout, evaluation):
    with pytest.raises(DataError, match="all items are of the group x"):
        transfer(layout, evaluation, dict.fromkeys(evaluation.item_table.index, "x"))


def test_items_need_a_group(layout, evaluation):
    with pytest.raises(DataError, match="item item-0 has no group; give one to each item"):
        transfer(layout, evaluation, {"item-1": "x"})
    with pytest.raises(DataError, match="columns"):
        transfer(layout, evaluation, "family")
