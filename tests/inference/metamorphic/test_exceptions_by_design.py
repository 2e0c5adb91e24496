"""What a transformation may change, by design, and that it changes no more.

An unseen property is shared by all attempts of an item, so attempts of one item and of items alike
are different data. The published pull of the noise is made of the outcomes: it counts attempts, not
items.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.reference_cases import CASES, SUBJECT
from helpers.transformations import UNCHANGED, Problem, random_problem
from test_densities_unchanged import hold_unchanged

from measurement_layouts.scenarios import animal_ai_olympics as aaio


@pytest.fixture(scope="module")
def dispositions():
    """Scenarios with up to 20 answers, and something unseen in each of them."""
    case = CASES["dispositions"]
    table = pd.read_csv(case.outcomes, index_col=0).iloc[:8]
    return Problem(case.declare(), table, SUBJECT)


@pytest.mark.parametrize("name", ["permuting items", "adding an item nobody attempted"])
def test_items_with_something_unseen(dispositions, name, rng):
    hold_unchanged(dispositions, name, rng)


def test_a_mean_over_items_would_not(rng):
    """Twin that must fail: items repeated for their attempts weigh more in it."""
    problem = random_problem(aaio.published_layout(), rng)
    repeated = UNCHANGED["repeated items against counts"](problem, rng)
    means = [
        float(np.nanmean(table["successes"] / table["trials"].where(table["trials"] > 0)))
        for table in (problem.items, repeated.items)
    ]
    assert abs(means[0] - means[1]) > 0.005
