"""Fits carried on to more outcomes, against fits of all outcomes and a closed form."""

import numpy as np
import pandas as pd
import pytest
from helpers.graded_layouts import graded, items, layout, random_outcomes, score
from helpers.populations import cohort_data, exam_layout
from helpers.small_layouts import animal_ai, battery, coin, counts, profiles
from scipy.stats import beta

import measurement_layouts as ml
from measurement_layouts.inference.sequential import carrying
from measurement_layouts.linking import logistic

SAMPLING = {"draws": 1000, "tune": 500, "chains": 4, "progressbar": False}
QUIET = {"progressbar": False}


def simulated(made, table, truth, seed=5):
    """Outcomes of some subjects."""
    return ml.simulate(made, table, truth, seed=seed)


def arenas(count=90):
    """Three subjects in as many arenas."""
    return simulated(animal_ai(toward=0.5), battery(count), profiles())


def split(evaluation, first):
    """The first items, and the others."""
    names = evaluation.item_table.index
    return evaluation.select(items=names[:first]), evaluation.select(items=names[first:])


def compared(found, reference):
    """Differences of means in posterior sds, and ratios of sds."""
    one, other = (
        each.profiles().set_index(["subject", "node", "label"]).sort_index()
        for each in (found, reference)
    )
    return (one["mean"] - other["mean"]) / other["sd"], one["sd"] / other["sd"]


def assert_same(found, reference, most=0.1):
    """Means differ by a tenth of an sd in the mean square, and sds by 10 %."""
    far, ratio = compared(found, reference)
    assert np.sqrt((far**2).mean()) <= most
    assert ratio.between(1 / 1.1, 1.1).all(), ratio


def of_grades(leaf):
    made = layout(leaf())
    rng, table = np.random.default_rng(2), items(60)
    tables, _ = random_outcomes(made, table, rng, attempts=1)
    return made, ml.Evaluation.of_outcomes(made, tables, table)


@pytest.mark.trust("oracles", "a fit carried on against a fit of all outcomes")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(lambda: (animal_ai(toward=0.5), arenas()), id="capabilities"),
        pytest.param(lambda: (animal_ai(), arenas()), id="a constant of the subject"),
        pytest.param(lambda: of_grades(graded), id="grades"),
        pytest.param(lambda: of_grades(score), id="scores"),
    ],
)
def test_it_is_the_fit_of_all_outcomes(case):
    made, everything = case()
    first, more = split(everything, len(everything.item_table) * 8 // 10)
    found = ml.update(ml.fit(made, first, seed=1, **SAMPLING), more, **QUIET)
    told = found.diagnostics()["update"]
    assert told.str.startswith("carried on: Pareto k").any(), told.tolist()
    assert_same(found, ml.fit(made, everything, seed=2, **SAMPLING))
    assert (found.diagnostics()["status"] == "ok").all()


@pytest.mark.trust("oracles", "a fit carried on against a closed form")
def test_a_coin_is_known_in_closed_form():
    tosses = counts([3, 0], [4, 0]).select(items=["toss-0"])
    found = ml.fit(coin(), tosses, seed=1, **SAMPLING)
    table = pd.DataFrame(index=["toss-1", "toss-2"])
    later = counts([4, 1], [6, 2], items=table)
    found = ml.update(found, later, **QUIET)
    assert found.diagnostics()["update"].str.startswith("carried on").all()
    exact = beta(1 + 8, 1 + 4)
    draws = found.posterior["p"].to_numpy().ravel()
    error = exact.std() / np.sqrt(found.diagnostics()["ess"].iloc[0])
    assert abs(draws.mean() - exact.mean()) < 4 * error
    assert draws.std() == pytest.approx(exact.std(), rel=0.1)
    assert np.allclose(np.quantile(draws, [0.1, 0.9]), exact.ppf([0.1, 0.9]), atol=0.02)


@pytest.mark.slow
def test_answers_one_by_one_stay_the_fit_of_all():
    made = animal_ai(toward=0.5)
    everything = arenas().select(subjects=["Ann"])
    first, more = split(everything, 80)
    found = ml.fit(made, first, seed=1, **SAMPLING)
    for name in more.items.index:
        found = ml.update(found, more.select(items=[name]), **QUIET)
    assert_same(found, ml.fit(made, everything, seed=2, **SAMPLING))


@pytest.fixture(scope="module")
def surprising():
    """A fit, and outcomes that change it by more than a tenth of an sd. Nobody may change it."""
    made = animal_ai(toward=0.5)
    everything = arenas().select(subjects=["Ann"])
    first, more = split(everything, 72)
    return made, everything, ml.fit(made, first, seed=1, **SAMPLING), more


def test_draws_are_distinct(surprising):
    _, _, fit, more = surprising
    draws = ml.update(fit, more, **QUIET).posterior["navigationAbility"].to_numpy()
    assert len(np.unique(draws)) > 0.98 * draws.size


def still(self):
    """Stand where one is."""


def test_the_twin_without_weights_is_another_posterior(surprising, monkeypatch):
    made, everything, fit, more = surprising
    monkeypatch.setattr(carrying._Moving, "move", still)
    even = np.full(4000, 1 / 4000)
    monkeypatch.setattr(carrying, "_smoothed", lambda ratios, _: (even, 0.0))
    found = ml.update(fit, more, **QUIET)
    assert found.diagnostics()["update"].str.startswith("carried on").all()
    far, _ = compared(found, ml.fit(made, everything, seed=2, **SAMPLING))
    assert np.sqrt((far**2).mean()) > 0.1


def test_the_twin_without_moves_repeats_draws(surprising, monkeypatch):
    _, _, fit, more = surprising
    monkeypatch.setattr(carrying._Moving, "move", still)
    monkeypatch.setattr(carrying, "_MOST", 4)
    found = ml.update(fit, more, **QUIET)
    draws = found.posterior["navigationAbility"].to_numpy()
    assert found.diagnostics()["update"].str.startswith("carried on").all()
    assert len(np.unique(draws)) < 0.9 * draws.size


def test_moves_leave_a_posterior_as_it_is(surprising):
    """Many moves from where nothing is to be changed keep means and sds."""
    made, everything, _, _ = surprising
    fit = ml.fit(made, everything, seed=1, **SAMPLING)
    assert_same(
        ml.update(fit, further(everything), **QUIET),
        ml.fit(made, everything + further(everything), seed=2, **SAMPLING),
    )


def further(everything):
    """One more outcome, which tells next to nothing."""
    table = everything.items.iloc[[0]].set_axis(["easy"], axis=0).assign(rewardSize=-1.9)
    return ml.Evaluation.from_wide(pd.DataFrame({"easy": [1]}, ["Ann"]), table)


def test_what_is_not_accurate_is_sampled_anew_as_a_fit_is():
    table = pd.DataFrame(index=["toss-1"])
    first, more = counts([3], [4]), counts([100], [4000], items=table)
    found = ml.update(ml.fit(coin(), first, seed=1, **SAMPLING), more, **QUIET)
    (told,) = found.diagnostics()["update"]
    assert told.startswith("sampled anew: Pareto k")
    fresh = ml.fit(coin(), first + more, seed=1, **SAMPLING)
    assert (found.posterior["p"].to_numpy() == fresh.posterior["p"].to_numpy()).all()


def test_too_few_effective_draws_are_sampled_anew(surprising):
    made, everything, _, more = surprising
    first = everything.select(items=everything.items.index[:72])
    few = ml.fit(made, first, draws=130, tune=1000, chains=4, seed=1, **QUIET)
    (told,) = ml.update(few, more, **QUIET).diagnostics()["update"]
    assert "effective draws left by the weights, below 400" in told


def test_subjects_without_new_outcomes_keep_their_draws():
    made = animal_ai(toward=0.5)
    first, more = split(arenas(), 80)
    fit = ml.fit(made, first, seed=1, **SAMPLING)
    found = ml.update(fit, more.select(subjects=["Bob"]), **QUIET)
    assert found.diagnostics()["update"].str.startswith("as it was").tolist() == [True, False, True]
    for name in ("Ann", "Cyd"):
        one, other = (each.posterior["visualAbility"].sel(subject=name) for each in (found, fit))
        assert (one.to_numpy() == other.to_numpy()).all()
    assert found.observed["trials"].sel(subject="Ann").sum() == 80
    assert found.observed["trials"].sel(subject="Bob").sum() == 90


def test_it_knows_all_outcomes_and_is_saved(tmp_path):
    made = animal_ai(toward=0.5)
    everything = arenas()
    first, more = split(everything, 80)
    fit = ml.fit(made, first, seed=1, **SAMPLING)
    found = ml.update(fit, more, **QUIET)
    trials = found.observed["successes"].to_pandas()
    assert (trials.loc[everything.subjects, everything.items.index] == everything.successes).all(
        axis=None
    )
    again = ml.load(found.save(tmp_path / "fit.nc"))
    assert again.diagnostics()["update"].tolist() == found.diagnostics()["update"].tolist()
    assert "update" not in fit.diagnostics()
    assert ml.update(fit, more, **QUIET).data.identical(found.data)
    other = ml.update(fit, more, seed=9, **QUIET)
    assert not (other.posterior["noiseLevel"] == found.posterior["noiseLevel"]).all()


def test_a_fit_in_a_store_is_carried_on(tmp_path):
    made = animal_ai(toward=0.5)
    first, more = split(arenas(), 85)
    kept = ml.fit(made, first, seed=1, store=tmp_path / "store", **SAMPLING)
    found = ml.update(ml.load(tmp_path / "store"), more, n_jobs=1, **QUIET)
    memory = ml.fit(made, first, seed=1, **SAMPLING)
    assert kept.subjects == memory.subjects
    assert found.posterior.equals(ml.update(memory, more, **QUIET).posterior)


def test_other_subjects_on_known_items_and_the_reverse():
    made = animal_ai(toward=0.5)
    everything = arenas()
    names = everything.items.index
    trials = everything.trials.copy()
    trials.loc["Bob", names[80:]] = 0
    some = ml.Evaluation(everything.items, everything.successes * trials, trials)
    fit = ml.fit(made, some, seed=1, **SAMPLING)
    more = everything.select(items=names[80:], subjects=["Bob"])
    found = ml.update(fit, more, **QUIET)
    assert found.observed["trials"].to_numpy().all()


def test_a_subject_that_did_not_converge_is_sampled_anew():
    made = animal_ai(toward=0.5)
    first, more = split(arenas(), 85)
    fit = ml.fit(made, first, draws=20, tune=5, chains=2, seed=1, reruns=0, **QUIET)
    found = ml.update(fit, more, **QUIET)
    assert found.diagnostics()["update"].str.startswith("sampled anew: its draws had").any()


def small():
    """A quick fit of one ability."""
    margin = ml.Capability("skill", low=0, high=5) - ml.MetaFeature("demand", low=0, high=5)
    made = ml.Layout("small", ml.Success("right", logistic(margin)))
    table = pd.DataFrame({"demand": [1.0, 2.0, 3.0]}, list("abc"))
    outcomes = pd.DataFrame({"a": [1, 1], "b": [1, 0], "c": [0, 0]}, ["Ann", "Bob"])
    evaluation = ml.Evaluation.from_wide(outcomes, table)
    return ml.fit(made, evaluation, draws=100, tune=100, chains=2, seed=1, **QUIET)


def answers(name="d", subject="Ann", **columns):
    table = pd.DataFrame(columns if columns else {"demand": [2.5]}, [name])
    return ml.Evaluation.from_wide(pd.DataFrame({name: [1]}, [subject]), table)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (answers("a", demand=[1.0]), "1 outcome(s) are in the fit already: Ann on a"),
        (answers(subject="Zed"), "1 subject(s) that are not in the fit: Zed; it has Ann, Bob"),
        (answers(width=[2.0]), "demand: the items have no column demand"),
        (answers("a", "Bob", demand=[1.5]), "item a is in the fit with demand = 1"),
        (answers(demand=[9.0]), "demand: 1 training item(s) lie outside its declared range"),
    ],
)
def test_mistakes_are_told(more, told):
    with pytest.raises(ml.DataError) as error:
        ml.update(small(), more, **QUIET)
    assert told in str(error.value)


def test_options_are_checked():
    with pytest.raises(ml.FitError, match="seed=-1"):
        ml.update(small(), answers(), seed=-1)
    with pytest.raises(ml.FitError, match="n_jobs=0"):
        ml.update(small(), answers(), n_jobs=0)


def test_joint_fits_are_refused_by_name():
    evaluation = cohort_data()
    fit = ml.fit(exam_layout(), evaluation, draws=50, tune=100, chains=2, seed=1, **QUIET)
    with pytest.raises(ml.FitError, match=r"is fitted to all subjects together.*fit\.newcomer"):
        ml.update(fit, evaluation, **QUIET)
