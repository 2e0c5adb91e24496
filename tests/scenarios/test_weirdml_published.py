"""Verdicts on horizons beside the published ones."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.estimation.horizons import HorizonTrend
from measurement_layouts.scenarios.weirdml import reproduction
from measurement_layouts.scenarios.weirdml.reproduction import (
    BOTH,
    PUBLISHED,
    RECOMMENDED,
)

MODELS = ["Ann", "Bob"]


def table(hours, factor):
    """Horizons with intervals of that factor to either side."""
    hours = np.array(hours, dtype=float)
    columns = {"hours": hours, "low": hours / factor, "high": hours * factor}
    return pd.DataFrame(columns, pd.Index(MODELS, name="subject"))


THEIRS = table([1, 8], 2)


def figures(plain=(1.1, 7), own=(1.0, 8.4), width=2, plain_width=1.3):
    beside = reproduction.beside_published(
        {PUBLISHED: table(plain, plain_width), RECOMMENDED: table(own, width)}, THEIRS
    )
    on_calibrated = reproduction.beside_published({PUBLISHED: table(plain, plain_width)}, THEIRS)
    return reproduction.horizon_figures(beside, on_calibrated)


def test_ratios_and_widths_by_hand():
    found = reproduction.beside_published({"ours": table([2, 4], 4)}, THEIRS)
    assert found["ratio"].tolist() == [2, 0.5]
    assert found["width"].to_numpy() == pytest.approx([2, 2])  # log 16 over log 4
    assert found["inside"].tolist() == [True, True]
    apart = reproduction.beside_published({"ours": table([2.01, 3.9], 4)}, THEIRS)
    assert apart["inside"].tolist() == [False, False]


def test_horizons_as_published_hold():
    found = figures()
    assert all(figure.holds for figure in found)
    assert [figure.obtained for figure in found[:3]] == [2, 2, 2]
    assert found[3].obtained == pytest.approx(1.05)
    assert found[4].obtained == pytest.approx(0)
    assert found[5].obtained == pytest.approx(np.log(1.3) / np.log(2))


@pytest.mark.parametrize(
    ("change", "fallen"),
    [
        ({"plain": (3, 8)}, [0, 1]),
        ({"own": (1, 17)}, [2, 3]),
        ({"own": (1, 6)}, [3]),
        ({"width": 2.5}, [4]),
        ({"plain_width": 1.9}, [5]),
    ],
)
def test_others_fall_short(change, fallen):
    found = figures(**change)
    assert [place for place, figure in enumerate(found) if not figure.holds] == fallen


@pytest.mark.parametrize(("months", "holds"), [(5.4, [True, True]), (6.1, [False, True])])
def test_doubling_time(months, holds):
    trend = HorizonTrend(months, months - 1, months + 1, 0.3, pd.DataFrame(), 0.9)
    assert [figure.holds for figure in reproduction._trend_figures(trend)] == holds


def test_coverage():
    rates = pd.DataFrame({"coverage": {PUBLISHED: 0.6, RECOMMENDED: 0.94, BOTH: 0.84}})
    assert [figure.holds for figure in reproduction._coverage(rates)] == [True, False, True]


def test_foresight():
    total = pd.DataFrame({"elpd_diff": [0.0, -50.0], "dse": [0.0, 10.0]}, [RECOMMENDED, PUBLISHED])
    tasks = pd.DataFrame({"brier_difference": [0.003], "brier_se": [0.001]}, [RECOMMENDED])
    assert [figure.holds for figure in reproduction._foresight(total, tasks)] == [True, False]
    behind = total.set_axis([PUBLISHED, RECOMMENDED])
    assert not reproduction._foresight(behind, tasks)[0].holds
