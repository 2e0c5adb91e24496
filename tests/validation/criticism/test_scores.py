"""Score tests agree with exact results, and say when they cannot tell."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from measurement_layouts.validation.criticism.cells import Cells
from measurement_layouts.validation.criticism.scores import (
    UNDISTINGUISHED,
    Change,
    false_discovery,
    holm,
    predictive_p,
    score,
)


def certain(successes, trials, chance):
    """Cells whose probabilities are known, with 200 equal draws."""
    chances = np.tile(np.broadcast_to(chance, len(successes))[:, None], (1, 200))
    counts = np.asarray(successes, float), np.asarray(trials, float)
    return Cells(np.arange(len(successes)), *counts, chances.astype(float))


def scored(cells, columns, beside=None, least=0.001):
    """Test one change."""
    (result,) = score(
        cells, [({}, Change(columns, beside))], np.random.default_rng(1), least=least, prob=0.9
    )
    return result


def test_one_effect_is_the_exact_binomial_test():
    cells = certain([8, 7, 7], [10, 10, 10], 0.5)
    found = scored(cells, np.ones((3, 1)))
    exact = stats.binomtest(22, 30, 0.5).pvalue
    assert found["p"] == pytest.approx(exact, rel=0.25)
    assert found["statistic"] == pytest.approx(49 / 7.5)
    assert expit(found["effect"]) == pytest.approx(22 / 30, abs=0.01)


def test_several_effects_are_the_exact_likelihoods_scores():
    rng = np.random.default_rng(2)
    chance, columns = rng.uniform(0.2, 0.8, 200), rng.normal(size=(200, 3))
    passed = rng.random(200) < chance
    cells = certain(passed, np.ones(200), chance)
    found = scored(cells, columns)
    slope = columns.T @ (passed - chance)
    information = columns.T @ (columns * (chance * (1 - chance))[:, None])
    expected = slope @ np.linalg.solve(information, slope)
    assert found["statistic"] == pytest.approx(expected)
    assert found["p"] == pytest.approx(stats.chi2.sf(expected, 3), rel=0.2)


def test_what_the_fit_absorbs_has_no_test():
    """The level of all cells varies in the posterior as its likelihood says."""
    chances = stats.beta(51, 51).ppf((np.arange(500) + 0.5) / 500)
    cells = Cells(np.arange(100), np.repeat([1.0, 0], 50), np.ones(100), np.tile(chances, (100, 1)))
    found = scored(cells, np.ones((100, 1)))
    assert found["remark"] == UNDISTINGUISHED
    assert np.isnan(found["p"])
    halves = np.repeat([[1.0], [-1.0]], 50, axis=0)  # the twin: a contrast is not absorbed
    assert scored(cells, halves, least=1e-4)["p"] < 1e-4


def test_the_complement_of_a_column_beside_has_no_test():
    rng = np.random.default_rng(3)
    column = (np.arange(200) % 2)[:, None].astype(float)
    beside = np.concatenate([np.ones((200, 1)), 1 - column, rng.normal(size=(200, 2))], axis=1)
    cells = certain(rng.random(200) < 0.6, np.ones(200), 0.6)
    assert scored(cells, column, beside)["remark"] == UNDISTINGUISHED
    assert scored(cells, column, beside[:, [0, 2, 3]])["df"] == 1


def test_one_cell_is_named():
    cells = certain([8, 8, 8, 0, 8, 8], [8] * 6, 0.97)
    found = scored(cells, np.ones((6, 1)))
    assert found["p"] < 0.01
    assert found["cell"] == 3


def test_adjustments():
    chances = np.array([0.01, np.nan, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(holm(chances), [0.03, np.nan, 0.06, 0.06, 0.02])
    known = np.isfinite(chances)
    expected = stats.false_discovery_control(chances[known])
    np.testing.assert_allclose(false_discovery(chances)[known], expected)


def test_the_predictive_p_of_certain_chances_is_that_of_a_normal_score():
    cells = certain([30, 20, 10], [40, 40, 40], 0.6)
    column = np.array([1.0, 0.0, -1.0])
    size = (30 - 24 - (10 - 24)) / np.sqrt(2 * 40 * 0.6 * 0.4)
    found = predictive_p(cells, np.tile(column[:, None], (1, 200)))
    assert found == pytest.approx(2 * stats.norm.sf(size))
