"""Fitting: each subject on its own, nobody stops the others, and mistakes are found first."""

import numpy as np
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.common.seeds import subject_seed
from measurement_layouts.inference import loop

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


def test_arviz_reads_a_fit(fitted):
    import arviz_stats

    table = arviz_stats.summary(fitted.data, var_names=["noiseLevel"], kind="stats")
    assert len(table) == len(fitted.subjects)


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
        ("draws", -1, "draws=-1; give a whole"),
        ("draws", 100.0, "draws=100.0; give a whole"),
        ("draws", True, "draws=True; give a whole"),
        ("tune", 0, "tune=0; give a whole number"),
        ("chains", 0, "chains=0; give a whole"),
        ("target_accept", 2, "target_accept=2; give a"),
        ("target_accept", 1, "target_accept=1; give"),
        ("target_accept", "high", "target_accept='high'; give"),
        ("target_accept", float("nan"), "target_accept=nan; give"),
        ("seed", "x", "seed='x'; give a whole"),
        ("seed", -3, "seed=-3; give"),
        ("seed", 1.5, "seed=1.5; give"),
        ("seed", 2**63, "seed=9223372036854775808;"),
        ("reruns", -1, "reruns=-1; give a whole"),
        ("method", "vi", "method='vi'; give 'nuts' or"),
        ("n_jobs", 0, "n_jobs=0; give a whole"),
        ("n_jobs", -1, "n_jobs=-1; give"),
        ("n_jobs", "all", "n_jobs='all'; give"),
    ],
)
def test_options(animal_ai, cohort, option, value, message):
    with pytest.raises(FitError, match=message):
        ml.fit(animal_ai, cohort, **{option: value})


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
