"""A subject that failed, diverged or did not converge is sampled again, with more care."""

import numpy as np
import pandas as pd
import pytest
from helpers import pretend, small_layouts
from helpers.populations import cohort_data, exam_layout

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.common.seeds import subject_seed
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference import loop
from measurement_layouts.inference.loop import attempt_seed
from measurement_layouts.inference.sampling.draws import (
    Draws,
    SamplingOptions,
    thinned,
    with_more_care,
)
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.inference.sampling.nuts import alone, sample
from measurement_layouts.linking import logistic

OPTIONS = SamplingOptions(draws=500, tune=500, chains=4, target_accept=0.6)


# --- options of an attempt -----------------------------------------------------------------------


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


# --- which attempt remains -----------------------------------------------------------------------


class Panic(BaseException):
    """What a panic in a compiled library is to Python: no Exception."""


def outcome(monkeypatch, attempts, kind="alone"):
    """Fit one coin, or an exam, whose attempts have so many divergences, or raise these errors."""

    def draws(real, attempt):
        found = attempts[attempt - 1]
        if isinstance(found, BaseException):
            raise found
        drawn = real()
        drawn.statistics["diverging"][0, :found] = True
        drawn.statistics["energy"][:] = attempt
        return drawn

    def sample(battery, data, options, seed, attempt, cores, starts):
        return draws(lambda: pretend.draw(battery, data, options, seed), attempt)

    def chain(model, name, data, unit, seed):
        return draws(lambda: pretend.draw_chain(model, name, data, unit, seed), unit.attempt)

    pretend.install(monkeypatch, sample)
    pretend.install_jointly(monkeypatch, chain)
    study = small_layouts.coin(), small_layouts.counts([3], [9])
    if kind == "jointly":
        study = exam_layout(), cohort_data()
    options = {"draws": 500, "tune": 7, "chains": 4, "seed": 1, "progressbar": False}
    return ml.fit(*study, reruns=len(attempts) - 1, **options)


@pytest.mark.parametrize("kind", ["alone", "jointly"])
@pytest.mark.parametrize(
    ("attempts", "remains", "tried"),
    [
        ([0, Panic()], 1, 1),
        ([99, 0, Panic()], 2, 2),
        ([ValueError("no start"), 0, Panic()], 2, 2),
        ([Panic("index"), 0, Panic()], 2, 2),
        ([99, 90], 2, 2),
        ([99, ValueError("no start")], 1, 2),
        ([ValueError("no start"), 99, ValueError("no start")], 2, 3),
    ],
)
def test_the_first_clean_attempt_or_the_last_with_draws(
    monkeypatch, kind, attempts, remains, tried
):
    fit = outcome(monkeypatch, attempts, kind)
    assert (fit.data["sample_stats"]["energy"] == remains).all()
    assert set(fit.diagnostics()["attempts"]) == {tried}
    ok = attempts[remains - 1] == 0
    assert (set(fit.diagnostics()["status"]) == {"ok"}) == ok


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_an_interruption_is_no_failure(monkeypatch, error):
    with pytest.raises(type(error)):
        outcome(monkeypatch, [error, 0])


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
def test_a_hard_posterior_comes_clean(undecided):
    """With 4 to 9 divergences at 0.6, at most 1 at 0.9 and none at 0.975 under other seeds.

    Twin: without another attempt it stays not converged.
    """
    battery = Battery.of(funnel(0.5), undecided)
    data = SubjectData.of(undecided, "Ann")
    options = {name: getattr(OPTIONS, name) for name in ("draws", "tune", "target_accept")}
    options |= {"seed": 1, "progressbar": False}
    once = ml.fit(funnel(0.5), undecided, reruns=0, **options)
    assert "divergence" in once.diagnostics().loc["Ann", "reason"]
    again = ml.fit(funnel(0.5), undecided, reruns=2, **options)
    assert again.diagnostics().loc["Ann", "status"] == "ok"
    assert again.posterior.sizes == once.posterior.sizes
    attempts = again.attempts["Ann"]
    careful = with_more_care(OPTIONS, attempts)
    by_hand = sample(alone(battery, data), careful, attempt_seed(1, "Ann", attempts))
    every = careful.draws // OPTIONS.draws
    for name, values in by_hand.posterior.items():
        draws = again.posterior[name].sel(subject="Ann").to_numpy()
        assert np.array_equal(draws, values[:, every - 1 :: every])


def test_reruns_are_counted_in_whole_numbers(undecided):
    with pytest.raises(FitError, match="reruns=-1; give a whole number of at least 0"):
        ml.fit(funnel(0.5), undecided, reruns=-1)


# --- a grid --------------------------------------------------------------------------------------


def test_a_grid_is_integrated_once(undecided, rng, monkeypatch):
    """It has no divergences and no chains that could wander off, and comes out the same again."""
    asked = []

    def integrate(battery, data, options, seed):
        asked.append((battery.layout.name, data.trials.tolist(), options, seed))
        return Draws(
            {name: np.abs(rng.normal(size=(4, 500))) for name in ("spread", "bias")},
            {"diverging": np.zeros((4, 500), bool), "energy": np.full((4, 500), np.nan)},
        )

    monkeypatch.setattr(loop, "integrate", integrate)
    options = {"draws": 500, "tune": 500, "target_accept": 0.6}
    fit = ml.fit(
        funnel(0.5), undecided, method="grid", reruns=2, seed=1, progressbar=False, **options
    )
    assert fit.subjects == ["Ann"]
    assert asked == [("funnel", [1] * 4, SamplingOptions(**options), subject_seed(1, "Ann"))]
