"""R-hat and effective sample sizes are ArviZ's, whatever the draws look like."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from measurement_layouts.inference.sampling.convergence import mixing


def arviz(draws):
    """The same three numbers, one element after the other."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            array_stats.rhat(draws),
            array_stats.ess(draws, method="bulk"),
            array_stats.ess(draws, method="tail", prob=(0.05, 0.95)),
        )


def walks(rng, shape):
    return np.cumsum(rng.normal(size=shape), axis=-1)


def lazy(rng, shape):
    """Chains that often stay where they are: many draws are equal."""
    return np.repeat(walks(rng, (*shape[:-1], -(-shape[-1] // 3))), 3, axis=-1)[..., : shape[-1]]


def one_chain_stuck(rng, shape):
    draws = rng.normal(size=shape)
    draws[:, 0] = 0.3
    return draws


KINDS = {
    "independent": lambda rng, shape: rng.normal(size=shape),
    "walks": walks,
    "lazy": lazy,
    "rounded": lambda rng, shape: rng.normal(size=shape).round(1),
    "two values": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "alternating": lambda rng, shape: rng.normal(size=shape) * 0.01 + np.arange(shape[-1]) % 2,
    "apart": lambda rng, shape: rng.normal(size=shape) + np.arange(shape[1])[:, None],
    "heavy tails": lambda rng, shape: rng.standard_cauchy(shape),
    "one chain stuck": one_chain_stuck,
    "each chain stuck": lambda rng, shape: np.repeat(
        rng.normal(size=(*shape[:-1], 1)), shape[-1], axis=-1
    ),
    "all alike": lambda rng, shape: np.full(shape, 0.4),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("chains", "length"), [(4, 250), (2, 251), (1, 100), (3, 4), (2, 7)])
def test_the_numbers_are_arviz(kind, chains, length, rng):
    draws = KINDS[kind](rng, (3, chains, length))
    for name, ours, theirs in zip(mixing(draws)._fields, mixing(draws), arviz(draws), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=0, err_msg=name)


def test_another_order_of_draws_is_seen(rng):
    """Twin that must fail: the comparison above would notice numbers of other draws."""
    draws = walks(rng, (1, 4, 250))
    for ours, theirs in zip(mixing(rng.permuted(draws, axis=-1)), arviz(draws), strict=True):
        assert not np.allclose(ours, theirs, rtol=1e-3)


def test_elements_do_not_touch_each_other(rng):
    draws = np.concatenate([kind(rng, (2, 3, 60)) for kind in KINDS.values()])
    together = mixing(draws)
    for place in range(len(draws)):
        alone = mixing(draws[place])
        for one, other in zip(alone, together, strict=True):
            assert one.shape == ()
            np.testing.assert_array_equal(one, other[place])


def test_axes_before_chain_and_draw_are_kept(rng):
    draws = rng.normal(size=(2, 3, 4, 50))
    for one, other in zip(mixing(draws), mixing(draws.reshape(6, 4, 50)), strict=True):
        assert one.shape == (2, 3)
        np.testing.assert_array_equal(one.ravel(), other)
    assert mixing(draws[:0]).rhat.shape == (0, 3)


def test_draws_that_are_no_numbers(rng):
    draws = rng.normal(size=(3, 4, 50))
    draws[1, 2, 3] = np.nan
    for values in mixing(draws):
        assert np.isnan(values).tolist() == [False, True, False]


def test_draws_stay_as_they_are(rng):
    draws = rng.normal(size=(2, 4, 51))
    before = draws.copy()
    mixing(draws)
    np.testing.assert_array_equal(draws, before)
