"""The verdict: few simulations that did not converge change nothing, many leave it open."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from scipy import stats

import measurement_layouts as ml

QUANTITIES = ("p", "log-likelihood")
UNIFORM, NARROW = (1, 1), (0.3, 0.3)  # distributions of the ranks, Beta


def steps(count, shape):
    """Positions in [0, 1) at equal steps of a Beta distribution."""
    return stats.beta.ppf((np.arange(count) + 0.5) / max(count, 1), *shape)


def judged(positions, status, layout=None):
    """A calibration of quantities with these positions."""
    names = status.index[: len(next(iter(positions.values())))]
    ranks = [
        pd.DataFrame({"simulation": names, "quantity": name, "position": values})
        for name, values in positions.items()
    ]
    return ml.validation.SimulationBasedCalibration(
        layout or small_layouts.coin(), pd.concat(ranks, ignore_index=True), status, 0.01
    )


def made(good, not_converged, failed=0, *, of_good=UNIFORM, of_not_converged=UNIFORM, layout=None):
    """A calibration with so many simulations of each status, whose ranks are so distributed."""
    statuses = ["ok"] * good + ["not converged"] * not_converged + ["failed"] * failed
    names = pd.Index([str(number) for number in range(len(statuses))], name="subject")
    status = pd.DataFrame({"status": statuses, "reason": ""}, names)
    positions = np.concatenate([steps(good, of_good), steps(not_converged, of_not_converged)])
    return judged(dict.fromkeys(QUANTITIES, positions), status, layout)


@pytest.mark.parametrize("not_converged", [51, 498, 1000])
def test_beyond_the_share_uniform_ranks_prove_nothing(not_converged):
    found = made(1000 - not_converged, not_converged)
    assert found.table()["uniform"].all()
    assert (found.calibrated, found.inconclusive) == (False, True)
    assert found.verdict() == f"inconclusive (of 1000 simulations {not_converged} did not converge)"


def test_ranks_of_those_that_converged_are():
    found = made(200, 100, of_good=NARROW)
    assert (found.calibrated, found.inconclusive) == (False, False)
    said = "not calibrated (p, log-likelihood), by 200 simulations that converged"
    assert found.verdict() == said


def test_a_simulation_that_failed_has_no_rank_and_none_is_calibrated_with_it():
    found = made(999, 0, failed=1)
    assert (found.calibrated, found.inconclusive) == (False, True)
    both = made(900, 60, failed=40)
    assert both.verdict() == "inconclusive (of 1000 simulations 60 did not converge, 40 failed)"
    assert made(900, 0, failed=100, of_good=NARROW).verdict().startswith("not calibrated")


def test_outcomes_that_count_twice_are_said(animal_ai):
    found = made(40, 0, layout=animal_ai)
    assert found.uses_outcomes_twice
    assert "mean failure" in found.verdict()
    assert "outcomes count twice" in repr(found)
    assert not made(40, 0, layout=small_layouts.animal_ai(toward=0.5)).uses_outcomes_twice


@pytest.mark.parametrize("kind", ["uniform", "low tails", "high tails"])
def test_p_values_hold_their_level(kind, rng):
    """Of 1,000 quantities with 100 ranks each; a tenth of ranks in one tail is found: the twins."""
    positions = rng.random((1000, 100))
    if kind != "uniform":
        positions *= np.where(rng.random(positions.shape) < 0.1, 1e-3, 1)
        positions = 1 - positions if kind == "high tails" else positions
    names = pd.Index([str(number) for number in range(100)], name="subject")
    status = pd.DataFrame({"status": "ok", "reason": ""}, names)
    p = judged(dict(zip(map(str, range(1000)), positions, strict=True)), status).table()["p"]
    for level in (0.01, 0.05):
        if kind == "uniform":
            assert (p <= level).mean() == pytest.approx(level, abs=3 * np.sqrt(level / 1000))
        else:
            assert (p <= level).mean() > 0.9
