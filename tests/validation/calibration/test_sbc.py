"""The whole: prior draws, outcomes, a fit, ranks; reproducible, with streams of their own."""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts, small_layouts

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.validation.calibration import run

GRID = {"method": "grid", "draws": 400, "tune": 1, "chains": 2, "progressbar": False}
TOSSES = pd.DataFrame(index=[f"toss {number}" for number in range(12)])


@pytest.fixture(scope="module")
def found():
    return ml.validation.sbc(small_layouts.coin(), TOSSES, simulations=60, **GRID)


def test_a_coin_is_calibrated(found):
    assert found.calibrated
    assert found.simulations == len(found.status) == 60
    assert len(found.ranks) == 60 * 2
    assert repr(found) == (
        "<SimulationBasedCalibration of 'coin': calibrated in 60 simulations, "
        f"{found.not_converged} not converged, 0 failed>"
    )


def test_a_seed_makes_it_reproducible(found):
    again, other = (
        ml.validation.sbc(small_layouts.coin(), TOSSES, simulations=60, seed=seed, **GRID).ranks
        for seed in (1, 2)
    )
    assert again.equals(found.ranks)
    assert not other["truth"].equals(found.ranks["truth"])


def test_profiles_outcomes_and_chains_have_streams_of_their_own(monkeypatch):
    """The same seed in both would make outcomes follow the profile's own random numbers."""
    seeds = []

    def noted(function, *place):
        def call(*args, **more):
            seeds.append(args[place[0]] if place else more["seed"])
            return function(*args, **more)

        return call

    monkeypatch.setattr(run, "sample_prior", noted(run.sample_prior, 2))
    for name in ("simulate", "fit"):
        monkeypatch.setattr(run, name, noted(getattr(run, name)))
    run.sbc(small_layouts.coin(), TOSSES, simulations=20, **GRID)
    assert len(seeds) == len(set(seeds)) == 3


def test_profiles_come_from_the_prior():
    """Means and spreads of four priors, within 4 standard errors; labelled ones, too."""
    layout = ml.Layout(
        "all kinds",
        ml.Success(
            "done",
            small_layouts.labelled().outcome.expression * ml.Noise("noise"),
        ),
    )
    ((_, drawn),) = run._truths(layout, TOSSES, None, 2000, 1)
    assert list(drawn.columns) == ["ability[AS]", "ability[CEc]", "noise"]
    expected = {"ability[AS]": (2.5, 5), "ability[CEc]": (2.5, 5), "noise": (0.5, 1)}
    for name, (mean, width) in expected.items():
        assert drawn[name].mean() == pytest.approx(mean, abs=4 * width / np.sqrt(12 * 2000))
        assert drawn[name].between(mean - width / 2, mean + width / 2).all()
    assert abs(drawn.corr().to_numpy()[np.triu_indices(3, 1)]).max() < 4 / np.sqrt(2000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "leaf", [graded_layouts.graded, graded_layouts.score], ids=["grades", "scores"]
)
def test_steps_are_calibrated(leaf):
    """Grades and scores, two latents each."""
    layout = graded_layouts.layout(leaf())
    result = ml.validation.sbc(layout, graded_layouts.items(6), simulations=60, progressbar=False)
    assert result.calibrated, result.table()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"simulations": 19}, "simulations=19; give a whole number of at least 20"),
        ({"alpha": 1}, "alpha=1; give a number between 0 and 1, such as 0.01"),
        ({"seed": -1}, "seed=-1; give a whole number of at least 0"),
        ({"trials": 0}, "trials=0; give a whole number of at least 1"),
    ],
)
def test_options_are_checked_first(wrong, words):
    with pytest.raises(FitError, match=words):
        ml.validation.sbc(small_layouts.coin(), TOSSES, **({"simulations": 20} | GRID | wrong))
