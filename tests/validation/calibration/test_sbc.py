"""The whole: prior draws, outcomes, a fit, ranks; reproducible, with streams of their own."""

import pandas as pd
import pytest
from helpers import graded_layouts, small_layouts

import measurement_layouts as ml
from measurement_layouts import FitError

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
        ({"simulations": 19}, "simulations=19; give a"),
        ({"alpha": 1}, "alpha=1; give a number"),
        ({"seed": -1}, "seed=-1; give a whole"),
        ({"trials": 0}, "trials=0; give a whole"),
    ],
)
def test_options_are_checked_first(wrong, words):
    with pytest.raises(FitError, match=words):
        ml.validation.sbc(small_layouts.coin(), TOSSES, **({"simulations": 20} | GRID | wrong))
