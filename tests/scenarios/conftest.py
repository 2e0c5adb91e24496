"""Real data and published tables, where this machine has them."""

import os
from pathlib import Path

import pytest
from helpers.real_folders import missing, study

from measurement_layouts.scenarios.animal_ai_olympics import load


@pytest.fixture(scope="session")
def real_data():
    """Folder with the competition's two files."""
    return study("aaio", "scores_all.csv", "task_codes.csv")


@pytest.fixture(scope="session")
def evaluation(real_data):
    return load(real_data)


@pytest.fixture(scope="session")
def published_tables(real_data):
    """Folder with the papers' tables: named, or beside the data."""
    named = os.environ.get("MEASUREMENT_LAYOUTS_PUBLISHED")
    folder = Path(named) if named else real_data.parent.parent / "published"
    if not (folder / "aaio_figure9.csv").is_file():
        missing(f"{folder} lacks aaio_figure9.csv; MEASUREMENT_LAYOUTS_PUBLISHED may name another")
    return folder


@pytest.fixture(scope="session")
def risk_data():
    """Folder with the three files of the risk-aversion study."""
    return study("propensity_ra", "items.csv", "outcomes_wide.csv", "published_theta_RA.csv")


@pytest.fixture(scope="session")
def adele_data():
    """Folder with the labels and outcomes of six benchmarks."""
    return study("adele_labelled", "CSE_capabilities.csv", "CSE_outcomes.csv")
