"""The rivals of populations by hand, the splits, and the scores of what is held out."""

import dataclasses
import json
import os

import judged_cohorts
import numpy as np
import pandas as pd
import population_by_hand as by_hand
import population_data as data
import population_mixed as mixture
import population_rivals as rivals
import population_scores as scores
import populations
import pytest
from battery_cases import DATA
from helpers.function_cases import AS_WRITTEN
from scipy.integrate import quad
from scipy.special import expit, logsumexp
from scipy.stats import norm

import measurement_layouts as ml

real_data = pytest.mark.skipif(not os.environ.get(DATA), reason="there are no real data")


def cohort(chances, seed=1, groups=None, **named):
    """Outcomes by chance, each cell one trial."""
    rng = np.random.default_rng(seed)
    subjects = [f"s{place:03}" for place in range(len(chances))]
    items = pd.DataFrame(index=[f"i{place:02}" for place in range(chances.shape[1])])
    outcomes = pd.DataFrame(
        (rng.random(chances.shape) < chances).astype(int), subjects, items.index
    )
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    alike = pd.Series(items.index if groups is None else groups, items.index)
    return data.Cohort("simulated", evaluation, alike, **named)


@pytest.fixture(scope="module")
def simulated():
    """Two hundred subjects of spread 1.2, forty items of spread 0.8 and their chances."""
    rng = np.random.default_rng(3)
    chances = expit(0.3 + 1.2 * rng.normal(size=(200, 1)) + 0.8 * rng.normal(size=40))
    return cohort(chances), chances


def test_cells_are_held_out_in_row_order():
    held = data.held_cells(cohort(np.full((7, 5), 0.5)), 4)
    drawn = np.random.default_rng(4).random(35)
    assert (held.ravel() == (drawn < 0.2)).all()


def test_groups_are_held_out_whole():
    groups = np.repeat([f"g{place}" for place in range(10)], 3)
    known = cohort(np.full((4, 30), 0.5), groups=groups)
    flags = [data.held_items(known, seed) for seed in range(6)]
    for held in flags:
        assert held.sum() == 6
        assert (held.reshape(10, 3).min(axis=1) == held.reshape(10, 3).max(axis=1)).all()
    assert len({tuple(held) for held in flags}) > 1


def test_ten_attempted_items_are_known_of_a_new_subject():
    known = cohort(np.full((4, 30), 0.5))
    lacking = known.without(np.arange(30) < 15)
    short = data.Cohort("short", lacking, known.groups)
    flags = data.known_items(short, "s002", 0)
    assert flags.sum() == data.KNOWN_ITEMS
    assert not flags[:15].any()


def test_held_out_cells_leave_no_trace():
    known = cohort(np.full((6, 20), 0.5))
    held = data.held_cells(known, 0)
    left = known.without(held)
    assert left.trials.to_numpy()[held].sum() == left.successes.to_numpy()[held].sum() == 0
    assert (left.successes.to_numpy()[~held] == known.successes[~held]).all()
    turned = np.where(held, 1 - known.successes, known.successes)
    for way in (rivals.subject_means, lambda *cells: mixture.mixed(*cells).chances):
        seen = (np.where(held, 0, cells) for cells in (known.successes, known.trials))
        assert np.isfinite(way(*seen)).all()
    changed = ml.Evaluation(
        known.evaluation.items,
        known.evaluation.successes * 0 + turned.astype(int),
        known.evaluation.trials,
    )
    other = data.Cohort("other", changed, known.groups)
    for way in rivals.RIVALS:
        one, two = (rivals.forecast(way, of, held, 1) for of in (known, other))
        assert (one == two).all()


def test_the_score_counts_every_trial_of_a_cell():
    items = pd.DataFrame(index=["a", "b"])
    successes, trials = (pd.DataFrame([row], ["s"], items.index) for row in ([2, 0], [3, 1]))
    known = data.Cohort("counts", ml.Evaluation(items, successes, trials), pd.Series())
    chances = np.array([[0.5, 0.2]])
    by_trial = [(0.5 - 1) ** 2, (0.5 - 1) ** 2, 0.5**2, 0.2**2]
    assert scores.brier(chances, known, np.ones((1, 2), bool)) == pytest.approx(np.mean(by_trial))
    assert scores.brier(chances, known, np.array([False, True])) == pytest.approx(0.04)


def test_errors_are_clustered_by_groups():
    """Copies of a column add nothing: the error of one copy, but for G / (G - 1)."""
    rng = np.random.default_rng(0)
    apart = rng.normal(0.1, 1, (30, 20))
    copied, names = np.repeat(apart, 3, axis=1), np.arange(60)
    groups = pd.Series(names // 3, names)
    single = scores.over_groups(apart, np.zeros(apart.shape), pd.Series(range(20)))
    triple = scores.over_groups(copied, np.zeros(copied.shape), groups)
    naive = scores.over_groups(copied, np.zeros(copied.shape), pd.Series(names, names))
    assert triple == pytest.approx(single)
    assert naive.error < 0.7 * triple.error
    columns = apart.mean(axis=0)
    assert single.error == pytest.approx(columns.std(ddof=1) / np.sqrt(20))


def test_differences_over_splits_have_the_error_of_a_mean():
    table = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.5]})
    found = scores.summary(table, "b").loc["a"]
    assert found["mean"] == pytest.approx(0.2)
    assert found["difference"] == pytest.approx(-0.4 / 3)
    assert found["error"] == pytest.approx(np.std([-0.1, -0.1, -0.2], ddof=1) / np.sqrt(3))
    assert scores.over_splits(table["a"], table["b"]).below
    assert not scores.over_splits(table["b"], table["a"]).below


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.0), (-2.0, 0.7), (1.5, 2.5)])
def test_chances_are_averaged_over_normal_log_odds(mean, spread):
    found = mixture.averaged(np.array([mean]), np.array([spread]))[0]
    area, _ = quad(lambda z: expit(mean + spread * z) * norm.pdf(z), -12, 12)
    assert found == pytest.approx(area, abs=1e-4)


def test_the_marginal_likelihood_and_the_log_odds_are_those_of_a_grid():
    """Laplace's error falls with the trials: about 0.01 nats and posterior sds, of 60 a cell."""
    trials = np.array([[60.0, 60.0], [60.0, 0.0]])
    successes = np.array([[40.0, 35.0], [20.0, 0.0]])
    design = np.stack([np.ones((2, 2)), np.array([[0.0, 1.0], [0.0, 1.0]])], axis=2)
    cells = mixture.Cells(successes, trials, design, np.array(["intercept", "items"]), "subjects")
    line = np.linspace(-5, 5, 33)
    own_a, own_b, intercept, item = np.meshgrid(*[line] * 4, indexing="ij", sparse=True)
    odds = [[own_a + intercept, own_a + intercept + item], [own_b + intercept, None]]
    likelihood = sum(
        successes[place] * odds[place[0]][place[1]]
        - trials[place] * np.logaddexp(0, odds[place[0]][place[1]])
        for place in [(0, 0), (0, 1), (1, 0)]
    )
    for spread in (0.5, 1.0):
        prior = norm.logpdf(own_a, 0, spread) + norm.logpdf(own_b, 0, spread)
        prior = prior + norm.logpdf(item, 0, 0.7) + norm.logpdf(intercept, 0, mixture.USUAL)
        joint = likelihood + prior
        exact = logsumexp(joint)
        mode = cells.at({"subjects": spread, "items": 0.7})
        assert mode.evidence == pytest.approx(exact + 4 * np.log(line[1] - line[0]), abs=0.03)
        weight = np.exp(joint - exact)
        unseen = own_b + intercept + item  # the cell without trials
        mean = (weight * unseen).sum()
        spread_of = np.sqrt((weight * (unseen - mean) ** 2).sum())
        found = cells.odds(mode)
        assert found[0][1, 1] == pytest.approx(mean, abs=0.05 * spread_of)
        assert found[1][1, 1] == pytest.approx(spread_of, rel=0.05)


def test_more_items_than_subjects_are_fitted_just_so(simulated):
    """Subjects and items change places when the table is turned."""
    known, _ = simulated
    one = mixture.mixed(known.successes, known.trials)
    other = mixture.mixed(known.successes.T, known.trials.T)
    assert np.abs(one.chances - other.chances.T).max() < 0.003
    assert one.spreads["items"] == pytest.approx(other.spreads["subjects"], rel=0.03)


def test_the_rasch_model_finds_spreads_and_chances(simulated):
    """Standard errors of spreads: about 6 % of 200 subjects', 11 % of 40 items'."""
    known, chances = simulated
    found = mixture.mixed(known.successes, known.trials)
    assert found.spreads["subjects"] == pytest.approx(1.2, rel=0.18)
    assert found.spreads["items"] == pytest.approx(0.8, rel=0.34)
    assert np.sqrt(((found.chances - chances) ** 2).mean()) < 0.08
    held = data.held_cells(known, 0)
    mean, rasch = (
        scores.brier(rivals.forecast(way, known, held, 0), known, held)
        for way in ("subject's mean", "Rasch")
    )
    truth = scores.brier(chances, known, held)
    assert truth < rasch < truth + 0.01 < mean


def test_without_items_that_differ_rasch_gains_nothing():
    """The twin: every subject's outcomes come from its chance alone."""
    rng = np.random.default_rng(5)
    known = cohort(np.repeat(expit(rng.normal(size=(200, 1))), 20, axis=1))
    assert mixture.mixed(known.successes, known.trials).spreads["items"] < 0.25


def test_a_new_item_is_foreseen_as_an_average_one(simulated):
    known, _ = simulated
    held = np.arange(40) < 3
    chances = rivals.forecast("Rasch", known, held, 0)
    assert np.ptp(chances[:, :3], axis=1).max() < 1e-9
    own = np.where(held, np.nan, known.successes)
    assert np.corrcoef(chances[:, 0], np.nanmean(own, axis=1))[0, 1] > 0.98
    assert chances[:, 0].mean() == pytest.approx(np.nanmean(own), abs=0.03)


def test_properties_of_subjects_and_items_are_weighed():
    """Weights within 3 standard errors of about 0.1."""
    rng = np.random.default_rng(7)
    known, demand = rng.normal(size=(300, 1)), rng.normal(size=30)
    chances = expit(0.7 * known - demand + 0.5 * rng.normal(size=(300, 1)))
    covariates = pd.DataFrame({"tests": known[:, 0], "batch": np.resize(["a", "b"], 300)})
    simulated = cohort(chances)
    found = mixture.mixed(
        simulated.successes,
        simulated.trials,
        demands=pd.DataFrame({"demand": demand}),
        covariates=covariates,
    )
    assert found.weights == pytest.approx([0.7 * known.std(), 0], abs=0.15)
    assert found.spreads["subjects"] == pytest.approx(0.5, abs=0.15)
    assert found.spreads["items"] < 0.2


@pytest.mark.parametrize(("second", "gains"), [(2.0, True), (0.0, False)])
def test_two_factors_are_found_where_there_are_two(second, gains):
    rng = np.random.default_rng(11)
    loadings = np.outer(second * rng.normal(size=300), np.resize([1, -1], 24))
    known = cohort(expit(rng.normal(size=(300, 1)) + loadings + rng.normal(size=24)))
    held = data.held_cells(known, 0)
    rasch, two = (
        scores.brier(rivals.forecast(way, known, held, 0), known, held)
        for way in ("Rasch", "two factors")
    )
    assert (two < rasch - 0.02) is gains
    assert two < rasch + 0.003


@real_data
def test_the_cohorts_have_their_stated_sizes():
    found = {name: make() for name, make in data.COHORTS.items()}
    sizes = {name: known.trials.shape for name, known in found.items()}
    assert sizes == {
        "animal-ai": (68, 69),
        "fractions": (536, 20),
        "exam": (729, 13),
        "gsm8k": (44, 400),
        "adele": (12, 800),
    }
    groups = {name: known.groups.nunique() for name, known in found.items()}
    assert groups == {"animal-ai": 23, "fractions": 20, "exam": 13, "gsm8k": 400, "adele": 11}
    assert set(found["animal-ai"].groups.value_counts()) == {3}
    for known in found.values():
        assert set(known.demands) <= set(known.evaluation.items)


@real_data
def test_tasks_of_a_triplet_are_alike_beyond_agent_and_task():
    """Groups drawn by chance are not."""
    known = data.animal_ai()
    rest = known.successes - known.successes.mean(axis=0)
    together = np.corrcoef((rest - rest.mean(axis=1, keepdims=True)).T)
    drawn = known.groups.sample(frac=1, random_state=1).to_numpy()
    alike = {}
    for name, groups in (("triplets", known.groups.to_numpy()), ("drawn", drawn)):
        same = (groups[:, None] == groups) & ~np.eye(69, dtype=bool)
        alike[name] = together[same].mean()
    assert alike["triplets"] == pytest.approx(0.37, abs=0.01)
    assert abs(alike["drawn"]) < 0.1


@real_data
@pytest.mark.slow
def test_rivals_of_the_exam_score_as_was_measured_independently():
    known = data.exam()
    ways = ["subject's mean", "Rasch", "explanatory"]
    found = rivals.scored(known, ways, data.held_cells, range(3), 1).mean()
    assert found.to_list() == pytest.approx([0.2333, 0.1916, 0.1892], abs=0.001)


def test_shared_values_are_summarised_by_name_and_place():
    rng = np.random.default_rng(0)
    draws = {"spread": rng.normal(2, 1, (4, 500)), "ease": rng.normal(0, 1, (4, 500, 2))}
    found = by_hand.shared_values(draws)
    assert list(found.index) == ["spread", "ease[0]", "ease[1]"]
    assert found["mean"].to_list() == pytest.approx([2, 0, 0], abs=0.1)
    assert (found["ess"] > 1000).all()
    shown = by_hand.Sampled(2.0, found, 0)
    assert shown.per_second == shown.least / 2


@pytest.fixture(scope="module")
def small():
    """A cohort that each of the three models takes."""
    rng = np.random.default_rng(2)
    known = cohort(np.full((6, 8), 0.6))
    items = known.evaluation.items.assign(
        distance=rng.uniform(5, 40, 8),
        rewardBehind=rng.choice([0, 0.5, 1], 8),
        XPos=rng.choice([-1, 0, 1], 8),
        smallness=rng.uniform(1, 6, 8),
        **{f"needed[{skill}]": rng.integers(0, 2, 8) for skill in range(7)},
    ).assign(**{"needed[7]": 1})
    evaluation = ml.Evaluation(items, known.evaluation.successes, known.evaluation.trials)
    covariates = pd.DataFrame({"tests": rng.normal(size=6)}, evaluation.subjects)
    demands = tuple(f"needed[{skill}]" for skill in range(8))
    return data.Cohort("small", evaluation, known.groups, demands, ("tests",), covariates)


def by_formula(model, cohort, value):
    """Chances of the cells, in NumPy."""
    items = cohort.evaluation.items
    if model == "exam":
        return expit(value["ability"][:, None] + value["ease"])
    if model == "fractions":
        needed = items[list(cohort.demands)].to_numpy(dtype=bool)
        applied = expit(value["ability"][:, None, None] - value["difficulty"])
        knows = np.where(needed, applied, 1).prod(axis=2)
        return expit(np.log(knows / (1 - knows)) + value["ease"])
    names = ("navigation", "visual", "turning", "bias", "steepness", "sharpness", "noise")
    own = (value[name][:, None] for name in names)
    navigation, visual, turning, bias, steep, sharp, noise = own
    way, behind, side, smallness = (
        items[column].to_numpy() for column in ("distance", "rewardBehind", "XPos", "smallness")
    )
    reach = way + turning * behind - bias * side
    able = expit(np.exp(steep) * (navigation - reach + value["ease"]))
    able = able * expit(np.exp(sharp) * (visual - smallness))
    return (1 - expit(noise)) * able + expit(noise) / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", by_hand.MODELS)
def test_models_by_hand_are_their_formulas(name, small):
    model = by_hand.MODELS[name](small, form="centred")
    rng = np.random.default_rng(1)
    point = {
        key: value + rng.normal(0, 0.3, np.shape(value))
        for key, value in model.initial_point().items()
    }
    names = [variable.name for variable in model.free_RVs]
    unconstrained = model.replace_rvs_by_values(model.free_RVs)
    drawn = model.compile_fn(unconstrained, inputs=model.value_vars, mode=AS_WRITTEN)(point)
    values = dict(zip(names, drawn, strict=True))
    chances = by_formula(name, small, values)
    right = small.successes.astype(bool)
    expected = np.log(np.where(right, chances, 1 - chances)).sum()
    found = model.compile_logp(vars=[model["answer"]], mode=AS_WRITTEN)(point)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_a_benchmark_that_lacks_its_data_says_so(monkeypatch):
    monkeypatch.delenv(DATA, raising=False)
    with pytest.raises(FileNotFoundError, match=DATA):
        populations.main(["--case", "cells-exam"])


@pytest.mark.slow
def test_the_forms_of_a_model_by_hand_have_one_posterior(small):
    """Other outcomes have another one, by more than the Monte Carlo errors."""
    sampling = {"chains": 2, "tune": 500, "draws": 1000}
    one, *others = (
        by_hand.sampled(by_hand.exam, small, form=form, seed=1, sampling=sampling)
        for form in by_hand.FORMS
    )
    assert "ability" not in " ".join(one.shared.index)
    assert "ease[7]" in one.shared.index
    for other in others:
        assert populations.same("case", "other form", one, other).holds
    successes = small.evaluation.trials - small.evaluation.successes
    turned = ml.Evaluation(small.evaluation.items, successes, small.evaluation.trials)
    opposite = dataclasses.replace(small, evaluation=turned)
    other = by_hand.sampled(by_hand.exam, opposite, form="centred", seed=1, sampling=sampling)
    assert not populations.same("case", "other outcomes", one, other).holds


@pytest.mark.slow
@real_data
def test_the_benchmark_prints_a_line_for_each_rival(capsys):
    cases = ["items-animal-ai", "items-adele"]
    status = populations.main(["--quick", "--json", "--case", *cases])
    said = json.loads(capsys.readouterr().out)
    assert [figure["name"] for figure in said["figures"]] == [
        f"{cohort}, whole items: {way}: Brier score"
        for cohort in ("Animal-AI", "ADeLe-labelled")
        for way in ("Rasch", "explanatory")
    ]
    assert status == (not all(figure["holds"] for figure in said["figures"]))


@pytest.mark.parametrize("name", judged_cohorts.MISFITS)
def test_judged_cohorts_have_the_misfit_that_they_are_named_for(name):
    kind, _ = judged_cohorts.MISFITS[name]
    assert kind.spoil is not None
    plain = np.zeros((kind.subjects, kind.items)) - 1
    moved = kind.spoil(plain, np.random.default_rng(1)) != plain
    if kind.table == "groups":
        assert moved[1::2, :3].all()
        assert moved.sum() == 3 * kind.subjects / 2
    elif kind.table == judged_cohorts.SUSPICION:
        assert moved[0].sum() == moved.sum() == 0.2 * kind.items
    else:
        assert moved.all()
    known = judged_cohorts.drawn(kind, 1)
    assert (len(known.subjects), len(known.items)) == (kind.subjects, kind.items)
    table = {"subject": known.subjects, "item": known.items.index}
    there = set(table.get(kind.column, known.items["testlet"]))
    assert set(kind.wrong) <= there


def test_the_best_tests_of_items_that_differ_find_more_with_more_subjects():
    few, many = (judged_cohorts.dif_ceilings(0.8, count, 20, 0.05) for count in (200, 800))
    assert few[0] == pytest.approx(0.27, abs=0.02)  # 2.3 standard errors beside the 3.0 needed
    assert few[1] == pytest.approx(0.61, abs=0.02)  # any of three, or all of them together
    assert many[0] > 0.9
    assert many[1] > 0.99
    nothing = judged_cohorts.dif_ceilings(1e-6, 200, 20, 0.05)
    assert nothing == pytest.approx((0.05 / 20 / 2, 0.05), rel=0.1)
