"""A small fit with awkward names, and its page."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.awkward_names import FAILED, NAMES

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.reports.report import report


@pytest.fixture(scope="session")
def layout():
    """Skill against difficulty."""
    skill = ml.Capability("skill", low=0, high=6, unit="level", about="<b>bold</b> & so on")
    difficulty = ml.MetaFeature("difficulty", low=0, high=6, unit="level", about="1 < 2 & 3")
    shift = ml.MetaFeature("shift", levels=(-1, 0, 1), unit="level")
    return ml.Layout("difficult", ml.Success("right", logistic(skill - difficulty + shift)))


@pytest.fixture(scope="session")
def evaluation(layout):
    """Four subjects, of whom one passes everything, on 40 items with a property more."""
    rng = np.random.default_rng(4)
    items = pd.DataFrame(
        {
            "difficulty": np.linspace(0, 6, 40),
            "shift": np.resize([-1, 0, 1, 0], 40),
            "colour": np.resize(["red", "blue", "blue"], 40),
        },
        index=[f"item-{number:02d}" for number in range(40)],
    )
    skills = np.array([1.5, 3.0, 4.5, 99.0])
    margin = skills[:, None] - (items["difficulty"] - items["shift"]).to_numpy()
    chance = 1 / (1 + np.exp(-margin))
    outcomes = (rng.random(chance.shape) < chance).astype(int)
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, NAMES, items.index), items)


@pytest.fixture(scope="session")
def fitted(layout, evaluation):
    """Nobody may change it. Of a fifth subject sampling failed."""
    fit = ml.fit(layout, evaluation, method="grid", draws=60, chains=2, seed=1, progressbar=False)
    return dataclasses.replace(fit, failures={FAILED: "no <start>"})


@pytest.fixture(scope="session")
def new_items():
    """Items that nobody ran, one of them outside the declared range."""
    return pd.DataFrame(
        {"difficulty": [0.5, 3.0, 7.0], "shift": [0, 1, -1]},
        index=["new-a", "<i>new-b</i>", "new-c"],
    )


@pytest.fixture(scope="session")
def page_file(fitted, evaluation, new_items, tmp_path_factory):
    """The whole page."""
    path = tmp_path_factory.mktemp("reports") / "report.html"
    return report(fitted, path, evaluation=evaluation, forecast=fitted.forecast(new_items))


@pytest.fixture(scope="session")
def page(page_file):
    """Its text."""
    return page_file.read_text(encoding="utf-8")
