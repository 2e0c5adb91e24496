"""R-hat and effective sample sizes are ArviZ's, whatever the draws look like.

Chains that stay in different modes are told from chains that mix badly.

One subject's convergence is what its row of diagnostics says, and its faults are named.
"""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from measurement_layouts.inference.sampling.convergence import (
    Convergence,
    convergence,
    faults,
    rhat_ess,
    separate,
    stay_apart,
)
from measurement_layouts.inference.sampling.draws import Draws


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
    for name, ours, theirs in zip(
        rhat_ess(draws)._fields, rhat_ess(draws), arviz(draws), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=0, err_msg=name)


def test_another_order_of_draws_is_seen(rng):
    """Twin that must fail: the comparison above would notice numbers of other draws."""
    draws = walks(rng, (1, 4, 250))
    for ours, theirs in zip(rhat_ess(rng.permuted(draws, axis=-1)), arviz(draws), strict=True):
        assert not np.allclose(ours, theirs, rtol=1e-3)


def test_draws_that_are_no_numbers(rng):
    draws = rng.normal(size=(3, 4, 50))
    draws[1, 2, 3] = np.nan
    for values in rhat_ess(draws):
        assert np.isnan(values).tolist() == [False, True, False]


def chains(rng, *middles, spread=0.1, draws=300):
    return np.array(middles)[:, None] + spread * rng.normal(size=(len(middles), draws))


def test_overlapping_chains_are_one_group(rng):
    assert separate(chains(rng, 0, 0.2, 0.4, 0.6)).tolist() == [0] * 4
    wide = np.concatenate([chains(rng, 0, 5), chains(rng, 2.5, spread=2)])
    assert separate(wide).tolist() == [0] * 3  # one chain has been in both modes


def test_elements_with_separate_modes_are_named(rng):
    left, mixed, right = chains(rng, 0, 0, 5, 5), chains(rng, 1, 1, 1, 1), chains(rng, 7, 2, 7, 2)
    draws, bad = np.stack([left, mixed, right]), np.array([1.7, 1.8, 1.6])
    found = stay_apart(draws, bad, 1.01, ["left", "mixed", "right"])
    assert found == "the chains stay in separate modes of left, right"


def test_separate_modes_are_no_matter_of_more_draws(rng):
    never = {"diverging": np.zeros((4, 300), dtype=bool)}
    apart = faults(convergence(Draws({"mood": chains(rng, -1, 2, -1, 2)}, never)), 4)
    assert "above 1.01: the chains stay in separate modes of mood" in apart[0]
    assert "fit(" not in "; ".join(apart)
    near = faults(convergence(Draws({"mood": chains(rng, 0, 0, 0, 0.2)}, never)), 4)
    assert "fit(..." in near[0]


def test_the_worst_element_counts(rng):
    good, labelled = rng.normal(size=(4, 200)), rng.normal(size=(4, 200, 3))
    flags = np.zeros((4, 200), dtype=bool)
    flags[1, :5] = True
    fine = convergence(Draws({"a": good, "b": labelled}, {"diverging": flags}))
    assert (fine.divergences, fine.rhat < 1.01, fine.ess > 400) == (5, True, True)
    labelled[3, :, 1] += 1
    worse = convergence(Draws({"a": good, "b": labelled}, {"diverging": flags}))
    assert worse.rhat > 1.1
    labelled[..., 2] = 0.5
    assert np.isnan(convergence(Draws({"a": good, "b": labelled}, {"diverging": flags})).rhat)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Convergence(0, 1.01, 400), []),
        (
            Convergence(21, 1.0, 900),
            [
                "21 divergences in 4000 draws: raise target_accept, as in fit(..., "
                "target_accept=0.95), or reparametrise"
            ],
        ),
        (
            Convergence(20, 1.0, 900),
            [
                "few divergences: 20 in 4000 draws, fit(..., target_accept=0.95) tells whether "
                "they matter"
            ],
        ),
        (
            Convergence(0, 1.0123, 900),
            [
                "few draws: R-hat 1.0123 above 1.01, ask for 1,500 a chain: fit(..., draws=1500)"
            ],  # 1,200 (1.0123^2 - 1) / (1.01^2 - 1) = 1,478
        ),
        (
            Convergence(0, 1.0, 399.4),
            ["few draws: ESS 399 below 400, ask for 1,300 a chain: fit(..., draws=1300)"],
        ),
        (
            Convergence(0, 1.05, 100.0, draws=300),
            [
                "few draws: ESS 100 below 400 and R-hat 1.0500 above 1.01, ask for 1,900 a chain: "
                "fit(..., draws=1900)"
            ],
        ),
        (
            Convergence(0, 1.0, 99.9),
            ["effective sample size 100 below 400: fit(..., tune=4000, draws=4000)"],
        ),
        (
            Convergence(1, 1.051, 900),
            [
                "1 divergence in 4000 draws: raise target_accept, as in fit(..., "
                "target_accept=0.95), or reparametrise",
                "R-hat 1.0510 above 1.01: the chains do not agree, try longer ones: "
                "fit(..., tune=4000, draws=4000)",
            ],
        ),
        (
            Convergence(1, np.nan, np.nan),
            [
                "1 divergence in 4000 draws: raise target_accept, as in fit(..., "
                "target_accept=0.95), or reparametrise",
                "R-hat unknown: it needs at least 2 chains that move",
                "effective sample size unknown: it needs chains that move",
            ],
        ),
    ],
)
def test_faults(found, words):
    assert faults(found, chains=4) == words


@pytest.mark.parametrize(
    ("used", "advised"),
    [(0.6, "0.95"), (0.8, "0.95"), (0.9, "0.95"), (0.91, "0.99"), (0.95, "0.99"), (0.98, "0.99")],
)
@pytest.mark.parametrize("count", [1, 100])
def test_a_higher_target_than_the_one_used_is_advised(used, advised, count):
    (told,) = faults(Convergence(count, 1.0, 900, target_accept=used), chains=4)
    assert f"fit(..., target_accept={advised})" in told


@pytest.mark.parametrize("used", [0.985, 0.9875, 0.99, 0.999])
@pytest.mark.parametrize(("count", "what"), [(1, "may have none"), (100, "reparametrise the")])
def test_no_target_is_advised_where_a_higher_one_was_used(used, count, what):
    (told,) = faults(Convergence(count, 1.0, 900, target_accept=used), chains=4)
    assert "fit(...," not in told
    assert f"at target_accept={used}" in told
    assert what in told


def test_longer_chains_than_those_used_are_advised():
    """In tuning, too; where there is none, as on a grid, none is advised."""
    stuck = {"divergences": 0, "rhat": 1.0, "ess": 20, "draws": 500}
    (told,) = faults(Convergence(**stuck, tune=6000), chains=4)
    assert told.endswith("fit(..., tune=24000, draws=2000)")
    (told,) = faults(Convergence(**stuck, tune=0), chains=4)
    assert told.endswith("fit(..., draws=2000)")
