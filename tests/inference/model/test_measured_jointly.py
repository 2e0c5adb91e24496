"""Measured demands in joint layouts: one level of an item for all subjects."""

import itertools

import numpy as np
import pandas as pd
import pymc as pm
import pytest
from helpers.function_cases import AS_WRITTEN
from helpers.joint_fits import crafted, random_draws
from helpers.joint_points import plain_density
from helpers.measured_exams import ITEMS, KINDS, LEVELS, SUBJECTS, data, exam, judged, one
from helpers.populations import normal
from scipy.special import expit, logsumexp
from scipy.stats import binom, norm

import measurement_layouts as ml
from measurement_layouts import FitError, LayoutError
from measurement_layouts.batteries import design
from measurement_layouts.inference.forecasts.likelihood import Attempted, log_likelihood
from measurement_layouts.inference.population.item_places import item_places
from measurement_layouts.linking import logistic, product
from measurement_layouts.validation import criticise, explained, loo

PLACES = np.array(list(itertools.product(LEVELS, repeat=2)))
ERRORS = 4.5  # Monte Carlo standard errors; by chance once in 150,000


def weights_of(chances):
    """Probability of each combination of levels by the annotations, (items, places)."""
    return (chances[:, 0, :, None] * chances[:, 1, None, :]).reshape(len(chances), -1)


def success(ability, ease):
    """Success at every place: (..., subjects, items, places)."""
    margin = ability[..., :, None, None, :] + ease[..., None, :, None, None] - PLACES
    return expit(margin).prod(axis=-1)


def log_told(chances, evaluation, draws):
    """Log-probability of the places given all outcomes, not normalised: (draws, items, places)."""
    right = success(draws["ability"], draws["ease"])
    counts = (evaluation.successes.to_numpy(), evaluation.trials.to_numpy())
    each = binom.logpmf(*(part[None, :, :, None] for part in counts), right)
    with np.errstate(divide="ignore"):
        return np.log(weights_of(chances)) + each.sum(axis=1), each, right


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(3)
    chances, columns = judged(rng)
    evaluation = data(rng, columns)
    draws = random_draws(exam(), evaluation, 40, seed=1)
    return chances, evaluation, draws, crafted(exam(), evaluation, draws)


@pytest.mark.trust("promises", "measured demands of all subjects together are averaged over")
def test_the_density_has_one_level_for_all_subjects(rng):
    chances, columns = judged(rng)
    evaluation = data(rng, columns)
    model = ml.to_pymc(exam(), evaluation)
    start = model.initial_point()
    point = {name: rng.normal(size=np.shape(value)) for name, value in start.items()}
    counts = evaluation.successes.to_numpy(), evaluation.trials.to_numpy()
    right = success(point["ability"], point["ease"])
    each = binom.logpmf(*(part[:, :, None] for part in counts), right)
    mean, log_spread = point["mean"], point["spread_log__"]
    prior = norm.logpdf(mean).sum() + norm.logpdf(point["ease"]).sum()
    prior += norm.logpdf(np.exp(log_spread)) + np.log(2) + log_spread
    prior += norm.logpdf(point["ability"], mean, np.exp(log_spread)).sum()
    with np.errstate(divide="ignore"):
        exact = logsumexp(np.log(weights_of(chances)) + each.sum(axis=0), axis=1).sum()
    apart = np.log((weights_of(chances) * np.exp(each)).sum(axis=-1)).sum()
    value, _ = plain_density(model)(point)
    assert abs(value - prior - exact) < 1e-10 * abs(value)
    assert abs(exact - apart) > 0.1  # twin: each subject with levels of its own


def test_a_level_that_is_certain_is_a_meta_feature(rng):
    _, columns = judged(rng, node="hard", kinds=[""])
    columns[:] = np.eye(3)[rng.integers(0, 3, len(columns))]
    evaluation = data(rng, columns)
    hard = ml.MetaFeature("hard", levels=LEVELS)
    ability = ml.Capability("ability", prior=normal(ml.Bias("mean", per="population"), 1))
    plain = ml.Layout("plain", ml.Success("right", logistic(ability - hard)))
    level = columns.to_numpy() @ np.array(LEVELS)
    sure = ml.Evaluation(
        pd.DataFrame({"hard": level}, columns.index), evaluation.successes, evaluation.trials
    )
    models = ml.to_pymc(one(), evaluation), ml.to_pymc(plain, sure)
    start = models[0].initial_point()
    point = {name: rng.normal(size=np.shape(value)) for name, value in start.items()}
    values = [float(model.compile_logp(mode=AS_WRITTEN)(point)) for model in models]
    assert abs(values[0] - values[1]) < 1e-10 * abs(values[1])


def test_forecasts_weigh_levels_by_all_outcomes(known):
    """A known item's levels are weighted by what all outcomes say of them."""
    chances, evaluation, draws, fit = known
    told, _, right = log_told(chances, evaluation, draws)
    shares = np.exp(told - logsumexp(told, axis=-1, keepdims=True))
    found = fit.forecast(evaluation.items).data["mean"].to_numpy()
    expected = (right * shares[:, None]).sum(axis=-1).mean(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    annotated = (right * weights_of(chances)).sum(axis=-1).mean(axis=0)
    assert np.abs(annotated - expected)[:, 1:].max() > 0.02  # twin: what the annotations say


def test_new_subjects_and_new_items_under_one_demand(rng):
    """All four cases, exactly: subjects are new with the mean and spread 1, items have no ease."""
    chances, columns = judged(rng, node="hard", kinds=[""])
    evaluation = data(rng, columns)
    draws = random_draws(one(), evaluation, 4000, seed=2)
    fit = crafted(one(), evaluation, draws)
    margin = draws["ability"][:, :, None, None] - np.array(LEVELS)
    counts = evaluation.successes.to_numpy(), evaluation.trials.to_numpy()
    each = binom.logpmf(*(part[None, :, :, None] for part in counts), expit(margin))
    with np.errstate(divide="ignore"):
        told = np.log(chances[:, 0]) + each.sum(axis=1)
    shares = np.exp(told - logsumexp(told, axis=-1, keepdims=True))
    scores, parts = np.polynomial.hermite_e.hermegauss(61)
    anyone = expit(draws["mean"][:, None, None] + scores[:, None] - np.array(LEVELS))
    anyone = (anyone * (parts / parts.sum())[:, None]).sum(axis=1)
    what = pd.concat([columns, columns.rename("new-{}".format)])
    who = pd.DataFrame(index=["Bob", "Dee"])
    found = fit.forecast(what, subjects=who).data["mean"].to_numpy()
    bob = expit(margin)[:, 1]  # (draws, 1, levels)
    np.testing.assert_allclose(found[0, :4], (bob * shares).sum(-1).mean(0), rtol=1e-10)
    np.testing.assert_allclose(found[0, 4:], (bob * chances[:, 0]).sum(-1).mean(0), rtol=1e-10)
    error = ERRORS * 0.5 / np.sqrt(4000)  # of a probability, at most
    dee = anyone[:, None]
    assert np.abs(found[1, :4] - (dee * shares).sum(-1).mean(0)).max() < error
    assert np.abs(found[1, 4:] - (dee * chances[:, 0]).sum(-1).mean(0)).max() < error


def test_a_missing_cell_is_what_bayes_rule_says(rng):
    """Draws from a posterior that a grid gives exactly: two subjects, three items, one cell out."""
    _, columns = judged(rng, ["a", "b", "c"], "hard", [""])
    columns[:] = [[0.5, 0, 0.5], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]
    solved = pd.DataFrame([[0, 3, 0], [0, 0, 2]], ["Ann", "Bob"], columns.index)
    tried = pd.DataFrame([[0, 3, 4], [4, 1, 2]], ["Ann", "Bob"], columns.index)
    evaluation = ml.Evaluation(columns, solved, tried)
    grid = np.linspace(-5, 5, 41)
    mean, ann, bob = (part.ravel() for part in np.meshgrid(grid, grid, grid, indexing="ij"))
    log = norm.logpdf(mean) + norm.logpdf(ann, mean, 1) + norm.logpdf(bob, mean, 1)
    right = expit(np.stack([ann, bob], axis=-1)[:, :, None, None] - np.array(LEVELS))
    counts = solved.to_numpy()[None, :, :, None], tried.to_numpy()[None, :, :, None]
    told = np.log(np.maximum(columns.to_numpy(), 1e-300)) + binom.logpmf(*counts, right).sum(1)
    log += logsumexp(told, axis=-1).sum(axis=-1)
    again = told[:, 0] + np.log(right[:, 0, 0])  # Ann succeeds on a, which she did not try
    whole = logsumexp(log)
    bayes = np.exp(
        logsumexp(log + logsumexp(again, axis=-1) - logsumexp(told[:, 0], axis=-1)) - whole
    )
    at = rng.choice(len(log), 8000, p=np.exp(log - whole))
    draws = {"mean": mean[at], "ability": np.stack([ann[at], bob[at]], axis=1)}
    found = crafted(one(), evaluation, draws).forecast(columns.loc[["a"]])
    found = found.data.sel(subject="Ann")
    assert abs(float(found["mean"].item()) - bayes) < ERRORS * 0.5 / np.sqrt(8000)
    annotated = np.exp(
        logsumexp(log + np.log((right[:, 0, 0] * columns.to_numpy()[0]).sum(axis=-1))) - whole
    )
    assert abs(annotated - bayes) > 0.05  # twin: Bob's failures on a say nothing of its level


def test_a_fit_that_is_read_again_forecasts_the_same(known, tmp_path):
    _, evaluation, _, fit = known
    again = ml.load(fit.save(tmp_path / "exam.nc"))
    found, expected = (one.forecast(evaluation.items).data["mean"] for one in (again, fit))
    np.testing.assert_array_equal(found, expected)


def test_derived_nodes_are_means_by_the_same_weights(known):
    chances, evaluation, draws, fit = known
    told, _, _ = log_told(chances, evaluation, draws)
    shares = np.exp(told - logsumexp(told, axis=-1, keepdims=True))
    found = fit.derived(evaluation.items, "each", subjects=["Ann"])["each"].sel(summary="mean")
    margin = draws["ability"][:, None, [0]] + (draws["ease"][:, :, None, None] - PLACES)
    expected = (expit(margin) * shares[..., None]).sum(axis=2).mean(axis=0)
    np.testing.assert_allclose(found.to_numpy()[0], expected, rtol=1e-10)


def test_the_table_of_items_has_the_levels_given_all_outcomes(known):
    chances, evaluation, draws, fit = known
    told, _, _ = log_told(chances, evaluation, draws)
    share = np.exp(told - logsumexp(told, axis=-1, keepdims=True)).mean(axis=0)
    table = fit.items(prob=0.8).query("node == 'demand'").set_index(["item", "label"])
    assert len(table) == 8
    for at, kind in enumerate(KINDS):
        own = table.xs(kind, level="label").loc[ITEMS]
        mean = share @ PLACES[:, at]
        np.testing.assert_allclose(own["mean"], mean, rtol=1e-10)
        np.testing.assert_allclose(own["sd"] ** 2, share @ PLACES[:, at] ** 2 - mean**2, atol=1e-10)
        below = np.stack([share @ (PLACES[:, at] < level) for level in own["low"]]).diagonal()
        upto = np.stack([share @ (PLACES[:, at] <= level) for level in own["low"]]).diagonal()
        assert (below < 0.1).all()
        assert (upto >= 0.1 - 1e-12).all()
    assert table["trials"].to_numpy()[::2].tolist() == evaluation.trials.sum().tolist()


def test_the_log_likelihood_of_a_cell_is_given_all_others(known):
    chances, evaluation, draws, fit = known
    told, each, _ = log_told(chances, evaluation, draws)
    for row in range(len(SUBJECTS)):
        attempted = Attempted.of(fit, row)
        at = evaluation.items.index.get_indexer(attempted.items)
        without = logsumexp(told - each[:, row], axis=-1)
        expected = (logsumexp(told, axis=-1) - without)[:, at].T
        for places, values in log_likelihood(fit, row, attempted):
            found = values.reshape(len(places), -1)
            np.testing.assert_allclose(found, expected[places], rtol=1e-9, atol=1e-12)
    assert np.isfinite(loo(fit).pointwise["elpd"].to_numpy()[evaluation.trials > 0]).all()


def test_the_model_with_derived_nodes_has_the_same_density(rng):
    demand = ml.Measured("demand", levels=LEVELS)
    twice = ml.Derived("twice", 2 * demand)
    margin = ml.Derived("margin", ml.Capability("a", prior=normal(0, ml.Spread("s"))) - twice)
    layout = ml.Layout("exam", ml.Success("right", logistic(margin)))
    _, columns = judged(rng, kinds=[""])
    evaluation = data(rng, columns)
    models = [ml.to_pymc(layout, evaluation, derived=derived) for derived in (False, True)]
    point = {"a": rng.normal(size=3), "s_log__": np.array(0.1)}
    values = [float(model.compile_logp(mode=AS_WRITTEN)(point)) for model in models]
    assert abs(values[0] - values[1]) < 1e-10
    expected = 2 * columns.to_numpy() @ np.array(LEVELS)
    np.testing.assert_allclose(models[1]["twice"].eval(), expected)


def test_simulated_subjects_share_the_level_of_an_item():
    """The variance of an item's sum over 40 subjects, 3,000 items; its error is sqrt(2 / 3000)."""
    items = pd.DataFrame(
        np.tile([0.5, 0.0, 0.5], (3000, 1)), columns=[f"hard {x:g}" for x in LEVELS]
    )
    layout = one(slope=2)
    truth = ml.validation.draw_truth(
        layout, items.iloc[:1], pd.DataFrame(index=[f"s{row}" for row in range(40)]), seed=1
    )
    truth["ability"][:] = 1.0
    found = ml.simulate(layout, items, truth, seed=2).successes.to_numpy()
    low, high = expit(2.0), expit(2 * (1 - 2.5))
    mean = (low + high) / 2
    together = 40 * mean * (1 - mean) + 40 * 39 * ((low - high) / 2) ** 2
    assert abs(found.sum(axis=0).var() / together - 1) < ERRORS * np.sqrt(2 / 3000)
    assert found.sum(axis=0).var() > 5 * 40 * mean * (1 - mean)  # twin: levels of each subject


def test_drawn_outcomes_of_the_model_share_the_level(rng):
    """PyMC draws a level for each item, as `simulate` does."""
    _, columns = judged(rng, node="hard", kinds=[""])
    columns[:] = [0.5, 0.0, 0.5]
    tried = pd.DataFrame(1, [f"s{row}" for row in range(30)], columns.index)
    model = ml.to_pymc(one(slope=9), ml.Evaluation(columns, tried, tried))
    drawn = pm.draw(pm.do(model, {"ability": np.full(30, 1.25)})["right"], 20, random_seed=1)
    sums = drawn.reshape(20, 30, 4).sum(axis=1)
    assert set(np.unique(sums)) <= {0, 30}
    assert 0 < (sums == 30).mean() < 1


REFUSED = {
    "newcomer": lambda fit, data: fit.newcomer(data.select(subjects=["Ann"])),
    "loo of items": lambda fit, data: loo(fit, unit="item"),
    "loo of subjects": lambda fit, data: loo(fit, unit="subject"),
    "criticise": criticise,
    "adaptive test": lambda fit, data: ml.AdaptiveTest(exam(), data.items, given=fit),
    "design": lambda fit, data: design(exam(), data.items, 2, given=fit),
    "explain": lambda fit, data: fit.explain("q1", "Ann"),
    "item places": lambda fit, data: item_places(fit),
    "explained": lambda fit, data: explained(fit),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_assumes_independent_subjects_is_refused(known, what):
    _, evaluation, _, fit = known
    with pytest.raises(FitError, match=r"demand (is measured|of layout 'exam' is measured)"):
        REFUSED[what](fit, evaluation)


def test_more_combinations_than_are_looked_at_are_refused():
    kinds = ("a", "b", "c", "d")
    hard = ml.Measured("hard", levels=range(6), labels=kinds)
    ability = ml.Capability("able", labels=kinds, prior=normal(0, ml.Spread("spread")))
    right = product(logistic(ability - hard), over="dimension")
    with pytest.raises(LayoutError, match=r"hard have 1,296 combinations .* at most 256"):
        ml.Layout("exam", ml.Success("right", right))
