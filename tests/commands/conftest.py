"""One small battery, and one fit of it by the command, that all tests of commands share."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.command import main

LAYOUT = """
import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture

distance = ml.MetaFeature("distance", low=0, high=10, unit="m")
reach = ml.Capability("reach", low=0, high=10, unit="m")
reached = logistic(reach - distance)
plain = ml.Layout("reaching", ml.Success("found", reached))


def noisy():
    performance = mixture(reached, by=ml.Noise("noise"), toward=0.5)
    return ml.Layout("noisy", ml.Success("found", performance))
"""
SUBJECTS = {"Ann": 3.0, "Bob": 6.0, "Zoë [x]": 8.0}


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def write_battery(folder, prefix="", seed=1, count=40):
    """Items with a property the layout does not use, and outcomes by the layout's own law."""
    rng = np.random.default_rng(seed)
    names = pd.Index([f"{prefix}{place:03}" for place in range(count)], name="item")
    items = pd.DataFrame({"distance": rng.uniform(0, 10, count).round(3)}, names)
    items["colour"] = np.resize(["red", "blue", "green"], count)
    rows = [
        {"subject": subject, "item": item, "outcome": int(rng.random() < chance)}
        for subject, reach in SUBJECTS.items()
        for item, chance in (1 / (1 + np.exp(items["distance"] - reach))).items()
    ]
    items.to_csv(folder / "items.csv")
    pd.DataFrame(rows).to_csv(folder / "outcomes.csv", index=False)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with layout.py, items.csv and outcomes.csv; the same in new/ for other items."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "layout.py").write_text(LAYOUT, encoding="utf-8")
    (folder / "new").mkdir()
    write_battery(folder)
    write_battery(folder / "new", prefix="new-", seed=2, count=20)
    return folder


@pytest.fixture
def tables(data):
    """The options that name the tables."""
    return ["--items", str(data / "items.csv"), "--outcomes", str(data / "outcomes.csv")]


@pytest.fixture
def new(data):
    """The options that name the tables of new items."""
    folder = data / "new"
    return ["--items", str(folder / "items.csv"), "--outcomes", str(folder / "outcomes.csv")]


@pytest.fixture(scope="session")
def fitted(data):
    """The folder that `fit` wrote, by the grid: exact, and in little time."""
    out = data / "fitted"
    arguments = [f"{data / 'layout.py'}:plain", "--method", "grid", "--draws", "500", "--chains"]
    named = ["--items", str(data / "items.csv"), "--outcomes", str(data / "outcomes.csv")]
    assert main(["fit", *arguments, "2", *named, "--out", str(out)]) == 0
    return out


@pytest.fixture
def fit_file(fitted):
    """The same fit as a file alone."""
    return str(fitted / "fit.nc")
