"""The layout of dispositions finds known ones again, and the study's figures follow."""

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.dispositions.pulls import choices
from measurement_layouts.scenarios import dispositions
from measurement_layouts.scenarios.dispositions import reproduction

SOME = ["sim-01", "sim-05", "sim-16"]
SMALL = {"per_statement": 2, "models": SOME}


@pytest.fixture(scope="module")
def study():
    return dispositions.simulated_study(**SMALL)


@pytest.fixture(scope="module")
def fitted(study):
    layout = dispositions.disposition_layout()
    options = {"draws": 300, "tune": 300, "chains": 2, "reruns": 0, "seed": 1}
    return ml.fit(layout, choices(study.judgments), **options, progressbar=False)


@pytest.mark.slow
def test_known_profiles_are_found(study, fitted):
    """Errors in posterior standard deviations: 17 of 18 below 3.3 is far from chance."""
    table = reproduction.recovered(study, fitted)
    table = table[~((table["node"] == "noise") & (table["truth"] == 0))]
    z = table["error"] / table["sd"]
    assert len(z) == 17
    assert z.abs().max() < 3.3
    assert 0.5 < z.std() < 1.6
    others = table.assign(truth=table["truth"].to_numpy()[::-1])  # twin: of other elements
    assert ((others["mean"] - others["truth"]) / others["sd"]).abs().max() > 10


@pytest.mark.slow
def test_every_part_of_the_reproduction(monkeypatch, tmp_path):
    """On two models and an eighth of the scenarios; whether goals hold is for the full size."""

    def small(seed=None, **_):
        if seed is None:
            return dispositions.simulated_study(per_statement=2, models=SOME[:2])
        return dispositions.simulated_study(seed, **SMALL)  # of the studies with items held out

    monkeypatch.setattr(reproduction, "simulated_study", small)
    monkeypatch.setattr(reproduction, "_STUDIES", 2)
    found = scenarios.reproduce("dispositions")
    assert all(pd.notna(figure.obtained) for figure in found.figures[:8])
    assert set(found.tables) >= {"self-reports against behaviour", "held-out Brier scores"}
    supports = found.tables["support by groups of raters"]
    assert supports["obtained ratings"].notna().all()


def test_loading_from_json_lines(study, tmp_path):
    study.judgments.to_json_lines(tmp_path)
    found = dispositions.load(tmp_path)
    assert found.subjects == SOME
    assert found.successes.equals(choices(study.judgments).successes)


def test_the_summary_counts_errors_by_study():
    rows = [("noise", 0, 0.0, False, 0), ("slope", 1, 0.1, True, 0), ("slope", 1, 0.3, False, 1)]
    table = pd.DataFrame(rows, columns=["node", "truth", "error", "covered", "study"]).assign(sd=1)
    (row,) = reproduction.summary(table).to_dict("records")
    assert row["elements"] == 2
    assert (row["bias"], row["se"]) == pytest.approx((0.2, 0.1))
    assert row["coverage"] == 0.5
