"""Chains that stay in different modes are told from chains that mix badly."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts.inference.sampling.convergence import (
    convergence,
    faults,
    separate,
    stay_apart,
)
from measurement_layouts.inference.sampling.draws import Draws

LABELS = ("read", "write")


def chains(rng, *middles, spread=0.1, draws=300):
    return np.array(middles)[:, None] + spread * rng.normal(size=(len(middles), draws))


def test_groups_are_numbered_from_below(rng):
    assert separate(chains(rng, 3, -1, 3, 9, -1)).tolist() == [1, 0, 1, 2, 0]


def test_overlapping_chains_are_one_group(rng):
    assert separate(chains(rng, 0, 0.2, 0.4, 0.6)).tolist() == [0] * 4
    wide = np.concatenate([chains(rng, 0, 5), chains(rng, 2.5, spread=2)])
    assert separate(wide).tolist() == [0] * 3  # one chain has been in both modes


@pytest.mark.parametrize(("strays", "groups"), [(1, [0, 0, 1, 1]), (60, [0] * 4)])
def test_a_stray_draw_is_no_bridge_but_many_are(rng, strays, groups):
    draws = chains(rng, -1, -1, 1, 1)
    draws[0, :strays] = 1
    assert separate(draws).tolist() == groups


def test_modes_are_told_by_as_few_elements_as_it_takes(rng):
    left, right = chains(rng, 0, 0, 5, 5), chains(rng, 7, 2, 7, 2)
    draws, bad = np.stack([left, right, 10 - left]), np.array([1.7, 1.8, 1.6])
    words = stay_apart(draws, bad, 1.01, ["left", "right", "mirror"])
    places = [f"({np.median(right[k]):.3g}, {np.median(left[k]):.3g}) (1 chain)" for k in range(4)]
    said, found = words.split(" near ")
    assert said == "the chains stay in 4 separate modes of unknown weight: (right, left)"
    assert all(place in found for place in places)
    assert len(found) == len(", ".join(places))


def test_elements_with_a_fair_rhat_are_not_looked_at(rng):
    draws = chains(rng, 0, 5)[None]
    assert stay_apart(draws, np.array([1.02]), 1.01, ["one"])
    assert not stay_apart(draws, np.array([1.01]), 1.01, ["one"])
    assert not stay_apart(draws, np.array([np.nan]), 1.01, ["one"])


def test_separate_modes_are_no_matter_of_more_draws(rng):
    never = {"diverging": np.zeros((4, 300), dtype=bool)}
    apart = faults(convergence(Draws({"mood": chains(rng, -1, 2, -1, 2)}, never)), 4)
    assert "above 1.01: the chains stay in 2 separate modes of unknown weight: mood" in apart[0]
    assert "draw more" not in "; ".join(apart)
    near = faults(convergence(Draws({"mood": chains(rng, 0, 0, 0, 0.2)}, never)), 4)
    assert "above 1.01: draw more" in near[0]


def test_one_subject_s_reason_is_that_of_its_row(rng):
    """Labelled elements by name; who mixes is not looked at."""
    layout = small_layouts.labelled(LABELS)
    items = pd.DataFrame(rng.uniform(0, 5, (4, 2)), columns=["demand[read]", "demand[write]"])
    outcomes = pd.DataFrame([[1, 0, 1, 0], [0, 1, 1, 0]], index=["Ann", "Bob"])
    evaluated = ml.Evaluation.from_wide(outcomes, items)
    fine, apart = chains(rng, 2, 2, 2, 2), chains(rng, 1, 4, 4, 4)
    draws = np.stack([np.stack([fine, fine], -1), np.stack([fine, apart], -1)])
    table = small_layouts.crafted(layout, evaluated, {"ability": draws}).diagnostics()
    assert table["status"].tolist() == ["ok", "not converged"]
    never = {"diverging": np.zeros(fine.shape, dtype=bool)}
    names = ["ability[read]", "ability[write]"]
    own = faults(convergence(Draws({"ability": draws[1]}, never), names), 4)
    assert table.loc["Bob", "reason"] == "; ".join(own)
    assert "ability[write] near " in own[0]
    assert "(1 chain), " in own[0]
    assert own[0].endswith("(3 chains)")
