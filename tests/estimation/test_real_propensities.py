"""Risk aversion of 96 language models: the published likelihood."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import estimate
from measurement_layouts.linking import arrays, band

FILES = ("items.csv", "outcomes_wide.csv", "published_theta_RA.csv")
PROMISED = ("CI", "REQUIRE_REAL_DATA")


@pytest.fixture(scope="module")
def folder():
    path = Path(os.environ.get("MEASUREMENT_LAYOUTS_DATA", "nowhere"), "propensity_ra")
    if not all((path / name).is_file() for name in FILES):
        reason = f"MEASUREMENT_LAYOUTS_DATA names no folder with propensity_ra/{FILES}"
        (pytest.fail if any(map(os.environ.get, PROMISED)) else pytest.skip)(reason)
    return path


@ml.linking.linking_function(range=(0, 1), same_unit=("theta", "low", "high"))
def published(theta, low, high):
    """The band, 1e-10 from 0 and 1 as published."""
    return arrays.minimum(arrays.maximum(band.formula(theta, low, high), 1e-10), 1 - 1e-10)


@pytest.fixture(scope="module")
def papers(folder):
    """The published table, indexed by the outcomes' columns."""
    table = pd.read_csv(folder / "published_theta_RA.csv")
    levels = table["Incited propensity"]
    names = [
        f"{model}_RA_outcome" if np.isnan(level) else f"{model}_RA_{level:+.0f}_outcome"
        for model, level in zip(table["Model"], levels, strict=True)
    ]
    return table.set_index(pd.Index([name.replace("+0", "0").replace("-0", "0") for name in names]))


@pytest.fixture(scope="module")
def estimates(folder):
    items = pd.read_csv(folder / "items.csv", index_col="question_id")
    outcomes = pd.read_csv(folder / "outcomes_wide.csv", index_col="question_id")
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=2))
    ends = [ml.MetaFeature(name, low=-3, high=3) for name in ("lower", "upper")]
    layout = ml.Layout("published", ml.Success("right", published(risk, *ends)))
    return estimate(layout, ml.Evaluation.from_wide(outcomes, items))


@pytest.mark.parametrize(
    ("column", "at"), [("EstimationLL", "Obtained propensity"), ("ReferenceLL", None)]
)
def test_every_published_log_likelihood_comes_out(estimates, papers, column, at):
    ours = [
        float(estimates.curves[subject](np.array(row[at] if at else 0.0)))
        for subject, row in papers.iterrows()
    ]
    np.testing.assert_allclose(ours, papers[column], rtol=0, atol=1e-5)
