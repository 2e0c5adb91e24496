"""R-hat and effective sample sizes are ArviZ's, whatever the draws look like.

Chains that stay in different modes are told from chains that mix badly.

One subject's convergence is what its row of diagnostics says, and its faults are named.
"""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from measurement_layouts.inference.sampling.convergence import (
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


@pytest.mark.parametrize(("strays", "groups"), [(1, [0, 0, 1, 1]), (60, [0] * 4)])
def test_a_stray_draw_is_no_bridge_but_many_are(rng, strays, groups):
    draws = chains(rng, -1, -1, 1, 1)
    draws[0, :strays] = 1
    assert separate(draws).tolist() == groups


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


def drawn(fit, subject):
    """One subject's draws, as the sampler gave them."""
    groups = (fit.posterior, fit.data["sample_stats"].to_dataset())
    return Draws(
        *(
            {name: group[name].sel(subject=subject).to_numpy() for name in group.data_vars}
            for group in groups
        )
    )


def test_one_subject_is_as_its_row(fitted):
    table = fitted.diagnostics()
    for subject in fitted.subjects:
        found = convergence(drawn(fitted, subject))
        row = table.loc[subject]
        assert found.divergences == row["divergences"]
        assert found.rhat == pytest.approx(row["rhat"], rel=1e-12)
        assert found.ess == pytest.approx(row["ess"], rel=1e-12)
        assert "; ".join(faults(found, chains=2)) == row["reason"].split("; all ")[0]


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
