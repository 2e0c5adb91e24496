"""Fitting: each subject on its own, nobody stops the others, and mistakes are found first."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, LayoutError
from measurement_layouts.common.seeds import subject_seed
from measurement_layouts.inference import loop
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.linking import logistic

# --- what is in a fit ----------------------------------------------------------------------------


def test_shapes_and_data(animal_ai, cohort, fitted):
    assert fitted.subjects == cohort.subjects
    assert fitted.failures == {}
    assert fitted.posterior["noiseLevel"].dims == ("chain", "draw", "subject")
    assert fitted.posterior.sizes == {"subject": 6, "chain": 2, "draw": 150}
    observed = fitted.observed
    for name in ("subject", "item", "successes", "trials"):
        assert observed[name].to_numpy().tolist() == cohort.cells[name].tolist()
    constants = fitted.constants
    assert constants["XPos"].to_numpy().tolist() == cohort.items["XPos"].tolist()
    failure = (1 - cohort.success_rates()).to_list()
    assert constants["meanFailure"].to_numpy().tolist() == failure
    assert set(fitted.prior) == {latent.name for latent in animal_ai.latents}
    for latent in animal_ai.latents:
        drawn = fitted.posterior[latent.name].to_numpy()
        assert (drawn >= latent.range.low).all()
        assert (drawn <= latent.range.high).all()
    assert repr(fitted) == "<Fit of 'animal-ai': 6 subjects, 2 chains of 150 draws, 0 failed>"


def test_inputs_stay_as_they_are(animal_ai, cohort, sampling):
    before = [table.copy() for table in (cohort.items, cohort.successes, cohort.trials)]
    ml.fit(animal_ai, cohort, subjects=["Ann"], **sampling)
    for table, same in zip((cohort.items, cohort.successes, cohort.trials), before, strict=True):
        pd.testing.assert_frame_equal(table, same)


def test_arviz_reads_a_fit(fitted):
    import arviz_stats

    table = arviz_stats.summary(fitted.data, var_names=["noiseLevel"], kind="stats")
    assert len(table) == len(fitted.subjects)


def test_numbered_names(animal_ai, cohort, sampling):
    numbered = ml.Evaluation(
        cohort.items.set_axis(range(24)),
        cohort.successes.set_axis(range(24), axis=1).set_axis(range(6)),
        cohort.trials.set_axis(range(24), axis=1).set_axis(range(6)),
    )
    fit = ml.fit(animal_ai, numbered, subjects=[3, 1], **sampling)
    assert fit.subjects == ["3", "1"]
    assert fit.named([1]) == ["1"]
    assert fit.places([1, 3]).tolist() == [1, 0]


def test_select(fitted):
    assert fitted.named("Ann") == ["Ann"]
    assert fitted.places().tolist() == list(range(6))
    with pytest.raises(FitError, match="not in this fit: Eve; it has Ann, Bob, Cyd, Dot, ace an"):
        fitted.named(["Ann", "Eve"])
    with pytest.raises(DataError, match=r"the subject name\(s\) Ann occur more than once"):
        fitted.named(["Ann", "Ann"])


# --- failures ------------------------------------------------------------------------------------


class Panic(BaseException):
    """What a panic in a compiled library is to Python: no Exception."""


def failing(reasons):
    """Sample as usual, except for subjects that have a reason to fail."""
    real = loop.sample
    named = {subject_seed(1, subject): error for subject, error in reasons.items()}

    def sample(form, options, seed, *rest):
        if seed in named:
            raise named[seed]
        return real(form, options, seed, *rest)

    return sample


def test_a_subject_that_fails_is_named_and_stops_no_other(
    animal_ai, cohort, fitted, sampling, same, monkeypatch
):
    reasons = {"nil": Panic("index out of bounds"), "Bob": RuntimeError("no finite start")}
    monkeypatch.setattr(loop, "sample", failing(reasons))
    fit = ml.fit(animal_ai, cohort, **sampling)
    assert fit.subjects == ["Ann", "Cyd", "Dot", "ace"]
    assert all(same(fit, fitted, subject) for subject in fit.subjects)
    assert list(fit.failures) == ["Bob", "nil"]
    table = fit.diagnostics()
    assert table["status"].to_dict()["Bob"] == "failed"
    assert table.index.tolist() == ["Ann", "Cyd", "Dot", "ace", "Bob", "nil"]
    assert table.loc["Bob", "reason"] == "RuntimeError: no finite start"
    assert table.loc["nil", "reason"] == "Panic: index out of bounds"
    assert set(fit.profiles()["subject"]) == set(fit.subjects)
    with pytest.raises(FitError, match=r"not in this fit: Bob \(RuntimeError: no finite start\)"):
        fit.forecast(cohort.items, subjects=["Bob"])


def test_all_subjects_fail(animal_ai, cohort, sampling, monkeypatch):
    every = dict.fromkeys(cohort.subjects, RuntimeError("no finite start"))
    monkeypatch.setattr(loop, "sample", failing(every))
    with pytest.raises(FitError, match=r"failed for all 6 subjects; .*RuntimeError: no finite"):
        ml.fit(animal_ai, cohort, **sampling)


def test_an_interruption_is_no_failure(animal_ai, cohort, sampling, monkeypatch):
    monkeypatch.setattr(loop, "sample", failing({"Ann": KeyboardInterrupt()}))
    with pytest.raises(KeyboardInterrupt):
        ml.fit(animal_ai, cohort, subjects=["Ann"], n_jobs=1, **sampling)


# --- everything is checked before the sampler ----------------------------------------------------


@pytest.fixture
def no_sampler(monkeypatch):
    def sampled(*_args, **_kwargs):
        raise AssertionError("the sampler was compiled or run")

    monkeypatch.setattr(loop, "sample", sampled)
    monkeypatch.setattr(loop, "compile_sampler", sampled)


@pytest.mark.usefixtures("no_sampler")
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("draws", -1, "draws=-1; give a whole number of at least 4"),
        ("draws", 100.0, "draws=100.0; give a whole number"),
        ("draws", True, "draws=True; give a whole number"),
        ("tune", 0, "tune=0; give a whole number of at least 1"),
        ("chains", 0, "chains=0; give a whole number of at least 1"),
        ("target_accept", 2, "target_accept=2; give a number between 0 and 1, such as 0.8"),
        ("target_accept", 1, "target_accept=1; give"),
        ("target_accept", "high", "target_accept='high'; give"),
        ("target_accept", float("nan"), "target_accept=nan; give"),
        ("seed", "x", "seed='x'; give a whole number of at least 0"),
        ("seed", -3, "seed=-3; give"),
        ("seed", 1.5, "seed=1.5; give"),
        ("seed", 2**63, "seed=9223372036854775808; give"),
        ("reruns", -1, "reruns=-1; give a whole number of at least 0"),
        ("method", "vi", "method='vi'; give 'nuts' or 'grid'"),
        ("n_jobs", 0, "n_jobs=0; give a whole number of at least 1"),
        ("n_jobs", -1, "n_jobs=-1; give"),
        ("n_jobs", "all", "n_jobs='all'; give"),
    ],
)
def test_options(animal_ai, cohort, option, value, message):
    with pytest.raises(FitError, match=message):
        ml.fit(animal_ai, cohort, **{option: value})


def test_options_of_numpy_are_numbers():
    options = SamplingOptions(draws=np.int64(7), target_accept=np.float32(0.5))
    assert options == SamplingOptions(draws=7, target_accept=0.5)


@pytest.mark.usefixtures("no_sampler")
def test_data_are_checked_first(animal_ai, cohort):
    def with_items(**columns):
        return ml.Evaluation(cohort.items.assign(**columns), cohort.successes, cohort.trials)

    for evaluation, message in (
        (with_items(XPos=0), "XPos is 0 on all 24 items"),
        (with_items(rewardSize=np.linspace(0, 9, 24)), r"rewardSize: 19 training item\(s\) lie ou"),
        (with_items(rewardSize=np.nan), "rewardSize is missing"),
        (with_items(rewardSize="big"), "rewardSize is not a number"),
    ):
        with pytest.raises(DataError, match=message):
            ml.fit(animal_ai, evaluation)
    with pytest.raises(DataError, match=r"unknown subject\(s\): Eve"):
        ml.fit(animal_ai, cohort, subjects=["Eve"])
    with pytest.raises(DataError, match="there are no subjects"):
        ml.fit(animal_ai, cohort, subjects=[])


@pytest.mark.usefixtures("no_sampler")
def test_priors_are_drawn_from_first(cohort):
    size = ml.MetaFeature("rewardSize", low=-2, high=2)
    for prior in (ml.Prior("Flat"), ml.Prior("Triangular", c=2)):
        success = logistic(ml.Capability("sight", prior=prior) - size)
        layout = ml.Layout("improper", ml.Success("seen", success))
        with pytest.raises(LayoutError, match="priors cannot be drawn from"):
            ml.fit(layout, cohort)
