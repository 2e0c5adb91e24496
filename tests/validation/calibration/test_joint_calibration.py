"""Layouts with a population: ranks of shared and own values, and of a fit that lacks a part."""

import pandas as pd
import pytest
from helpers import shared_layouts

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.inference.fitting import fit
from measurement_layouts.validation.calibration import run

OPTIONS = {"draws": 400, "tune": 400, "progressbar": False}


@pytest.mark.slow
@pytest.mark.parametrize(
    "declare",
    [shared_layouts.explanatory, shared_layouts.two_capabilities],
    ids=["explanatory", "two capabilities"],
)
def test_populations_are_calibrated(declare):
    """Shared values, own ones and item effects, each at one level of every simulation.

    The Rasch model of a population is a layout of the study of an exam (`test_calibration.py`).
    """
    layout = declare()
    found = ml.validation.sbc(
        layout,
        shared_layouts.items(8),
        subjects=shared_layouts.subjects(12),
        simulations=25,
        seed=3,
        **OPTIONS,
    )
    assert found.quantities == [*(latent.name for latent in layout.latents), "log-likelihood"]
    assert found.calibrated, found.table()


@pytest.mark.slow
def test_a_residual_that_is_left_out_is_found(monkeypatch):
    """Without the items' own part, the weight of their property is far too sure.

    One fit of each simulation, and only those that converge count: a wrong layout needs no
    further ones to be told.
    """
    without = shared_layouts.explanatory(residual=False)
    monkeypatch.setattr(run, "fit", lambda layout, *data, **more: fit(without, *data, **more))
    found = ml.validation.sbc(
        shared_layouts.explanatory(),
        shared_layouts.items(8),
        subjects=shared_layouts.subjects(30),
        simulations=80,
        seed=3,
        reruns=0,
        **OPTIONS | {"draws": 800},
    )
    assert found.verdict().startswith("not calibrated")
    assert not found.table().loc["weight", "uniform"]
    assert found.table().loc["weight", "coverage"] < 0.8


def test_subjects_are_asked_for_where_they_matter_only():
    items, people = shared_layouts.items(), shared_layouts.subjects()
    with pytest.raises(
        DataError, match="'rasch' is fitted to all subjects jointly, and no subjects are"
    ):
        ml.validation.sbc(shared_layouts.rasch(), items)
    alone = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    with pytest.raises(DataError, match="each subject separately, so that each simulation"):
        ml.validation.sbc(alone, items, subjects=people)
    with pytest.raises(DataError, match="fitted to each subject separately and shares nothing"):
        ml.validation.draw_truth(alone, items, people, seed=1)
    with pytest.raises(DataError, match="there are no subjects"):
        ml.validation.draw_truth(shared_layouts.rasch(), items, pd.DataFrame(), seed=1)
