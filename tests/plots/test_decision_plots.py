"""Figures of decisions: what is drawn is what the tables say."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.validation.prediction.assessor import point_forecast

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def orders():
    rng = np.random.default_rng(1)
    names = [f"i{place}" for place in range(40)]
    chances = rng.uniform(0, 1, (3, 40))
    won = (rng.random(chances.shape) < chances).astype(int)
    people = ["Ann", "costs $5", "_Cy_"]
    known = ml.Evaluation.from_wide(pd.DataFrame(won, people, names), pd.DataFrame(index=names))
    good, bad = (
        ml.decisions.risk_coverage(point_forecast(each, people, names), known)
        for each in (chances, np.full_like(chances, 0.5))
    )
    return {"layout": good, "_nothing_": bad}


def test_curves_are_those_of_the_tables(orders):
    panel = ml.plots.risk_coverage_plot(orders, success=0.8)
    curve = orders["layout"].curve
    pooled = curve[curve["subject"] == ""]
    assert np.array_equal(panel.lines[0].get_xdata(), pooled["coverage"])
    assert np.array_equal(panel.lines[0].get_ydata(), pooled["success"])
    last = panel.lines[1]
    assert last.get_xdata()[0] == orders["layout"].largest(0.8)[""]
    assert last.get_ydata()[0] >= 0.8
    told = [text.get_text() for text in panel.get_legend().get_texts()]
    assert told[2:] == ["required: 0.8", "everything accepted"]
    assert f"{orders['layout'].areas.loc['', 'area']:.3f}" in told[0]
    levels = [line.get_ydata()[0] for line in panel.lines if line.get_linestyle() == "--"]
    assert levels == [0.8]


def test_one_method_shows_its_subjects(orders):
    panel = ml.plots.risk_coverage_plot(orders["layout"])
    thin = [line for line in panel.lines if line.get_linewidth() < 1]
    assert len(thin) == 3
    with pytest.raises(ml.FitError, match="success="):
        ml.plots.risk_coverage_plot(orders["layout"], success=2)


def test_a_method_that_never_reaches_it_has_no_point(orders):
    panel = ml.plots.risk_coverage_plot(orders["_nothing_"], success=0.95)
    assert not [line for line in panel.lines if line.get_marker() not in ("", "None", None)]
