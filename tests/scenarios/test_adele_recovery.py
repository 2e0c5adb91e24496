"""Layouts give known abilities back; curves do where one demand decides; mixes move neither."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError, Evaluation, FitError
from measurement_layouts.batteries.logistic_curves import area
from measurement_layouts.scenarios.adele.battery import SLOPE, battery, simulated_cohort
from measurement_layouts.scenarios.adele.layouts import capability_layout
from measurement_layouts.scenarios.adele.reproduction import estimates, mixes, recovery
from measurement_layouts.scenarios.scenario import Cohort

COLUMNS = estimates.COLUMNS
ITEMS = 1600
SOME = 6


def few(cohort):
    """Keep some subjects."""
    profiles = cohort.profiles.iloc[::2].head(SOME)
    return Cohort(cohort.evaluation.select(subjects=profiles.index), profiles)


def misnamed(cohort):
    """Give the items each other's demands, the last one's to the first and so on."""
    given = cohort.evaluation
    turned = given.items[COLUMNS[::-1]].set_axis(COLUMNS, axis=1)
    items = turned.join(given.items["unguessability"])
    return Cohort(Evaluation(items, given.successes, given.trials), cohort.profiles)


@pytest.fixture(scope="module")
def isolated():
    return few(estimates.isolated_cohort(each=20))


@pytest.fixture(scope="module")
def correlated():
    return few(simulated_cohort(items=ITEMS))


@pytest.fixture(scope="module")
def curves(correlated):
    return estimates.curve_abilities(correlated)


def unbiased(found, allowed=0.05):
    """Within three errors of a mean, and what a prior may do to a posterior mean.

    A subject's abilities are estimated together, so half of the estimates count.
    """
    error = found["width"] / (2 * 1.645) / np.sqrt(found["counted"] / 2)
    return abs(found["bias"]) < allowed + 3 * error


def covers(found):
    """Within three errors of so many 90 % intervals, half of which count."""
    return abs(found["coverage"] - 0.9) < 3 * np.sqrt(0.9 * 0.1 / (found["counted"] / 2))


def test_an_isolated_item_asks_for_one_ability():
    items = estimates.isolated(each=3)
    levels = items[COLUMNS]
    assert levels.shape == (18 * 6 * 3, 18)
    assert ((levels > 0).sum(axis=1) <= 1).all()
    assert all((levels == level).sum().eq(3).all() for level in range(1, 6))
    assert items.index.is_unique


@pytest.mark.slow
def test_curves_aim_at_the_truth_where_items_ask_for_one_ability(isolated, curves):
    """There each is a logistic, whose area is known; 0.05 is what the 17 others cost at level 0."""
    found = estimates.curve_abilities(isolated)
    known = area(SLOPE * found["truth"].to_numpy(), SLOPE)
    np.testing.assert_allclose(found["aim"], known, atol=0.05)
    low = curves["aim"] - curves["truth"]
    assert low.groupby("dimension").mean().max() < -0.2  # twin: items that ask for many
    assert low.mean() < -0.6
    summary = recovery.summary(found[found["truth"] <= 5])
    assert unbiased(summary, allowed=0.02)
    assert summary["rmse"] < 0.25


@pytest.mark.slow
def test_curves_find_what_they_aim_at_and_not_the_truth(curves):
    found = recovery.summary(curves)
    about_aims = recovery.summary(curves.assign(truth=curves["aim"]))
    assert unbiased(about_aims)
    assert not unbiased(found)
    assert found["aim_coverage"] == about_aims["coverage"]
    assert covers(about_aims)
    assert not covers(found)


def test_errors_take_subjects_as_units():
    names = pd.MultiIndex.from_product([list("abcd"), range(9)], names=["subject", "dimension"])
    means = np.array([1.0, 2.0, 3.0, 6.0])
    alike = pd.Series(means.repeat(9), names)
    assert recovery.mean_error(alike) == pytest.approx(means.std(ddof=1) / 2)
    assert np.isnan(recovery.mean_error(alike.iloc[:9]))


def test_tables_say_what_the_estimates_say():
    names = ["battery", "method", "subject", "dimension"]
    cells = [["isolated", "correlated"], ["curves", "layout"], ["Ann", "Bob"], ["AS", "VO"]]
    index = pd.MultiIndex.from_product(cells, names=names)
    table = pd.DataFrame({"truth": [4.0, 6.0] * 8, "aim": 4.0}, index)
    miss = np.where(index.get_level_values("method") == "curves", -0.5, 0.25)
    table["estimate"] = table["truth"] + miss
    table["low"], table["high"] = table["truth"] - 0.1, table["truth"] + [0.5, 3.0] * 8
    found = recovery.recovery(table)
    assert found.loc[("isolated", "curves"), "counted"].to_dict() == {
        "all": 4,
        "narrow": 2,
        "up to 5": 2,
    }
    assert found.xs("layout", level="method")["bias"].eq(0.25).all()
    assert found["coverage"].eq(1).all()
    biases = recovery.by_dimension(table)
    assert biases["correlated", "curves"].to_dict() == {"AS": -0.5, "VO": -0.5}
    assert biases["isolated", "curves without end"].to_dict() == {"AS": 0.0, "VO": -2.0}


def test_the_ratio_of_hard_items_grows_five_times():
    def ratio(items):
        hard = (items[COLUMNS] == 5).any(axis=1).sum()
        return hard / (len(items) - hard)

    plain, harder = (mixes.drawn(items=2000, times=times) for times in (1, 5))
    assert len(plain) == len(harder) == 2000
    assert harder.index.is_unique
    assert ratio(harder) / ratio(plain) == pytest.approx(5, rel=0.01)  # rounding
    assert ratio(plain) == pytest.approx(ratio(battery()), rel=0.01)


def test_too_many_hard_items_are_refused():
    with pytest.raises(DataError, match=r"items=16000 and times=5 ask for \d+ items of level 5"):
        mixes.drawn(items=16_000, times=5)
    with pytest.raises(FitError, match=r"items=0\.5"):
        mixes.drawn(items=0.5)


@pytest.mark.slow
def test_the_layout_has_no_bias_where_curves_have(correlated, curves):
    """A wrong floor, or demands under other names, fail the same checks."""
    layout = capability_layout()
    found = recovery.summary(estimates.layout_abilities(correlated, layout))
    assert unbiased(found), found
    assert covers(found), found
    assert found["rmse"] < 0.4 < recovery.summary(curves)["rmse"]
    sure = estimates.layout_abilities(correlated, capability_layout(guessed=False))
    assert not unbiased(recovery.summary(sure))
    turned = estimates.layout_abilities(misnamed(correlated), layout)
    assert not covers(recovery.summary(turned))


@pytest.mark.slow
def test_isolated_items_identify_every_ability_up_to_their_levels(isolated):
    table = estimates.layout_abilities(isolated, capability_layout(guessed=False))
    found = recovery.summary(table[table["truth"] <= 5])
    assert unbiased(found), found
    assert covers(found), found


@pytest.mark.slow
def test_another_mix_moves_accuracy_and_not_abilities():
    """Section 2.2; the same measure of change rejects what accuracy does."""
    found = mixes.mixes(items=ITEMS // 2)
    z, change = found["typical_z"], found["change"].abs()
    assert z["accuracy"] > 4
    assert change["accuracy"] > 0.1
    abilities = ["curves", "layout"]
    assert z[abilities].max() < 1.3
    assert (change[abilities] < 0.05 + 3 * found.loc[abilities, "change_se"]).all()
    assert change["curves without end"] < 0.1
