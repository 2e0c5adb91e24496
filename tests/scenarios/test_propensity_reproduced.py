"""The parts of the propensities study's reproduction, on the real and the simulated subjects.

`published.reproduce` works through more of each part; see the single tests for how much.
"""

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.scenarios import propensities
from measurement_layouts.scenarios.propensities.layouts import LAYOUTS
from measurement_layouts.scenarios.propensities.reproduction import (
    published,
    recovery,
)
from measurement_layouts.validation.prediction.cross_validate import cross_validate
from measurement_layouts.validation.prediction.layouts import FittedLayout

pytestmark = pytest.mark.slow
QUIET = {"seed": 1, "progressbar": False}


def short(figures):
    """Names of figures that do not hold."""
    return [figure.name for figure in figures if not figure.holds]


@pytest.fixture(scope="module")
def study(risk_data):
    return propensities.load(risk_data)


def test_what_is_held_out_is_foreseen(study):
    """With a quarter of the repeats an excess twice as large is noticed; one is known."""
    methods = {name: FittedLayout(make(), method="grid") for name, make in LAYOUTS.items()}
    scores = cross_validate(methods | {"aggregate": "aggregate"}, study, repeats=4, **QUIET)
    figures = published._score_figures(published.by_condition(scores))
    known = "held-out Brier at 0, recommended layout"
    assert [name for name in short(figures) if not name.startswith(known)] == []


def test_simulated_subjects_are_recovered(monkeypatch):
    """By maximum likelihood and the grid; the point collapse of Figure 6 is known to differ.

    Every other subject; `reproduce` estimates all 384. Of Figure 6 are two experiments instead of
    six; test_point_collapse.py has a hundred.
    """
    monkeypatch.setattr(recovery, "_REPEATS", 2)
    cohort = propensities.simulated_cohort()
    chosen = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::2])
    tables = {method: recovery.estimates_by(method, chosen) for method in ("likelihood", "grid")}
    tables["grid"]["identified"] = tables["likelihood"]["identified"]
    truth = cohort.profiles["propensity"]
    rows = {method: recovery.summary(table, truth) for method, table in tables.items()}
    methods = pd.DataFrame.from_dict(rows, orient="index")
    assert (methods["identified"] > 185).all()
    figures = published._recovery_figures(methods, recovery.figure_6())
    known = "Figure 6: mean point collapse"
    assert [name for name in short(figures) if not name.startswith(known)] == []


def test_draws_place_simulated_subjects_where_the_grid_does():
    """Within 4.6 Monte Carlo errors of the 400 effective draws that every fit wants."""
    cohort = propensities.simulated_cohort()
    chosen = cohort.evaluation.select(subjects=cohort.evaluation.subjects[3::18])
    fits = {
        method: ml.fit(propensities.published_layout(), chosen, method=method, **QUIET)
        for method in ("nuts", "grid")
    }
    nuts, exact = (fit.profiles().set_index("subject") for fit in fits.values())
    reasons = fits["nuts"].diagnostics()["reason"]
    settled = ~reasons.str.contains("R-hat") & ~nuts["prior_dominated"]
    assert settled.mean() > 0.9
    off = ((nuts["mean"] - exact["mean"]).abs() / exact["sd"])[settled]
    assert off.max() < published._FAR / 400**0.5
    beside = ((nuts["mean"] - exact["mean"].shift()).abs() / exact["sd"])[settled]
    assert beside.max() > published._FAR / 400**0.5  # the twin: estimates of others
