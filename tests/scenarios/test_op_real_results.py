"""Real results on O-PIAAGETS: files of the stated form, written here, are read and fitted."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.scenarios import object_permanence as op

HIDDEN = [f"{kind} test {number}" for kind in ("cup", "grid") for number in (1, 2, 3)]
ARENAS = [*HIDDEN, "basic task 1", "basic task 2"]


@pytest.fixture(scope="module")
def battery():
    """Some arenas of the embedded battery, with the columns of the published layout."""
    items = op.battery().loc[ARENAS]
    columns = [c for feature in op.published_layout().meta_features for c in feature.columns]
    return items[columns].rename_axis("arena").reset_index()


def written(folder, battery, outcomes=None):
    rows = [("007", arena, int(at % 2)) for at, arena in enumerate(ARENAS)]
    rows += [("bee", arena, 1) for arena in ARENAS[:5]] + [("bee", ARENAS[0], 0)]
    table = pd.DataFrame(rows, columns=["subject", "arena", "success"])
    battery.to_csv(folder / "arenas.csv", index=False)
    (table if outcomes is None else outcomes(table)).to_csv(folder / "outcomes.csv", index=False)
    return folder


def test_both_files_are_read(tmp_path, battery):
    found = op.load(written(tmp_path, battery))
    assert found.subjects == ["007", "bee"]
    assert found.trials.loc["bee"].tolist() == [2, 1, 1, 1, 1, 0, 0, 0]
    assert found.successes.loc["007"].sum() == 4
    assert found.items["timeUnderOcc"].isna().tolist() == [False] * 6 + [True] * 2
    np.testing.assert_allclose(found.items["goalDistance"], battery["goalDistance"])


@pytest.mark.slow
def test_real_results_are_fitted(tmp_path, battery):
    evaluation = op.load(written(tmp_path, battery))
    short = {"draws": 50, "tune": 100, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}
    assert ml.fit(op.published_layout(), evaluation, **short).subjects == ["007", "bee"]
