"""Forecasts of joint fits: known and new subjects on known and new items, against integrals."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_fits import (
    crafted,
    evaluation_of,
    normal,
    random_draws,
    rasch,
    schooled,
)
from scipy.special import expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.linking import logistic, total

DRAWS = 8000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ERRORS = 4.5  # Monte Carlo standard errors; by chance once in 150,000


def integrated(location, spread):
    """Mean success and its Monte Carlo error, of logistic(location + spread * z), by quadrature."""
    location, spread = np.broadcast_arrays(location, spread)
    each = expit(location[:, None] + spread[:, None] * NODES)
    whole = each @ WEIGHTS
    second = (each**2) @ WEIGHTS
    return whole.mean(), np.sqrt((second.mean() - whole.mean() ** 2) / len(location))


def below(end, location, spread):
    """Part of the chances that lie below an end, averaged over draws."""
    return norm.cdf((np.log(end / (1 - end)) - location) / spread).mean()


@pytest.fixture(scope="module")
def simple():
    layout, evaluation = rasch(), evaluation_of(5, 4)
    draws = random_draws(layout, evaluation, DRAWS, seed=3)
    return crafted(layout, evaluation, draws), draws


@pytest.fixture(scope="module")
def rich():
    layout, evaluation = schooled(), evaluation_of(6, 4)
    draws = random_draws(layout, evaluation, DRAWS, seed=4)
    return crafted(layout, evaluation, draws), draws, evaluation


def people(*names):
    return pd.DataFrame(index=list(names))


def cell(forecast, subject, item):
    own = forecast.data.sel(subject=subject, item=item)
    return [float(own[name]) for name in ("mean", "low", "high")]


def cases(draws):
    """Location and spread of the log-odds of each case, by subject and item."""
    ease, known = draws["easeSpread"] * np.sqrt(1 + 1 / 4), draws["ability"][:, 1]
    mean, spread = draws["mean"], draws["spread"]
    return {
        ("s1", "new"): (known, ease),
        ("newcomer", "i2"): (mean + draws["ease"][:, 2], spread),
        ("newcomer", "new"): (mean, np.hypot(spread, ease)),
    }


def test_a_missing_cell_is_the_formula_on_the_draws(simple):
    fit, draws = simple
    found = fit.forecast(people("i0", "i2"))
    for subject, item in ((0, 0), (3, 2)):
        chances = expit(draws["ability"][:, subject] + draws["ease"][:, item])
        expected = [chances.mean(), *np.quantile(chances, [0.05, 0.95])]
        np.testing.assert_allclose(cell(found, f"s{subject}", f"i{item}"), expected, rtol=1e-12)
    assert found.data["trained"].sel(item="i0").to_numpy().tolist() == [False] + [True] * 4


@pytest.mark.parametrize("case", [("s1", "new"), ("newcomer", "i2"), ("newcomer", "new")])
def test_new_subjects_and_items_are_averaged_over(simple, case):
    fit, draws = simple
    found = fit.forecast(people("i2", "new"), subjects=people("s1", "newcomer"))
    location, spread = cases(draws)[case]
    expected, error = integrated(location, spread)
    mean, low, high = cell(found, *case)
    assert abs(mean - expected) < ERRORS * error
    slack = ERRORS * np.sqrt(0.05 * 0.95 / DRAWS)
    assert abs(below(low, location, spread) - 0.05) < slack
    assert abs(below(high, location, spread) - 0.95) < slack


def test_schools_tasks_and_their_pairs_with_subjects(rich):
    """A new subject of a new school, and of a known one; a known subject on a new task."""
    fit, draws, evaluation = rich
    who = pd.DataFrame({"tests": [1.5, -1.0], "school": ["new", "y"]}, index=["stranger", "pupil"])
    what = pd.DataFrame({"size": [0.5, 1.0], "task": ["a", "unmet"]}, index=["j0", "j1"])
    kinds = list(dict.fromkeys(evaluation.subject_table["school"]))
    mean = 1.5 * draws["gain"]
    of_school = draws["ofSchool"][:, kinds.index("y")]
    alone = np.hypot(draws["spread"], 0.5)  # with a liking for the task
    expected = {
        ("stranger", "j0"): (
            mean - 0.5 + draws["ofTask"][:, 0],
            np.hypot(alone, draws["schoolSpread"]),
        ),
        ("stranger", "j1"): (
            mean - 1,
            np.hypot(np.hypot(alone, draws["schoolSpread"]), draws["taskSpread"]),
        ),
        ("pupil", "j0"): (-draws["gain"] + of_school - 0.5 + draws["ofTask"][:, 0], alone),
    }
    found = fit.forecast(what, subjects=who)
    for case, (location, spread) in expected.items():
        whole, error = integrated(location, spread)
        assert abs(cell(found, *case)[0] - whole) < ERRORS * error, case
    of_known = fit.forecast(what, subjects=["s2"])
    location = draws["ability"][:, 2] - 1.0
    whole, error = integrated(location, np.hypot(draws["taskSpread"], 0.5))
    assert abs(cell(of_known, "s2", "j1")[0] - whole) < ERRORS * error
    chances = expit(draws["ability"][:, 2] - 0.5 + draws["ofTask"][:, 0] + draws["liking"][:, 2, 0])
    np.testing.assert_allclose(cell(of_known, "s2", "j0")[0], chances.mean(), rtol=1e-12)
    assert of_known.data["new_level"].to_numpy().tolist() == [[False, True]]
    assert found.data["new_level"].to_numpy().tolist() == [[True, True], [False, True]]


def test_both_plates_that_sum_to_zero_have_their_factor():
    group, story = ml.Category("school", per="subject"), ml.Category("task")
    favour = ml.Bias(
        "favour",
        per=(group, story),
        prior=ml.Prior("ZeroSumNormal", sigma=1.5, n_zerosum_axes=2),
    )
    ability = ml.Capability("ability", prior=normal(0, 1))
    layout = ml.Layout("favours", ml.Success("solved", logistic(ability + favour)))
    evaluation = evaluation_of(6, 4)
    draws = random_draws(layout, evaluation, DRAWS, seed=4)
    fit = crafted(layout, evaluation, draws)
    what = pd.DataFrame({"size": 1.0, "task": ["unmet"]}, index=["new"])
    found = fit.forecast(what, subjects=["s0"])  # three schools, two tasks
    spread = np.full(DRAWS, 1.5 * np.sqrt((1 - 1 / 3) * (1 + 1 / 2)))
    location = draws["ability"][:, 0]
    _, low, high = cell(found, "s0", "new")
    slack = ERRORS * np.sqrt(0.05 * 0.95 / DRAWS)
    assert abs(below(low, location, spread) - 0.05) < slack
    assert abs(below(high, location, spread) - 0.95) < slack


def test_a_cell_does_not_depend_on_what_else_is_asked(rich):
    fit, _, evaluation = rich
    what = pd.DataFrame({"size": 0.7, "task": ["a", "unmet", "b"]}, index=["j0", "j1", "j2"])
    who = pd.DataFrame({"tests": 0.3, "school": ["new", "x"]}, index=["stranger", "pupil"])
    whole = fit.forecast(pd.concat([evaluation.items, what]), subjects=who)
    alone = fit.forecast(what.loc[["j1"]], subjects=who.loc[["stranger"]])
    tight = fit.forecast(pd.concat([evaluation.items, what]), subjects=who, memory_mib=0.5)
    for name in ("mean", "low", "high"):
        assert (tight.data[name] == whole.data[name]).all()
        assert float(whole.data[name].sel(subject="stranger", item="j1")) == float(
            alone.data[name][0, 0]
        )
    same = fit.forecast(what.assign(size=0.7).rename({"j1": "j7"}), subjects=who)
    assert (same.data["mean"][:, 1].to_numpy() == whole.data["mean"].sel(item="j1")).all()
    other = fit.forecast(what.assign(task=["a", "else", "b"]), subjects=who)
    assert (other.data["mean"][:, 1].to_numpy() != whole.data["mean"].sel(item="j1")).all()


def test_the_result_says_what_is_known(simple):
    fit, _ = simple
    found = fit.forecast(people("i2", "new"), subjects=people("s1", "newcomer", "other"))
    assert found.data["known_subject"].to_numpy().tolist() == [True, False, False]
    assert found.data["known_item"].to_numpy().tolist() == [True, False]
    assert "2 new subjects, 1 new items" in repr(found)
    table = found.to_frame()
    assert table["known_item"].tolist() == [True, False] * 3
    assert not table["trained"].to_numpy()[1:].any()


WRONG = {
    "another size": (dict(items={"size": 1.9}), "item i1 is in the fit with size ="),
    "another task": (dict(items={"task": "a"}), "item i1 is in the fit with task = 'b'"),
    "another covariate": (dict(subjects={"tests": 2.9}), "subject s1 is in the fit with tests ="),
    "another school": (dict(subjects={"school": "x"}), "subject s1 is in the fit with school"),
    "no task": (dict(items={"task": None}), "task is missing for i1 of the items"),
    "no school": (dict(subjects={"school": None}), "school is missing for s1 of the subjects"),
    "no covariate": (dict(subjects={"tests": np.nan}), "tests"),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_properties_under_a_known_name_are_refused(rich, name):
    fit, _, evaluation = rich
    changes, said = WRONG[name]
    what = evaluation.items.loc[["i1"]].assign(**changes.get("items", {}))
    who = evaluation.subject_table.loc[["s1"]].assign(**changes.get("subjects", {}))
    with pytest.raises(ml.DataError, match=said):
        fit.forecast(what, subjects=who)


def chained():
    """Tasks of benchmarks: the ease of a task lies about that of its benchmark."""
    task = ml.Category("task")
    benchmark = ml.Category("benchmark", per=task)
    of_benchmark = ml.Bias("ofBenchmark", per=benchmark)
    ease = ml.Bias("ease", per=task, prior=normal(of_benchmark, 0.5))
    layout = ml.Layout("chain", ml.Success("solved", logistic(ml.Bias("mood") + ease)))
    table = evaluation_of(3, 4)
    items = table.items.assign(benchmark=table.items["task"].map({"a": "A", "b": "B"}))
    return layout, ml.Evaluation(items, table.successes, table.trials)


def test_a_new_task_lies_about_its_benchmark():
    layout, evaluation = chained()
    draws = random_draws(layout, evaluation, DRAWS, seed=2)
    fit = crafted(layout, evaluation, draws)
    what = pd.DataFrame({"task": ["c", "d"], "benchmark": ["B", "C"]}, index=["known", "new"])
    found = fit.forecast(what, subjects=["s1"])
    mood = draws["mood"][:, 1]
    for item, location, spread in (
        ("known", mood + draws["ofBenchmark"][:, 1], 0.5),
        ("new", mood, np.hypot(0.5, 1)),
    ):
        whole, error = integrated(location, np.full(DRAWS, spread))
        assert abs(cell(found, "s1", item)[0] - whole) < ERRORS * error


@pytest.mark.parametrize("task", ["a", "new"])
def test_a_task_of_two_benchmarks_is_refused(task):
    layout, evaluation = chained()
    fit = crafted(layout, evaluation, random_draws(layout, evaluation, 100, seed=2))
    what = pd.DataFrame({"task": task, "benchmark": ["A", "B"]}, index=["one", "other"])
    with pytest.raises(ml.DataError, match=f"task '{task}' has several"):
        fit.forecast(what)


def test_a_new_subject_is_held_against_all_items(rich):
    fit, _, evaluation = rich
    sizes = evaluation.items["size"]
    what = pd.DataFrame({"size": [sizes.mean(), 2.0], "task": "a"}, index=["inside", "beyond"])
    who = pd.DataFrame({"tests": 0.3, "school": ["x"]}, index=["stranger"])
    found = fit.forecast(what, subjects=who)
    assert found.data["outside_training"].to_numpy().tolist() == [[False, True]]
    assert found.outside()["subject"].tolist() == ["stranger"]


def test_a_prior_without_quantiles_is_refused_for_new_levels_alone():
    prior = ml.Prior("SkewNormal", mu=0, sigma=1, alpha=2)
    ease = ml.Bias("ease", per="item", prior=prior)
    layout = ml.Layout("skewed", ml.Success("solved", logistic(ml.Bias("mood") + ease)))
    evaluation = evaluation_of(3, 4)
    fit = crafted(layout, evaluation, random_draws(layout, evaluation, 100, seed=1))
    assert fit.forecast(people("i0")).data["mean"].shape == (3, 1)
    with pytest.raises(ml.FitError, match="ease: its prior is SkewNormal"):
        fit.forecast(people("new"))


def test_labels_have_priors_and_new_levels_of_their_own():
    labels = ("near", "far")
    ease = ml.Bias(
        "ease",
        per="item",
        labels=labels,
        dim="range",
        prior={"near": normal(1, 0.5), "far": normal(-2, 1)},
    )
    task = ml.Category("task")
    push = ml.Bias(
        "push",
        per=task,
        labels=labels,
        dim="range",
        prior=normal(ml.Bias("top", per="population"), 0.3),
    )
    use = ml.MetaFeature("use", low=0, high=1, labels=labels, dim="range")
    layout = ml.Layout(
        "ranges",
        ml.Success("solved", logistic(ml.Bias("mood") + total((ease + push) * use, over="range"))),
    )
    table = evaluation_of(3, 4)
    items = table.items.assign(**{"use[near]": [0.3, 0.1, 0, 1], "use[far]": [0.7, 0, 0.2, 1]})
    evaluation = ml.Evaluation(items, table.successes, table.trials)
    draws = random_draws(layout, evaluation, DRAWS, seed=1)
    fit = crafted(layout, evaluation, draws)
    what = pd.DataFrame(
        {"use[near]": [1.0, 0.0], "use[far]": [0.0, 1.0], "task": ["unmet", "b"]}, index=["n", "f"]
    )
    found = fit.forecast(what, subjects=["s1"])
    for item, location, spread in (
        ("n", draws["mood"][:, 1] + 1 + draws["top"], np.hypot(0.5, 0.3)),
        ("f", draws["mood"][:, 1] - 2 + draws["push"][:, 1, 1], 1.0),
    ):
        whole, error = integrated(location, np.full(DRAWS, spread))
        assert abs(cell(found, "s1", item)[0] - whole) < ERRORS * error
