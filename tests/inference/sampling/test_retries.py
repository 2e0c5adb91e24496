"""A subject that failed, diverged or did not converge is sampled again, with more care."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.common.seeds import subject_seed
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference import fitting
from measurement_layouts.inference.sampling import retries
from measurement_layouts.inference.sampling.convergence import convergence, faults
from measurement_layouts.inference.sampling.draws import Draws, SamplingOptions, with_more_care
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.inference.sampling.nuts import alone, sample
from measurement_layouts.inference.sampling.retries import (
    attempt_seed,
    first_clean,
    sample_subject,
    thinned,
)
from measurement_layouts.linking import logistic

OPTIONS = SamplingOptions(draws=500, tune=500, chains=4, target_accept=0.6)


# --- options of an attempt -----------------------------------------------------------------------


def test_the_first_attempt_is_as_asked():
    assert with_more_care(OPTIONS, 1) == OPTIONS


def test_each_attempt_takes_more_care():
    careful = [with_more_care(SamplingOptions(7, 9, 3, 0.8), attempt) for attempt in (2, 3, 4)]
    assert [options.draws for options in careful] == [14, 28, 56]
    assert [options.tune for options in careful] == [18, 36, 72]
    assert [options.chains for options in careful] == [3, 3, 3]
    aims = [options.target_accept for options in careful]
    assert aims == pytest.approx([0.95, 0.9875, 0.996875], abs=1e-12)  # rounding


def test_as_many_draws_are_kept_as_asked(rng):
    drawn = Draws(
        {"one": rng.normal(size=(3, 12)), "two": rng.normal(size=(3, 12, 2))},
        {"diverging": np.zeros((3, 12), bool), "energy": rng.normal(size=(3, 12))},
    )
    kept = thinned(drawn, 4)
    for before, after in ((drawn.posterior, kept.posterior), (drawn.statistics, kept.statistics)):
        assert list(after) == list(before)
        for name, values in before.items():
            assert np.array_equal(after[name], values[:, [3, 7, 11]])
    assert thinned(drawn, 1) is drawn


@pytest.mark.trust("promises", "no divergence is thinned away")
@pytest.mark.parametrize("place", range(6))
def test_no_divergence_is_thinned_away(place):
    diverging = np.zeros((2, 6), bool)
    diverging[1, place] = True
    kept = thinned(Draws({"one": np.zeros((2, 6))}, {"diverging": diverging}), 2)
    expected = [place // 2 == number for number in range(3)]
    assert kept.statistics["diverging"].tolist() == [[False] * 3, expected]


def test_each_attempt_has_a_seed_of_its_own():
    assert attempt_seed(1, "Ann", 1) == subject_seed(1, "Ann")
    seeds = {
        attempt_seed(seed, name, attempt)
        for seed in range(10)
        for name in ("Ann", "Bob", "attempt 2")
        for attempt in (1, 2, 3)
    }
    assert len(seeds) == 90


# --- which attempt is kept -----------------------------------------------------------------------


def clean(rng):
    independent = rng.normal(size=(4, 250))
    return Draws({"one": independent}, {"diverging": np.zeros((4, 250), bool)})


def diverging(rng, count):
    draws = clean(rng)
    draws.statistics["diverging"][0, :count] = True
    return draws


def of(attempts):
    """Give what is asked for, attempt after attempt."""

    def attempt(number):
        found = attempts[number - 1]
        if isinstance(found, BaseException):
            raise found
        return found

    return attempt


def wrong(draws, _):
    """Judge draws whatever they were sampled with."""
    return faults(convergence(draws), chains=4)


class Panic(BaseException):
    """What a panic in a compiled library is to Python: no Exception."""


def test_nothing_wrong_is_sampled_once(rng):
    sampled = first_clean(of([clean(rng), None]), "Ann", wrong, 2)
    assert (sampled.subject, sampled.attempts, sampled.reason) == ("Ann", 1, "")


def test_the_first_clean_attempt_is_kept(rng):
    good = clean(rng)
    for bad in (diverging(rng, 1), ValueError("no start"), Panic("index")):
        sampled = first_clean(of([bad, good, None]), "Ann", wrong, 3)
        assert sampled.draws is good
        assert (sampled.attempts, sampled.reason) == (2, "")


def test_the_last_draws_are_kept_with_their_faults(rng):
    last = diverging(rng, 3)
    sampled = first_clean(of([diverging(rng, 9), last]), "Ann", wrong, 2)
    assert sampled.draws is last
    assert sampled.attempts == 2
    assert sampled.reason.startswith("few divergences: 3 in ")


def test_earlier_draws_are_kept_where_the_last_attempt_failed(rng):
    first = diverging(rng, 9)
    sampled = first_clean(of([first, ValueError("no start")]), "Ann", wrong, 2)
    assert sampled.draws is first
    assert sampled.attempts == 2
    assert sampled.reason.startswith("9 divergences")


def test_a_failed_subject_says_why():
    sampled = first_clean(of([ValueError("no start"), Panic("index")]), "Ann", wrong, 2)
    assert sampled.draws is None
    assert (sampled.attempts, sampled.reason) == (2, "Panic: index")


def test_an_interruption_is_no_failure():
    for error in (KeyboardInterrupt(), SystemExit()):
        with pytest.raises(type(error)):
            first_clean(of([error]), "Ann", wrong, 1)


# --- a posterior that needs it -------------------------------------------------------------------


def funnel(width):
    """Declare a bias whose spread is a latent itself: the narrower, the smaller the steps.

    A skew-normal without skew is a normal, but of no family that is sampled as deviations.
    """
    spread = ml.Capability("spread", prior=ml.Prior("LogNormal", mu=0, sigma=width))
    bias = ml.Bias("bias", prior=ml.Prior("SkewNormal", mu=0, sigma=spread, alpha=0))
    success = logistic(bias * ml.MetaFeature("side", levels=(-1, 1)))
    return ml.Layout("funnel", ml.Success("won", success))


@pytest.fixture(scope="module")
def undecided():
    items = pd.DataFrame({"side": [-1.0, 1.0, -1.0, 1.0]}, index=list("abcd"))
    outcomes = pd.DataFrame([[1.0, 0.0, 0.0, 1.0]], index=["Ann"], columns=items.index)
    return ml.Evaluation.from_wide(outcomes, items)


@pytest.mark.slow
@pytest.mark.trust("promises", "a hard posterior is sampled again with more care")
def test_a_hard_posterior_comes_clean(undecided):
    """With 4 to 9 divergences at 0.6, at most 1 at 0.9 and none at 0.975 under other seeds.

    Twin: without another attempt it stays not converged.
    """
    battery = Battery.of(funnel(0.5), undecided)
    data = SubjectData.of(undecided, "Ann")
    once = sample_subject(battery, "Ann", data, OPTIONS, seed=1, cores=2, reruns=0)
    assert once.attempts == 1
    assert "divergence" in once.reason
    again = sample_subject(battery, "Ann", data, OPTIONS, seed=1, cores=2, reruns=2)
    assert again.attempts > 1
    assert again.reason == ""
    assert again.draws.posterior["bias"].shape == once.draws.posterior["bias"].shape == (4, 500)
    careful = with_more_care(OPTIONS, again.attempts)
    seed = attempt_seed(1, "Ann", again.attempts)
    by_hand = sample(alone(battery, data), careful, seed)
    every = careful.draws // OPTIONS.draws
    for name, values in by_hand.posterior.items():
        assert np.array_equal(again.draws.posterior[name], values[:, every - 1 :: every])


@pytest.mark.slow
def test_a_fit_samples_again_and_says_so(undecided):
    options = {"draws": 500, "tune": 500, "target_accept": 0.6, "seed": 1, "progressbar": False}
    not_converged = ml.fit(funnel(0.5), undecided, reruns=0, **options)
    assert "divergence" in not_converged.diagnostics().loc["Ann", "reason"]
    assert not_converged.diagnostics().loc["Ann", "status"] != "ok"
    clean = ml.fit(funnel(0.5), undecided, reruns=2, **options)
    assert clean.diagnostics().loc["Ann", "status"] == "ok"
    assert clean.posterior.sizes == not_converged.posterior.sizes


def test_reruns_are_counted_in_whole_numbers(undecided):
    with pytest.raises(FitError, match="reruns=-1; give a whole number of at least 0"):
        ml.fit(funnel(0.5), undecided, reruns=-1)


# --- a grid --------------------------------------------------------------------------------------


def test_a_grid_is_integrated_once_and_compiles_nothing(undecided, rng, monkeypatch):
    """It has no divergences and no chains that could wander off, and comes out the same again."""
    asked = []

    def integrate(battery, data, options, seed):
        asked.append((battery.layout.name, data.trials.tolist(), options, seed))
        return Draws(
            {name: np.abs(rng.normal(size=(4, 500))) for name in ("spread", "bias")},
            {"diverging": np.zeros((4, 500), bool)},
        )

    monkeypatch.setattr(retries, "integrate", integrate)
    monkeypatch.setattr(fitting, "compile_sampler", None)
    options = {"draws": 500, "tune": 500, "target_accept": 0.6}
    fit = ml.fit(
        funnel(0.5), undecided, method="grid", reruns=2, seed=1, progressbar=False, **options
    )
    assert fit.subjects == ["Ann"]
    assert asked == [("funnel", [1] * 4, SamplingOptions(**options), subject_seed(1, "Ann"))]
