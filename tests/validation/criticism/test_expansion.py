"""The expansion is a logistic regression with an offset; leaving out is nearly exact."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from measurement_layouts.validation.criticism.expansion import Columns, expand, information, tangent


@pytest.fixture
def regression(rng):
    values = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    offset = rng.normal(size=60)
    trials = rng.integers(1, 4, 60)
    successes = rng.binomial(trials, expit(offset + values @ [0.3, -0.8, 0.5]))
    return offset, successes, trials, Columns(values, np.array([10.0, 2.5, 1.0]))


def loss(beta, offset, successes, trials, columns):
    eta = offset + columns.values @ beta
    each = successes * log_expit(eta) + (trials - successes) * log_expit(-eta)
    return 0.5 * np.sum((beta / columns.sds) ** 2) - each.sum()


def test_coefficients_and_covariance_are_those_of_a_general_optimiser(regression):
    offset, _, trials, columns = regression
    found = expand(*regression)
    other = minimize(loss, np.zeros(3), args=regression, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found.coefficients, other.x, atol=1e-5)
    chances = expit(offset + columns.values @ other.x)
    hessian = information(columns.values, trials * chances * (1 - chances))
    inverse = np.linalg.inv(hessian + np.diag(1 / columns.sds**2))
    np.testing.assert_allclose(found.covariance, inverse, rtol=1e-3)


def test_leaving_out_an_item_agrees_with_fitting_again(regression):
    """To 0.01 nats, and 2% for outliers: there the weights of the other items change as well."""
    offset, successes, trials, columns = regression
    found = expand(*regression)
    exact = np.empty(60)
    for place in range(60):
        rest = np.arange(60) != place
        part = Columns(columns.values[rest], columns.sds)
        beta = expand(offset[rest], successes[rest], trials[rest], part).coefficients
        chance = expit(offset[place] + columns.values[place] @ beta)
        only = Columns(columns.values[[place]] * 0, columns.sds)
        logit = np.log(chance / (1 - chance))
        one = expand(np.array([logit]), successes[[place]], trials[[place]], only)
        exact[place] = one.elpd[0]
    close = {"atol": 1e-2, "rtol": 0.02}
    np.testing.assert_allclose(found.elpd, exact, **close)
    in_sample = expand(
        offset + columns.values @ found.coefficients,
        successes,
        trials,
        Columns(columns.values * 0, columns.sds),
    ).elpd
    assert not np.allclose(in_sample, exact, **close)  # twin: nothing left out


def test_where_it_begins_changes_nothing(regression):
    one, other = expand(*regression), expand(*regression, start=np.array([3.0, -2.0]))
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-5)
    np.testing.assert_allclose(one.elpd, other.elpd, atol=1e-5)


@pytest.mark.parametrize("offset", [0.0, -9.0, 9.0])
def test_separable_outcomes_stay_finite(offset):
    side = np.repeat([0.0, 1.0], 30)
    columns = Columns.of(side[:, None], 2.5)
    found = expand(np.full(60, offset), side.astype(int), np.ones(60, dtype=int), columns)
    assert np.isfinite(found.coefficients).all()
    assert np.isfinite(found.elpd).all()
    assert np.isfinite(found.covariance).all()


def test_directions_span_what_the_draws_can_do(rng):
    """Two elements move the log-odds along two columns; each direction has unit information."""
    columns = rng.normal(size=(50, 2))
    eta = 0.01 * columns @ rng.normal(size=(2, 200))
    trials = np.full(50, 3)
    found = tangent(expit(eta), trials, most=2)
    assert found.values.shape == (50, 2)
    unit = information(found.values, np.full(50, 3 * 0.25))
    np.testing.assert_allclose(unit, np.eye(2), atol=1e-3)
    rest = columns - found.values @ np.linalg.lstsq(found.values, columns, rcond=None)[0]
    assert np.abs(rest).max() < 0.02 * np.abs(columns).max()


def test_draws_that_never_change_have_no_direction():
    assert tangent(np.full((5, 10), 0.3), np.ones(5, dtype=int), most=3).values.shape == (5, 0)
