"""The figure of ranks shows what the table says, and names what leaves the band."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import DataError, FitError

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


def made(shapes, name="costs $5"):
    """A calibration whose positions have Beta distributions, by quantity."""
    rng = np.random.default_rng(1)
    parts = [
        pd.DataFrame(
            {
                "simulation": [str(number) for number in range(200)],
                "quantity": quantity,
                "truth": rng.normal(size=200),
                "mean": 0.0,
                "sd": 1.0,
                "draws": 99,
                "rank": 0,
                "position": rng.beta(*shape, 200),
            }
        )
        for quantity, shape in shapes.items()
    ]
    status = pd.DataFrame({"status": "ok", "reason": ""}, parts[0]["simulation"])
    status.iloc[:3, 0] = "not converged"
    layout = small_layouts.coin()
    named = ml.Layout(name, *layout.outcomes)
    return ml.validation.SimulationBasedCalibration(
        named, pd.concat(parts, ignore_index=True), status, 0.01
    )


@pytest.fixture
def good():
    return made({"p": (1, 1), "log-likelihood": (1, 1)})


@pytest.fixture
def bad():
    return made({"_p_ costs $5 or $6": (0.4, 0.4), "log-likelihood": (1, 1)})


def test_lines_are_the_differences(bad):
    (ax,) = ml.plots.rank_ecdf(bad)
    table = bad.differences()
    lines = [line for line in ax.lines if len(line.get_xdata()) > 2]
    for line, (_, own) in zip(lines, table.groupby("quantity", sort=False), strict=True):
        assert line.get_ydata()[1:-1] == pytest.approx(own["difference"].to_numpy())
        assert line.get_ydata()[[0, -1]].tolist() == [0, 0]
    by_hand = (bad.ranks["position"][:200].to_numpy() < 0.25).mean() - 0.25
    assert table["difference"][24] == pytest.approx(by_hand)


def test_what_leaves_the_band_is_named(good, bad):
    axes = ml.plots.rank_ecdf({"right": good, "wrong one": bad})
    first, second = (ax.get_title() for ax in axes)
    assert first == "right\ncalibrated, 200 simulations,\n3 not converged"
    assert second == "wrong one\nNOT calibrated, 200 simulations,\n3 not converged"
    assert axes[0].get_legend() is None
    (entry,) = axes[1].get_legend().get_texts()
    assert entry.get_text().strip() == r"_p_ costs \$5 or \$6"


def test_nothing_is_cut(good, bad):
    figure = ml.plots.rank_ecdf({f"layout {place}": good for place in range(9)} | {"x" * 80: bad})[
        0
    ].get_figure()
    figure.canvas.draw()
    drawn, sheet = figure.get_tightbbox(), figure.bbox_inches.padded(0.02)
    assert sheet.x0 <= drawn.x0 <= drawn.x1 <= sheet.x1
    assert sheet.y0 <= drawn.y0 <= drawn.y1 <= sheet.y1


def test_axes_of_one_s_own_and_their_number(good):
    import matplotlib.pyplot as plt

    own = plt.subplots()[1]
    assert ml.plots.rank_ecdf(good, ax=own)[0] is own
    with pytest.raises(FitError, match="1 axes and there are 2 panels"):
        ml.plots.rank_ecdf({"a": good, "b": good}, ax=own)
    with pytest.raises(DataError, match="at least one"):
        ml.plots.rank_ecdf({})
