"""Coverage of forecasts of new items and new subjects, over simulated studies."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_fits import at_the_median, normal
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.inference.model import new_levels
from measurement_layouts.linking import logistic

STUDIES, NEW = 12, 12
SUBJECTS, ITEMS = 24, 16
PROB = 0.9
SAMPLING = {"draws": 400, "tune": 400, "chains": 2, "reruns": 0, "progressbar": False}


def layout():
    """Priors of which the studies are drawn, so that 90 % intervals hold 90 %."""
    ability = ml.Capability(
        "ability",
        prior=normal(
            ml.Bias("mean", per="population"),
            ml.Spread("spread", prior=ml.Prior("Gamma", alpha=8, beta=8)),
        ),
    )
    spread = ml.Spread("easeSpread", prior=ml.Prior("Gamma", alpha=8, beta=8))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=spread))
    return ml.Layout("rasch", ml.Success("solved", logistic(ability + ease)))


def study(seed):
    """Draw a study, and the chances on what the fit does not see: subjects and items at the end."""
    rng = np.random.default_rng([7, seed])
    mean, (spread, wide) = rng.normal(), rng.gamma(8, 1 / 8, 2)
    ability = rng.normal(mean, spread, SUBJECTS + NEW)
    ease = rng.normal(0, wide, ITEMS + NEW)
    ease -= ease[:ITEMS].mean()
    chances = expit(ability[:, None] + ease)
    solved = (rng.random(chances.shape) < chances).astype(float)
    names = [f"s{row}" for row in range(SUBJECTS + NEW)], [f"i{row}" for row in range(ITEMS + NEW)]
    return pd.DataFrame(chances, *names), pd.DataFrame(solved, *names)


def held(chances, forecast):
    """Whether intervals hold the chances."""
    data = forecast.data.transpose("subject", "item")
    own = chances.loc[data["subject"].to_numpy(), data["item"].to_numpy()]
    return (data["low"].to_numpy() <= own) & (own <= data["high"].to_numpy())


@pytest.fixture(scope="module")
def covered():
    """Intervals of each case that hold the chance: one cell for each new subject or item."""
    found = {case: [] for case in ("new item", "new subject", "both", "no item part")}
    briers = []
    for seed in range(STUDIES):
        chances, solved = study(seed)
        known, items = solved.index[:SUBJECTS], solved.columns
        training = solved.iloc[:SUBJECTS, :ITEMS]
        evaluation = ml.Evaluation.from_wide(training, pd.DataFrame(index=training.columns))
        fit = ml.fit(layout(), evaluation, seed=seed + 1, **SAMPLING)
        people, what = pd.DataFrame(index=solved.index), pd.DataFrame(index=items)
        forecast = fit.forecast(what, subjects=people, prob=PROB)
        whole = held(chances, forecast).to_numpy()
        own = np.arange(NEW)
        found["new item"] += whole[own, ITEMS + own].tolist()
        found["new subject"] += whole[SUBJECTS + own, own].tolist()
        found["both"] += whole[SUBJECTS + own, ITEMS + own].tolist()
        briers.append(
            [
                ((table - solved.to_numpy()) ** 2)[SUBJECTS:, ITEMS:].mean()
                for table in (forecast.data["mean"].to_numpy(), chances.to_numpy(), 0.5)
            ]
        )
        with pytest.MonkeyPatch.context() as without:
            without.setattr(new_levels, "from_scores", at_the_median)
            narrow = fit.forecast(what, subjects=list(known), prob=PROB)
        found["no item part"] += held(chances, narrow).to_numpy()[own, ITEMS + own].tolist()
    return found, np.array(briers)


def slack(cells):
    return 3 * np.sqrt(PROB * (1 - PROB) / len(cells))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["new item", "new subject", "both"])
def test_intervals_hold_the_chances_of_what_is_new(covered, case):
    cells = covered[0][case]
    assert abs(np.mean(cells) - PROB) < slack(cells)


@pytest.mark.slow
def test_forecasts_of_strangers_on_new_items_lie_between_the_truth_and_a_guess(covered):
    forecast, truth, guess = covered[1].mean(axis=0)
    assert truth < forecast < guess
