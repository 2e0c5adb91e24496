"""The verdict: few simulations that did not converge change nothing, many leave it open."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.validation.calibration.result import UNCONVERGED, report, summary

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
QUANTITIES = ("p", "log-likelihood")
UNIFORM, NARROW = (1, 1), (0.3, 0.3)  # distributions of the ranks, Beta


def places(count, shape):
    """Positions in [0, 1) at equal steps of a Beta distribution."""
    return stats.beta.ppf((np.arange(count) + 0.5) / max(count, 1), *shape)


def made(good, not_converged, failed=0, *, of_good=UNIFORM, of_not_converged=UNIFORM):
    """A calibration with so many simulations of each status, whose ranks are so distributed."""
    statuses = ["ok"] * good + ["not converged"] * not_converged + ["failed"] * failed
    names = [str(number) for number in range(len(statuses))]
    status = pd.DataFrame({"status": statuses, "reason": ""}, pd.Index(names, name="subject"))
    ranked = names[: good + not_converged]
    parts = [
        pd.DataFrame(
            {
                "simulation": ranked,
                "quantity": quantity,
                "truth": np.linspace(-1, 1, len(ranked)),
                "mean": 0.0,
                "sd": 1.0,
                "draws": 99,
                "rank": 0,
                "position": np.concatenate(
                    [places(good, of_good), places(not_converged, of_not_converged)]
                ),
            }
        )
        for quantity in QUANTITIES
    ]
    ranks = pd.concat(parts, ignore_index=True)
    return ml.validation.SimulationBasedCalibration(small_layouts.coin(), ranks, status, 0.01)


def test_up_to_the_share_the_ranks_of_all_decide():
    most = round(1000 * UNCONVERGED)
    found = made(1000 - most, most)
    assert found.unconverged == UNCONVERGED == 0.05
    assert (found.calibrated, found.inconclusive) == (True, False)
    assert found.verdict() == "calibrated"
    assert not made(1000 - most, most, of_good=NARROW).calibrated


@pytest.mark.parametrize("not_converged", [51, 498, 1000])
def test_beyond_the_share_uniform_ranks_prove_nothing(not_converged):
    found = made(1000 - not_converged, not_converged)
    assert found.table()["inside"].all()
    assert (found.calibrated, found.inconclusive) == (False, True)
    said = f"inconclusive (of 1000 simulations {not_converged} did not converge)"
    assert found.verdict() == said
    assert f": {said} in 1000 simulations, {not_converged} not converged, 0 failed>" in repr(found)


def test_ranks_of_chains_that_did_not_converge_are_no_evidence_against_the_layout():
    found = made(200, 100, of_not_converged=NARROW)
    table = found.table()
    assert not table["inside"].any()
    assert table["inside_converged"].all()
    assert (found.calibrated, found.inconclusive) == (False, True)


def test_ranks_of_those_that_converged_are():
    found = made(200, 100, of_good=NARROW)
    assert not found.table()["inside_converged"].any()
    assert (found.calibrated, found.inconclusive) == (False, False)
    said = "not calibrated (p, log-likelihood), by 200 simulations that converged"
    assert found.verdict() == said


def test_the_share_moves_a_distribution_function_by_less_than_the_bands_of_a_thousand():
    """The reason for the share: the widest band, and the farthest that so many ranks move it."""
    differences = made(1000, 0).differences()
    assert differences["high"].max() > UNCONVERGED
    worst = made(1000 - 50, 50, of_not_converged=(1, 1e6)).differences()
    assert 0.9 * UNCONVERGED < worst["difference"].max() <= UNCONVERGED


def test_a_simulation_that_failed_has_no_rank_and_none_is_calibrated_with_it():
    found = made(999, 0, failed=1)
    assert (found.calibrated, found.inconclusive) == (False, True)
    assert found.verdict() == "inconclusive (of 1000 simulations 1 failed)"
    both = made(900, 60, failed=40)
    assert both.unconverged == 0.1
    assert both.verdict() == "inconclusive (of 1000 simulations 60 did not converge, 40 failed)"
    assert made(900, 0, failed=100, of_good=NARROW).verdict().startswith("not calibrated")


def test_table_report_and_figure_say_it():
    found = {"good": made(100, 2), "open": made(0, 100), "bad": made(100, 0, of_good=NARROW)}
    verdicts = ["calibrated", "inconclusive", "not calibrated"]
    assert summary(found)["verdict"].tolist() == verdicts
    lines = report(found, "ranks.png").splitlines()
    cells = [line.rsplit("|", 2)[1].strip() for line in lines if line.startswith("| ")][-3:]
    assert cells == ["yes", "**inconclusive**", "**no**"]
    assert "- open: inconclusive (of 100 simulations 100 did not converge)." in lines
    titles = [ax.get_title().splitlines()[1] for ax in ml.plots.rank_ecdf(found)]
    assert titles == [
        "calibrated, 102 simulations,",
        "INCONCLUSIVE, 100 simulations,",
        "NOT calibrated, 100 simulations",
    ]
    failed = ml.plots.rank_ecdf(made(90, 3, failed=10))[0].get_title()
    assert failed.endswith("INCONCLUSIVE, 103 simulations, 3 not converged, 10 failed")


def test_chains_too_short_to_converge_are_inconclusive():
    """From nothing: 2 x 50 draws are fewer than the 200 that a fit wants, whatever the layout."""
    tosses = pd.DataFrame(index=[f"toss {number}" for number in range(12)])
    short = {"draws": 50, "tune": 1, "chains": 2, "method": "grid", "progressbar": False}
    found = ml.validation.sbc(small_layouts.coin(), tosses, simulations=20, **short)
    assert (found.not_converged, found.failed) == (20, 0)
    assert (found.calibrated, found.inconclusive) == (False, True)
