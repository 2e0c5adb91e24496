"""Profiles are what the draws say, and every fault of sampling or data is named."""

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.posterior import diagnostics
from measurement_layouts.linking import logistic

CHAINS, DRAWS = 4, 200


@pytest.fixture
def skill():
    demand = ml.MetaFeature("demand", low=0, high=1)
    skill = ml.Capability("skill", low=0, high=1)
    return ml.Layout("one", ml.Success("ok", logistic(skill - demand, slope=9)))


def evaluation(*outcomes):
    """One subject per list of outcomes."""
    names = [f"s{place}" for place in range(len(outcomes))]
    items = pd.DataFrame({"demand": np.linspace(0, 1, len(outcomes[0]))}, index=list("abcd"))
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, names, items.index), items)


def verdict(layout, draws, outcomes=(1, 0, 1, 0), **how):
    """Diagnose one subject with given draws (chain, draw)."""
    fit = small_layouts.crafted(layout, evaluation(outcomes), {"skill": draws[None]}, **how)
    return fit.diagnostics().loc["s0"]


@pytest.fixture
def mixed(rng):
    """Independent draws from an eighth of the prior's range."""
    return rng.uniform(0.5, 0.625, (CHAINS, DRAWS))


# --- profiles ------------------------------------------------------------------------------------


def test_profiles_summarise_the_draws(fitted):
    table = fitted.profiles(prob=0.8).set_index(["subject", "node"])
    assert len(table) == 6 * 4
    prior = {"navigationAbility": 5.3**2 / 12, "rightLeftBias": 1.0, "noiseLevel": 1 / 12}
    for subject in fitted.subjects:
        for node in ("navigationAbility", "rightLeftBias", "noiseLevel"):
            draws = fitted.posterior[node].sel(subject=subject).to_numpy()
            row = table.loc[(subject, node)]
            assert row["mean"] == pytest.approx(draws.mean(), rel=1e-12)
            assert row["sd"] == pytest.approx(draws.std(ddof=1), rel=1e-12)
            assert [row["low"], row["high"]] == pytest.approx(np.quantile(draws, [0.1, 0.9]))
            assert row["ess_bulk"] == pytest.approx(array_stats.ess(draws[None], method="bulk")[0])
            assert row["rhat"] == pytest.approx(array_stats.rhat(draws[None])[0])
            # the prior's variance is estimated from 4000 draws: standard error up to 2.3 %
            exact = 1 - draws.var(ddof=1) / prior[node]
            assert row["shrinkage"] == pytest.approx(exact, abs=5 * 0.023 * (1 - exact))


def test_plausible_values_are_draws_of_all_elements_together(fitted):
    """The n-th value is of one draw, of all subjects and elements; without them nothing changes."""
    table = fitted.profiles(draws=3).set_index(["subject", "node"])
    pd.testing.assert_frame_equal(
        table.drop(columns=["draw_1", "draw_2", "draw_3"]).reset_index(), fitted.profiles()
    )
    flat = fitted.posterior.stack(every=("chain", "draw")).isel(every=[0, -1])
    for (subject, node), row in table.iterrows():
        ends = flat[node].sel(subject=subject).to_numpy()
        assert [row["draw_1"], row["draw_3"]] == ends.tolist()
    with pytest.raises(FitError, match="draws=0; give a whole number of at least 1"):
        fitted.profiles(draws=0)


def test_profiles_of_labelled_nodes(rng):
    layout = small_layouts.labelled()
    items = pd.DataFrame(rng.uniform(0, 5, (4, 2)), columns=["demand[AS]", "demand[CEc]"])
    outcomes = pd.DataFrame([[1, 0, 1, 0], [0, 1, 1, 0]], index=["Ann", "Bob"])
    draws = rng.uniform(0, 5, (2, 3, 50, 2))
    evaluated = ml.Evaluation.from_wide(outcomes, items)
    fit = small_layouts.crafted(layout, evaluated, {"ability": draws})
    table = fit.profiles()
    assert table["subject"].tolist() == ["Ann", "Ann", "Bob", "Bob"]
    assert table["label"].tolist() == ["AS", "CEc", "AS", "CEc"]
    assert table["mean"].to_numpy() == pytest.approx(draws.mean(axis=(1, 2)).ravel())
    assert fit.diagnostics()["prior_dominated"].tolist() == ["ability[AS], ability[CEc]"] * 2


@pytest.mark.parametrize("prob", [0, 1, 90, "most", None])
def test_mass_of_the_interval(fitted, prob):
    with pytest.raises(FitError, match=r"prob=.*; give a number between 0 and 1, such as 0.9"):
        fitted.profiles(prob=prob)


# --- verdicts ------------------------------------------------------------------------------------


def test_a_good_fit_is_ok(skill, mixed):
    row = verdict(skill, mixed)
    assert row["status"] == "ok"
    assert row["reason"] == row["prior_dominated"] == ""
    assert row["success"] == 0.5
    assert row["divergences"] == 0


def test_divergences(skill, mixed):
    row = verdict(skill, mixed, diverging=5)
    assert (row["status"], row["divergences"]) == ("not converged", 5)
    assert row["reason"].startswith("5 divergences in 800 draws: raise target_accept")
    row = verdict(skill, mixed, diverging=4)  # one in 200
    assert (row["status"], row["divergences"]) == ("few divergences", 4)
    assert row["reason"].startswith("few divergences: 4 in 800 draws, fit(..., target_accept=0.95)")


def test_few_draws(skill, rng):
    """Of an autoregression that is worth a third of its draws: 150 in 600 would be."""
    walk = rng.normal(size=(2, 300))
    for draw in range(1, 300):
        walk[:, draw] = 0.5 * walk[:, draw - 1] + 0.75**0.5 * walk[:, draw]
    row = verdict(skill, 0.5 + 0.02 * walk)
    assert 100 < row["ess"] < 200
    assert row["status"] == "few draws"
    asked = int(row["reason"].rpartition("draws=")[2].rstrip(")"))
    assert asked >= 300 * 200 / row["ess"] * 1.2
    assert asked < 300 * 200 / row["ess"] * 1.2 * 1.2 or row["rhat"] > 1.01
    # with so many, of the same chain, there are enough
    longer = rng.normal(size=(2, asked))
    for draw in range(1, asked):
        longer[:, draw] = 0.5 * longer[:, draw - 1] + 0.75**0.5 * longer[:, draw]
    assert verdict(skill, 0.5 + 0.02 * longer)["status"] == "ok"


def test_chains_that_disagree(skill, mixed):
    row = verdict(skill, mixed + np.array([[0], [0], [0], [0.02]]))
    assert row["status"] == "not converged"
    assert row["rhat"] > 1.01
    assert f"R-hat {row['rhat']:.4f} above 1.01: the chains do not agree" in row["reason"]


def test_draws_that_depend_on_each_other(skill, rng):
    walk = 0.5 + 0.001 * np.cumsum(rng.normal(size=(CHAINS, DRAWS)), axis=1)
    row = verdict(skill, walk)
    assert row["status"] == "not converged"
    assert row["ess"] < 100 * CHAINS
    assert "effective sample size " in row["reason"]
    assert row["reason"].endswith("below 400")
    assert "fit(..., tune=800, draws=800)" in row["reason"]


def test_a_single_chain_has_no_rhat(skill, mixed):
    row = verdict(skill, mixed[:1])
    assert row["status"] == "not converged"
    assert np.isnan(row["rhat"])
    assert row["reason"] == "R-hat unknown: it needs at least 2 chains that move"


@pytest.mark.parametrize(
    ("luck", "words"),
    [
        (lambda draws: np.full_like(draws, 0.4), "R-hat unknown: it needs"),
        (lambda draws: draws + np.array([[0], [0], [0], [0.2]]), "in separate modes of luck"),
        (lambda draws: np.sort(draws, axis=1), "effective sample size"),
    ],
)
def test_a_latent_with_a_fault_is_not_hidden_by_one_without(mixed, luck, words):
    """A subject's R-hat is its largest, its sample size the smallest, and unknown if one is."""
    demand = ml.MetaFeature("demand", low=0, high=1)
    success = logistic(ml.Capability("skill", low=0, high=1) - demand) * ml.Capability(
        "luck", low=0, high=1
    )
    layout = ml.Layout("two", ml.Success("ok", success))
    posterior = {"skill": mixed[None], "luck": luck(mixed)[None]}
    fit = small_layouts.crafted(layout, evaluation((1, 0, 1, 0)), posterior)
    row = fit.diagnostics().loc["s0"]
    assert row["status"] == "not converged"
    assert words in row["reason"]


def test_a_posterior_as_wide_as_the_prior_is_prior_dominated(skill, rng):
    row = verdict(skill, rng.uniform(0, 1, (CHAINS, DRAWS)))
    assert row["status"] == "ok"  # nothing is wrong with the sampling
    assert row["prior_dominated"] == "skill"


@pytest.mark.parametrize(("outcome", "words"), [(1, "successes"), (0, "failures")])
def test_outcomes_all_alike(skill, mixed, outcome, words):
    row = verdict(skill, mixed, outcomes=(outcome, outcome, outcome, None))
    assert row["status"] == "ok"
    assert row["success"] == outcome
    assert row["prior_dominated"] == "skill"
    assert row["reason"].startswith(
        f"all 3 outcomes are {words}: the data bound the profile on one"
    )


def test_real_subjects_with_outcomes_all_alike_are_fitted_and_flagged(fitted):
    table = fitted.diagnostics()
    everything = ", ".join(fitted.posterior.data_vars)
    for subject, rate in (("ace", 1), ("nil", 0)):
        assert table.loc[subject, "success"] == rate
        assert table.loc[subject, "prior_dominated"] == everything
        assert (
            f"all 24 outcomes are {'successes' if rate else 'failures'}"
            in (table.loc[subject, "reason"])
        )
    dominated = fitted.profiles().groupby("subject")["prior_dominated"].all()
    assert dominated[dominated].index.tolist() == ["ace", "nil"]


def test_failed_subjects_come_last(skill, mixed):
    outcomes = evaluation((1, 0, 1, 0), (1, 1, 0, 0), (1, 1, 0, 1))
    posterior = {"skill": np.stack([mixed] * 3)}
    failures = {"s0": "ValueError: no start", "s2": "RuntimeError: stuck"}
    fit = small_layouts.crafted(skill, outcomes, posterior, failures=failures)
    table = fit.diagnostics()
    assert table["status"].to_dict() == {"s1": "ok", "s0": "failed", "s2": "failed"}
    assert table["reason"].tolist() == ["", "ValueError: no start", "RuntimeError: stuck"]
    assert repr(fit).endswith("1 subject, 4 chains of 200 draws, 2 failed>")


def test_subjects_that_were_sampled_again(skill, mixed):
    outcomes = evaluation((1, 0, 1, 0), (1, 1, 0, 0), (1, 1, 0, 1), (1, 1, 1, 1), (0, 1, 0, 1))
    posterior = {"skill": np.stack([mixed] * 5)}
    posterior["skill"][1, 0] += 0.1
    fit = small_layouts.crafted(
        skill,
        outcomes,
        posterior,
        failures={"s2": "ValueError: no start"},
        attempts={"s0": 2, "s1": 3, "s2": 2, "s3": 2},
    )
    table = fit.diagnostics()
    assert table.index.tolist() == ["s0", "s1", "s3", "s4", "s2"]
    assert table["status"].tolist() == ["ok", "not converged", "ok", "ok", "failed"]
    assert table["attempts"].tolist() == [2, 3, 2, 1, 2]
    reasons = table["reason"]
    assert reasons["s0"] == "after 2 attempts"
    assert reasons["s1"].endswith("; after 3 attempts")
    assert reasons["s2"] == "ValueError: no start; after 2 attempts"
    assert reasons["s3"].endswith("prior decides the rest; after 2 attempts")
    assert reasons["s4"] == ""


# --- some subjects at a time ---------------------------------------------------------------------


def test_some_subjects_only(fitted):
    everybody = fitted.profiles(), fitted.diagnostics()
    who = ["nil", "Bob"]
    some = diagnostics.profiles(fitted, subjects=who)
    expected = everybody[0].set_index("subject").loc[who].reset_index()
    pd.testing.assert_frame_equal(some, expected[some.columns])
    pd.testing.assert_frame_equal(diagnostics.diagnose(fitted, subjects=who), everybody[1].loc[who])
    assert len(diagnostics.profiles(fitted, subjects=[])) == 0
    with pytest.raises(FitError, match="not in this fit: Eve"):
        diagnostics.profiles(fitted, subjects=["Eve"])
