"""The future left out: by hand from made-up draws, and what cannot be cut."""

import numpy as np
import pytest
from helpers import joint_fits, pretend_jointly
from scipy.special import expit, logsumexp
from scipy.stats import binom, norm

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.inference.fitting import fit
from measurement_layouts.inference.population.newcomer import log_predictive
from measurement_layouts.scenarios import weirdml
from measurement_layouts.validation import leave_future_out

OPTIONS = {"draws": 20, "tune": 20, "progressbar": False}
SHAPES = {name: weirdml.trend_layout(name) for name in ("line", "kink")}


@pytest.fixture(scope="module")
def models():
    cohort = weirdml.simulated_cohort()
    few = {"items": cohort.evaluation.items.index[:12], "subjects": cohort.evaluation.subjects[::3]}
    chosen = cohort.evaluation.select(**few)
    return weirdml.dated(chosen, weirdml.release_dates())


def predictive(found, own):
    """Log densities of a new model's outcomes, summed over its horizon, draw by draw."""
    names = ("start", "rate", "horizonSpread", "slope")
    start, rate, spread, slope = (found.posterior[name].to_numpy().ravel() for name in names)
    won, tried = own.successes.to_numpy()[0], own.trials.to_numpy()[0]
    scores = np.linspace(-9, 9, 4001)[:, None]
    centre = start + rate * own.subject_table.iat[0, 0]
    margin = centre + spread * scores - own.items["logHours"].to_numpy()[:, None, None]
    levels = binom.logpmf(won[:, None, None], tried[:, None, None], expit(slope * margin)).sum(0)
    return logsumexp(levels + norm.logpdf(scores), axis=0) + np.log(scores[1, 0] - scores[0, 0])


def test_a_later_model_by_hand(models):
    layout = SHAPES["line"]
    earlier = models.select(subjects=models.subjects[:5])
    draws = joint_fits.random_draws(layout, earlier, 16, seed=1)
    found = joint_fits.crafted(layout, earlier, draws, chains=2)
    own = models.select(subjects=[models.subjects[5]])
    expected = predictive(found, own)
    values = log_predictive(found, own, seed=1)
    assert values == pytest.approx(expected, abs=1e-5)
    other = models.select(subjects=[models.subjects[7]])
    assert values != pytest.approx(log_predictive(found, other, seed=1), abs=1e-2)  # the twin


def test_blocks_are_foreseen_from_all_before_them(models, monkeypatch):
    pretend_jointly.install(monkeypatch)
    found = leave_future_out(SHAPES, models, by="released", blocks=2, **OPTIONS)
    who, elpd = models.subjects, found.table.pivot(index="subject", columns="layout", values="elpd")
    assert sorted(elpd.index) == sorted(who[4:])
    for place, learnt in ((5, 4), (6, 6)):
        earlier = models.select(subjects=who[:learnt])
        alone = fit(SHAPES["line"], earlier, seed=1, chains=2, target_accept=0.9, **OPTIONS)
        values = log_predictive(alone, models.select(subjects=[who[place]]), seed=1)
        expected = logsumexp(values) - np.log(len(values))
        assert elpd.loc[who[place], "line"] == pytest.approx(expected, abs=1e-9)
    assert found.unit == "subject"
    assert not {"p_loo", "bad_k"} & {*found.table, *found.total}
    assert found.total["elpd"].to_numpy() == pytest.approx(
        elpd.sum()[found.total["layout"]].to_numpy()
    )


def test_models_of_one_day_go_together(models, monkeypatch):
    pretend_jointly.install(monkeypatch)
    dates = models.subject_table.assign(released=[-1.0] * 3 + [0.0] * 5)
    same = ml.Evaluation(models.items, models.successes, models.trials, subjects=dates)
    found = leave_future_out(SHAPES, same, by="released", blocks=1, **OPTIONS)
    assert set(found.table["subject"]) == set(dates.index[dates["released"] >= 0])


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {"by": "born"}, DataError, "born"),
        ({}, {"learnt": 1.5}, FitError, "learnt"),
        ({}, {"blocks": 0}, FitError, "blocks"),
        ({}, {"blocks": 20}, DataError, "give a smaller blocks="),
        ({"released": 0.5}, {}, DataError, "1 different values of released"),
    ],
)
def test_what_cannot_be_cut(change, options, error, message, models):
    people = models.subject_table.assign(**change)
    known = ml.Evaluation(models.items, models.successes, models.trials, subjects=people)
    with pytest.raises(error, match=message):
        leave_future_out(SHAPES, known, **{"by": "released", **OPTIONS, **options})


def test_layouts_that_foresee_nobody(models):
    with pytest.raises(DataError, match="at least two"):
        leave_future_out({"line": SHAPES["line"]}, models, by="released")
    with pytest.raises(DataError, match=r"layouts\['kink'\]: this is None, not a Layout"):
        leave_future_out(SHAPES | {"kink": None}, models, by="released")
    alone = SHAPES | {"alone": weirdml.published_layout()}
    with pytest.raises(FitError, match="under alone subjects share nothing, so that later"):
        leave_future_out(alone, models, by="released")
