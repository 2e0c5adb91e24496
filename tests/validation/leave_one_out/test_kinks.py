"""Kinks: verdicts from given draws."""

import numpy as np
import pytest
from helpers import joint_fits

from measurement_layouts import FitError
from measurement_layouts.scenarios import weirdml
from measurement_layouts.validation import compare_layouts, find_kink

DRAWS = 60


@pytest.fixture(scope="module")
def models():
    cohort = weirdml.simulated_cohort()
    chosen = cohort.evaluation.select(
        items=cohort.evaluation.items.index[:6], subjects=cohort.evaluation.subjects[::6]
    )
    return weirdml.dated(chosen, weirdml.release_dates())


def fits(models, change, start=0.0):
    """Fits of made-up draws: the kink changes by so much, and the line starts off by some."""
    found = {}
    for shape in ("line", "kink"):
        layout = weirdml.trend_layout(shape)
        draws = joint_fits.random_draws(layout, models, DRAWS, seed=1)
        draws["start"] = 0.1 * draws["start"] + (start if shape == "line" else 0.0)
        draws["rate"] = 2.4 + 0.1 * draws["rate"]
        if shape == "kink":
            draws["change"] = change + 0.5 * draws["change"]
            draws["when"] = 0.1 * draws["when"]
        found[shape] = joint_fits.crafted(layout, models, draws)
    return found


def test_an_interval_that_holds_zero(models):
    given = fits(models, 0.4)
    found = find_kink(given)
    assert found.verdict == "cannot tell"
    assert np.isnan(found.ahead)
    draws = given["kink"].posterior["change"].to_numpy()
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]))
    assert "nats" not in repr(found)


@pytest.mark.parametrize(("start", "verdict"), [(0.0, "changed"), (9.0, "kink")])
def test_a_change_is_a_kink_where_other_shapes_foresee_worse(start, verdict, models):
    given = fits(models, 3.0, start)
    found = find_kink(given)
    total = compare_layouts(given, unit="subject").total.set_index("layout")["elpd"]
    assert found.ahead == pytest.approx(total["kink"] - total["line"])
    assert (found.ahead >= 2) == (verdict == "kink")
    assert found.verdict == verdict
    assert verdict in repr(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kink": "bend"}, "whose name is kink='bend'"),
        ({"change": "horizon"}, "horizon is not a single value"),
        ({"when": "then"}, "then is not a single value"),
    ],
)
def test_what_is_no_kink(options, message, models):
    with pytest.raises(FitError, match=message):
        find_kink(fits(models, 1.0), **options)


def test_one_fit_alone(models):
    with pytest.raises(FitError, match="at least one with another shape"):
        find_kink({"kink": fits(models, 1.0)["kink"]})
