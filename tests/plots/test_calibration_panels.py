"""What is drawn of calibration is what the scores say, and nothing is cut."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.made_estimates import legend, nothing_is_cut, scattered
from matplotlib.collections import LineCollection

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.plots import calibration_panels

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"size": rng.normal(size=300)}, [f"q{place}" for place in range(300)])
    middle = np.linspace(-2, 2, 7)[:, None]
    solved = rng.random((7, 300)) < 1 / (1 + np.exp(2 * (items["size"].to_numpy() - middle)))
    names = [*"abcdef", "a subject with a very long name indeed"]
    return ml.Evaluation.from_wide(pd.DataFrame(solved, names, items.index), items)


@pytest.fixture(scope="module")
def found(evaluation):
    methods = {"line": "logistic", "mean": "aggregate"}
    return ml.validation.cross_validate(
        methods, evaluation, split=ml.validation.Items(folds=2), progressbar=False
    )


def test_a_panel_per_subject(evaluation, found):
    axes = calibration_panels(found)
    assert len(axes) == 7
    assert axes[0].get_figure().get_suptitle() == "Calibration of line"
    most = 0
    for name, panel in zip(found.subjects, axes, strict=True):
        curve = found.calibration("line").loc[name]
        (marks,) = scattered(panel)
        assert np.allclose(marks.get_offsets(), curve[["forecast", "success"]])
        assert np.array_equal(marks.get_sizes().argsort(), curve["trials"].argsort())
        bars = next(c for c in panel.collections if isinstance(c, LineCollection))
        ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
        assert np.allclose(ends, curve[["low", "high"]])
        ece = found.per_subject("ece").loc[name, "line"]
        assert panel.get_title().splitlines()[1] == f"ECE {ece:.2f}"
        most = max(most, curve["trials"].max())
    sizes = np.concatenate([scattered(panel)[0].get_sizes() for panel in axes])
    assert sizes.max() == 90
    assert legend(axes) == ["calibrated", "success rate and 90% interval; larger: more items"]
    nothing_is_cut(axes)


def test_another_method_and_given_axes(found):
    _, grid = plt.subplots(2, 4)
    axes = calibration_panels(found, "mean", ax=grid.ravel()[:7])
    assert len(scattered(axes[0])[0].get_offsets()) <= 2
    with pytest.raises(FitError, match="no predictions of forest; the methods are line, mean"):
        calibration_panels(found, "forest")
    with pytest.raises(FitError, match="8 axes and there are 7 panels"):
        calibration_panels(found, ax=grid)


def test_a_panel_for_home_and_one_for_elsewhere(evaluation, found):
    near = evaluation.items.index[evaluation.items["size"] < 1]
    away = ml.validation.cross_validate(
        {"line": "logistic"},
        evaluation,
        split=ml.validation.Given(train=near, test=evaluation.items.index.difference(near)),
        progressbar=False,
    )
    axes = calibration_panels({"home": found, "elsewhere": away}, "line")
    assert len(axes) == 2
    for (name, one), panel in zip({"home": found, "elsewhere": away}.items(), axes, strict=True):
        curve = one.calibration("line", pooled=True)
        (marks,) = scattered(panel)
        assert np.allclose(marks.get_offsets(), curve[["forecast", "success"]])
        ece = one.by().loc[("", "line"), "ece"]
        assert panel.get_title() == f"{name}\nECE {ece:.2f}"
    assert axes[0].get_figure().get_suptitle() == "Calibration of line, all subjects together"
    nothing_is_cut(axes)
    with pytest.raises(FitError, match="no cross-validation to draw"):
        calibration_panels({})


def test_a_subject_without_predictions(found):
    failed = found.predictions.copy()
    failed.loc[failed["subject"] == "b", "probability"] = np.nan
    axes = calibration_panels(type(found)(failed, found.success))
    assert axes[1].get_title() == "b\nno prediction"
    assert not scattered(axes[1])
    assert scattered(axes[0])
