"""Coins with known chances: subjects whose posteriors are Beta distributions."""

import pandas as pd
import pytest
from helpers.coins import PASSED

import measurement_layouts as ml


@pytest.fixture(scope="session")
def coins():
    """Fit one chance of each subject, uniform before the data: Beta(1 + passed, 1 + failed)."""
    layout = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    names = [f"i{number}" for number in range(41)]
    rows = [[1] * won + [0] * lost + [None] * (41 - won - lost) for won, lost in PASSED.values()]
    outcomes = pd.DataFrame(rows, list(PASSED), names, dtype=float)
    known = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=names))
    return ml.fit(layout, known, method="grid", draws=2000, chains=4, seed=1, progressbar=False)
