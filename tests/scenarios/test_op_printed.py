"""Table 5 of object permanence as printed: its formula by hand, and each of its departures."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from measurement_layouts import LayoutError
from measurement_layouts.linking import evaluate
from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence.reproduction.published import (
    MENDED,
    PRINTED,
    compare_variants,
    recorded,
    variant_figures,
    variants,
)

PLAIN = {"memoryAbility": 3.0, "timeUnderOcc": 2.0, "occluderPresence": 0}
PLAIN |= {"OPAbility": 10.0, "numberOfPositions": 3.0}


def performance(layout, **values):
    return float(evaluate(layout.nodes["OPPerformance"], PLAIN | values))


@pytest.mark.trust("oracles", "Table 5 of object permanence as printed, by hand")
def test_the_printed_formula_by_hand():
    rng = np.random.default_rng(1)
    for _ in range(50):
        m, t, theta, n = rng.uniform(0, (4.4, 4, 48.4, 11))
        o = rng.integers(0, 2)
        found = performance(
            op.printed_layout(),
            memoryAbility=m,
            timeUnderOcc=t,
            OPAbility=theta,
            numberOfPositions=n,
            occluderPresence=o,
        )
        expected = expit(m - t) * expit(48.4 - (48.4 - (theta - 4 * n)) * o)
        assert found == pytest.approx(expected, rel=1e-12)


def test_memory_where_nothing_is_hidden():
    """Memory 3 s, 2 s recorded, no occluder: 0.73 as printed, 1 mended."""
    assert performance(op.printed_layout()) == pytest.approx(expit(1.0), abs=1e-12)
    assert performance(op.published_layout()) == 1.0
    assert performance(op.printed_layout(["occluder"])) == 1.0


def test_each_departure_changes_what_it_says():
    made = variants()
    assert list(made) == [MENDED, *(f"{name} {PRINTED}" for name in op.DEPARTURES), PRINTED]
    assert made[MENDED].fingerprint == op.published_layout().fingerprint
    assert len({layout.fingerprint for layout in made.values()}) == len(made)
    hidden = {"occluderPresence": 1}
    by_time, by_place = (
        performance(made[name], **hidden) for name in (MENDED, f"demand {PRINTED}")
    )
    assert by_time == pytest.approx(expit(1.0) * expit(10 - 2 * 3))
    assert by_place == pytest.approx(expit(1.0) * expit(10 - 4 * 3))
    assert performance(made[f"occluder {PRINTED}"], **hidden) == pytest.approx(by_time)
    ends = {
        name: [made[name].nodes[each].range.high for each in ("OPAbility", "memoryAbility")]
        for name in (MENDED, f"ranges {PRINTED}", PRINTED)
    }
    assert list(ends.values()) == [[52.8, 4.8], [48.4, 4.4], [48.4, 4.4]]
    flat = {name: layout.nodes["flatNavAbility"].priors[0].family for name, layout in made.items()}
    assert [name for name, family in flat.items() if family != "Uniform"] == [
        f"walking {PRINTED}",
        PRINTED,
    ]


def test_an_unknown_departure_is_named():
    with pytest.raises(LayoutError, match="no departure time from Table 5; give some of demand"):
        op.printed_layout(["time"])


def test_table_5_needs_a_time_for_every_arena():
    cohort = op.simulated_cohort().evaluation
    chosen = cohort.select(subjects=["Agent6"], items=cohort.items.index[::300])
    found = recorded(chosen)
    assert not found.items[["timeUnderOcc", "numberOfPositions"]].isna().any(axis=None)
    was = chosen.items["timeUnderOcc"]
    assert (found.items["timeUnderOcc"][was.notna()] == was.dropna()).all()
    pd.testing.assert_frame_equal(found.trials, chosen.trials)


def test_figures_hold_the_mended_layout_against_the_printed_one():
    columns = ["RMSE, overall", "RMSE, included", "Brier"]
    table = pd.DataFrame([[0.1, 0.3, 0.1], [0.2] * 3], [MENDED, PRINTED], columns)
    assert [figure.holds for figure in variant_figures(table)] == [True, False, True]


@pytest.mark.slow
def test_variants_are_compared_on_the_same_arenas():
    """A near-sighted agent: the printed prior of walking, N(0, 1), makes every measure worse."""
    found = compare_variants(1, agents=["Agent11"], draws=100, progressbar=False)
    assert list(found.index) == list(variants())
    assert found.loc[PRINTED, "Brier"] > found.loc[MENDED, "Brier"] + 0.02
    assert found.loc[f"walking {PRINTED}", "RMSE, overall"] > found.loc[MENDED, "RMSE, overall"]
    change = found["Brier"] - found.loc[MENDED, "Brier"]
    np.testing.assert_allclose(found["Brier, change"], change, atol=1e-12)
