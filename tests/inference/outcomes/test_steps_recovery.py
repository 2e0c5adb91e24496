"""Known truth comes back from grades and scores: 90 % of 90 % intervals hold it.

Profiles are drawn from the prior, so that this is exact for any layout and number of items. Limit:
4 binomial standard errors. Twins must fail: a precision that is wrong, and steps counted as if
every attempt had tried all of them.
"""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts as of

import measurement_layouts as ml

pytestmark = pytest.mark.slow
MASS, SUBJECTS, ITEMS = 0.9, 120, 20
SLACK = 4 * np.sqrt(MASS * (1 - MASS) / SUBJECTS)
GRID = {"method": "grid", "draws": 500, "chains": 2, "seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(5)
    names = [f"s{number}" for number in range(SUBJECTS)]
    return pd.DataFrame({"objectPermanence": rng.uniform(0, 10, SUBJECTS)}, names)


def success():
    return ml.Success("found", of.keeps(noise=0.1))


def graded():
    return ml.Graded("path", of.keeps(noise=0.1), grades=of.GRADES, gap=1.5)


def score(precision=1.0):
    return ml.Score("credit", of.keeps(noise=0.1), precision=precision)


def intervals(layout, evaluation, **options):
    table = ml.fit(layout, evaluation, **GRID | options).profiles(prob=MASS)
    return table.pivot_table(["low", "high", "sd"], "subject", "node", sort=False)


def coverage(found, truth):
    low, high = (found[end][truth.columns].loc[truth.index] for end in ("low", "high"))
    return ((low <= truth) & (truth <= high)).mean()


KINDS = {
    "graded": lambda: of.layout(graded()),
    "score": lambda: of.layout(score()),
    "all": lambda: of.layout(success(), graded(), score()),
}


@pytest.fixture(scope="module")
def found(truth):
    """Layout, evaluation and intervals of each kind."""
    seen = {}
    for name, make in KINDS.items():
        layout = make()
        evaluation = ml.simulate(layout, of.items(ITEMS), truth, seed=3)
        seen[name] = layout, evaluation, intervals(layout, evaluation)
    return seen


@pytest.mark.parametrize("name", KINDS)
def test_intervals_hold_the_truth(name, found, truth):
    assert (abs(coverage(found[name][2], truth) - MASS) < SLACK).all()


def test_gaps_and_precision_come_back():
    """By NUTS, at a large battery: within 4 posterior standard deviations, which are small."""
    layout = of.layout(of.labelled(), of.score(ml.Slope("precision")))
    profile = {"objectPermanence": [5.0], "noise": 0.1, "gap[first]": 0.5, "gap[second]": 2.0}
    true = pd.DataFrame(profile | {"precision": 3.0}, ["Ann"])
    evaluation = ml.simulate(layout, of.items(300), true, seed=1, trials=2)
    table = ml.fit(layout, evaluation, draws=400, tune=500, chains=2, seed=1, progressbar=False)
    rows = table.profiles()
    names = rows["node"] + rows["label"].map(lambda label: f"[{label}]" if label else "")
    wanted = true.loc["Ann", names].to_numpy()
    assert (abs(rows["mean"] - wanted) < 4 * rows["sd"]).all()
    assert (rows.loc[rows["node"].isin(["gap", "precision"]), "sd"] < 0.3).all()
    assert (abs(rows["mean"] - wanted[::-1]) > 4 * rows["sd"]).any()
