"""Something unseen of the items, from simulated outcomes to forecasts, loo and refusals."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from scipy.integrate import quad
from scipy.special import expit, logsumexp
from scipy.stats import binom, norm

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.forecasts import likelihood
from measurement_layouts.inference.forecasts.likelihood import Attempted, log_likelihood
from measurement_layouts.inference.model.bands import find_bands
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.simulate import expected_success, simulate
from measurement_layouts.layouts.outcomes.unseen import SCORES
from measurement_layouts.linking import band, logistic, mean_failure, mixture

NOISE, TRIALS = ml.Noise("noise"), 10
SHORT = {"draws": 100, "tune": 150, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}


def layout(**changes):
    measured = ml.MetaFeature("measured", low=-4, high=4)
    yes, no = (ml.MetaFeature(name, low=0, high=20) for name in ("for", "against"))
    parts = {"positive": yes, "negative": no, "noise": NOISE} | changes
    hard = ml.Unseen("hard", measured, 1.5, **parts)
    margin = ml.Derived("margin", ml.Slope("slope") * hard + ml.Bias("tilt"))
    return ml.Layout("votes", ml.Success("ok", logistic(margin)))


def battery(count, seed=3):
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, 7, count)
    columns = {"measured": rng.normal(0, 1, count), "for": votes, "against": 6 - votes}
    return pd.DataFrame(columns).rename("item-{}".format)


PROFILES = pd.DataFrame(
    {"slope": [2.0, 0.5], "noise": [0.3, 0.1], "tilt": [0.2, -0.4]}, index=["Ann", "Bob"]
)


def place(items, row, noise):
    """Density of an item's unseen property, and its ends."""
    mean, yes, no = items.iloc[row]

    def told(u):
        return norm.pdf(u, mean, 1.5) * expit(u) ** yes * expit(-u) ** no

    ends = mean - 12, mean + 12
    scale = quad(told, *ends, epsabs=0, epsrel=1e-10, limit=200)[0]
    return ends, lambda u: (1 - noise) * told(u) / scale + noise * norm.pdf(u, mean, 1.5)


def test_expected_success_is_the_integral():
    """Tolerance: 1.6e-6 of the weight lies beyond 4.8 standard deviations."""
    items = battery(6)
    found = expected_success(layout(), read_features(layout(), items), PROFILES, 6)
    for who, (_, (slope, noise, tilt)) in enumerate(PROFILES.iterrows()):
        for row in range(6):
            ends, density = place(items, row, noise)
            exact = quad(lambda u: density(u) * expit(slope * u + tilt), *ends, limit=200)[0]  # noqa: B023
            assert abs(found[who, row] - exact) < 2e-6


# --- simulated outcomes --------------------------------------------------------------------------


def variances(counts, p, trials):
    """Sum over cells of the squared error over a binomial's variance; mean 1 each for those."""
    return ((counts - trials * p) ** 2 / (trials * p * (1 - p))).mean()


def test_trials_of_an_item_share_its_place():
    """Binomials about a mean that varies: the variance is n m (1 - m) + n (n - 1) var(p).

    4000 items alike: the ratio of variances has a standard error of about sqrt(2 / 4000) times
    itself, and a half more for the tails; 5 of them.
    """
    items = pd.DataFrame({"measured": 0.5, "for": 4, "against": 2}, index=range(4000))
    features = read_features(layout(), items)
    p = expected_success(layout(), features, PROFILES, len(items))[0, 0]
    ends, density = place(items, 0, 0.3)
    square = quad(lambda u: density(u) * expit(2 * u + 0.2) ** 2, *ends, limit=200)[0]
    wanted = 1 + (TRIALS - 1) * (square - p**2) / (p * (1 - p))
    who = PROFILES.iloc[:1]
    several = simulate(layout(), items, who, seed=1, trials=TRIALS).successes.to_numpy()
    error = 5 * 1.5 * np.sqrt(2 / 4000) * wanted
    assert abs(variances(several, p, TRIALS) - wanted) < error
    assert abs(several.mean() / TRIALS - p) < 5 * np.sqrt(wanted * p * (1 - p) / TRIALS / 4000)
    independent = np.random.default_rng(1).binomial(TRIALS, p, several.shape)
    assert abs(variances(independent, p, TRIALS) - wanted) > error  # twin: one average for all
    once = simulate(layout(), items, who, seed=1).successes.to_numpy()
    assert abs(once.mean() - p) < 5 * np.sqrt(p * (1 - p) / 4000)


def test_simulated_outcomes_depend_on_the_seed_alone(monkeypatch):
    items = battery(8)
    first = simulate(layout(), items, PROFILES, seed=4, trials=TRIALS)
    monkeypatch.setattr(ml.inference.simulate, "_TOGETHER", 1)  # one subject at a time
    again = simulate(layout(), items, PROFILES, seed=4, trials=TRIALS)
    pd.testing.assert_frame_equal(first.successes, again.successes)
    other = simulate(layout(), items, PROFILES, seed=5, trials=TRIALS)
    assert not first.successes.equals(other.successes)


def test_noise_of_its_own_pulls_towards_the_mean_failure():
    """The constant solves its own equation with the averaged probabilities."""
    hard = ml.Unseen("hard", ml.MetaFeature("measured", low=-4, high=4), 1.0)
    chance = mixture(logistic(ml.Bias("tilt") - hard), by=NOISE, toward=mean_failure)
    one = ml.Layout("lapses", ml.Success("ok", chance))
    items = battery(5)[["measured"]]
    found = expected_success(one, read_features(one, items), PROFILES, 5)
    bare = ml.Layout("bare", ml.Success("ok", logistic(ml.Bias("tilt") - hard)))
    plain = expected_success(bare, read_features(bare, items), PROFILES, 5)
    noise = PROFILES["noise"].to_numpy()[:, None]
    failure = 1 - found.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found, (1 - noise) * plain + noise * failure, atol=1e-11)
    items = battery(300)[["measured"]]
    found = expected_success(one, read_features(one, items), PROFILES, 300).mean(axis=1)
    counts = simulate(one, items, PROFILES, seed=1).successes.to_numpy().mean(axis=1)
    assert np.abs(counts - found).max() < 5 * np.sqrt(0.25 / 300)


# --- fits ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    outcomes = simulate(layout(), battery(40), PROFILES.iloc[:1], seed=2, trials=TRIALS)
    return outcomes, ml.fit(layout(), outcomes, **SHORT)


def crafted(draws=40):
    """Given draws, so that everything is known by hand."""
    rng = np.random.default_rng(5)
    outcomes = simulate(layout(), battery(12), PROFILES, seed=2, trials=TRIALS)
    tables = {
        "slope": rng.uniform(0.5, 3, (2, 2, draws)),
        "noise": rng.uniform(0, 0.5, (2, 2, draws)),
        "tilt": rng.normal(0, 1, (2, 2, draws)),
    }
    return outcomes, small_layouts.crafted(layout(), outcomes, tables), tables


def test_profiles_are_found_again(study):
    """Three elements within 4 posterior standard deviations: p = 2e-4 for a normal posterior."""
    table = study[1].profiles().set_index("node")
    off = (PROFILES.loc["Ann"] - table["mean"]) / table["sd"]
    assert off.abs().max() < 4
    twice = (2 * PROFILES.loc["Ann"] - table["mean"]) / table["sd"]
    assert twice.abs().max() > 4  # twin


def test_forecasts_are_averages_over_draws_and_places():
    outcomes, fit, tables = crafted(draws=4)
    items = outcomes.items
    found = fit.forecast(items).data["mean"].to_numpy()
    for who in range(2):
        own = pd.DataFrame({name: values[who].ravel() for name, values in tables.items()})
        each = expected_success(layout(), read_features(layout(), items), own, len(items))
        np.testing.assert_allclose(found[who], each.mean(axis=0), rtol=1e-12)


def test_derived_nodes_are_given_for_each_place():
    outcomes, fit, tables = crafted()
    found = fit.derive("margin", outcomes.items.iloc[:2])
    assert found.dims == ("chain", "draw", "subject", "item", "hard score")
    assert fit.derive("ok", outcomes.items.iloc[:2]).dims == found.dims[:4]
    at = outcomes.items["measured"].iloc[0] + 1.5 * SCORES
    by_hand = (tables["slope"][0].mean() * at) + tables["tilt"][0].mean()
    np.testing.assert_allclose(found.mean(("chain", "draw"))[0, 0], by_hand)


def test_no_file_holds_places(study, tmp_path):
    outcomes, fit = study
    path = fit.save(tmp_path / "fit.nc") or tmp_path / "fit.nc"
    loaded = ml.load(path)
    assert loaded.layout == layout()
    stored = ml.fit(layout(), outcomes, store=tmp_path / "store", **SHORT)
    resumed = ml.fit(layout(), outcomes, store=tmp_path / "store", **SHORT)
    for other in (fit, loaded, stored, resumed):
        groups = [group.to_dataset() for group in other.data.subtree]
        assert not any("score" in str(name) for group in groups for name in group.variables)
        np.testing.assert_array_equal(other.posterior["slope"], fit.posterior["slope"])
    assert not any("score" in file.name for file in (tmp_path / "store").rglob("*"))


def test_leave_one_out_by_hand():
    """Log-likelihoods of one draw, counts and all; then elpd as the harmonic mean it is.

    Without the average over places, at the average probability, they are others: the twin.
    """
    outcomes, fit, tables = crafted()
    items = outcomes.items
    attempted = Attempted.of(fit, 1)
    found = np.concatenate([values for _, values in log_likelihood(fit, 1, attempted)])
    order = np.concatenate([places for places, _ in log_likelihood(fit, 1, attempted)])
    found = found[np.argsort(order)]
    slope, noise, tilt = (tables[name][1, 0, 7] for name in ("slope", "noise", "tilt"))
    for row in range(len(items)):
        mean, yes, no = items.iloc[row]
        at, prior = mean + 1.5 * SCORES, norm.pdf(SCORES)
        told = prior * expit(at) ** yes * expit(-at) ** no
        weights = (1 - noise) * told / told.sum() + noise * prior / prior.sum()
        count, chance = outcomes.successes.loc["Bob"].iloc[row], expit(slope * at + tilt)
        wanted = np.log((weights * binom.pmf(count, TRIALS, chance)).sum())
        np.testing.assert_allclose(found[row, 0, 7], wanted, rtol=1e-10)
        average = binom.logpmf(count, TRIALS, (weights * chance).sum())
        assert abs(average - wanted) > 1e-3
    elpd = ml.validation.loo(fit, subjects=["Bob"])
    in_sample = (logsumexp(found, axis=(1, 2)) - np.log(found[0].size)).sum()
    np.testing.assert_allclose(in_sample - elpd.elpd, elpd.p)


def test_likelihoods_do_not_depend_on_how_memory_cuts_them(monkeypatch):
    _, fit, _ = crafted()
    attempted = Attempted.of(fit, 0)

    def whole():
        found = np.empty((12, 2, 40))
        for places, values in log_likelihood(fit, 0, attempted):
            found[places] = values
        return found

    before = whole()
    monkeypatch.setattr(likelihood, "_NUMBERS", 121 * 80 * 5)
    np.testing.assert_array_equal(before, whole())


# --- refusals ------------------------------------------------------------------------------------


def test_criticism_cannot_average_and_refuses(study):
    outcomes, fit = study
    with pytest.raises(
        FitError, match=r"^hard is unseen in layout '.*: all trials .*fit items of one"
    ):
        ml.validation.criticise(fit, outcomes)


def test_a_grid_averages_over_what_is_unseen():
    """Two items of ten trials, against quadrature over the tilt and over each item."""
    items = pd.DataFrame({"measured": [-1.0, 1.0]}, ["a", "b"])
    right = pd.DataFrame([[7, 2]], ["Ann"], items.index)
    evaluation = ml.Evaluation(items, right, right * 0 + 10)
    draws = ml.fit(_of_one(), evaluation, method="grid", seed=1, progressbar=False)
    draws = draws.posterior["tilt"].to_numpy()
    tilt, hard = np.linspace(-8, 8, 801), np.linspace(-9, 9, 1801)
    density = norm.pdf(tilt)
    for at, count in ((-1.0, 7), (1.0, 2)):
        chance = expit(tilt[:, None] - hard)
        density = density * (binom.pmf(count, 10, chance) @ norm.pdf(hard, at, 1.0))
    density /= density.sum()
    mean = density @ tilt
    sd = np.sqrt(density @ (tilt - mean) ** 2)
    assert abs(draws.mean() - mean) < 0.01 * sd
    assert abs(draws.std() / sd - 1) < 0.02


def _of_one():
    hard = ml.Unseen("hard", ml.MetaFeature("measured", low=-4, high=4), 1.0)
    return ml.Layout("one", ml.Success("ok", logistic(ml.Bias("tilt") - hard)))


def test_one_trial_each_is_criticised():
    """Then the outcomes are independent given the average, and only that counts."""
    outcomes = simulate(_of_one(), battery(60)[["measured"]], PROFILES.iloc[:1], seed=2)
    columns = outcomes.items.assign(day=np.arange(60) % 5)
    known = ml.Evaluation(columns, outcomes.successes, outcomes.trials)
    tilt = np.random.default_rng(1).normal(0.2, 0.2, (1, 2, 60))
    fit = small_layouts.crafted(_of_one(), known, {"tilt": tilt})
    assert not ml.validation.criticise(fit, known, candidates=["day"]).table["flagged"].any()


def test_chains_start_beside_the_mode_of_a_small_layout():
    """Without the lattice, which takes trials as independent."""
    outcomes = simulate(_of_one(), battery(20)[["measured"]], PROFILES.iloc[:1], seed=2, trials=4)
    fit = ml.fit(_of_one(), outcomes, **SHORT)
    posterior = fit.profiles().iloc[0]
    assert abs(posterior["mean"] - 0.2) < 4 * posterior["sd"]


def test_ends_of_a_band_may_be_unseen():
    """Whether they are reversed is then as unseen as they are."""
    risk, wide = ml.Propensity("risk", low=-4, high=4), ml.MetaFeature("wide", low=0, high=2)
    low = ml.Unseen("low", ml.MetaFeature("measured", low=-4, high=4), 1.0)
    one = ml.Layout("band", ml.Success("ok", band(risk, low, wide)))
    assert len(find_bands(one)) == 1
    assert set(read_features(one, battery(4).assign(wide=1.0))) == {"measured", "wide"}


@pytest.mark.slow
def test_the_plain_model_draws_the_same_outcomes():
    """Prior predictive counts of PyMC's mixture beside ours: means and variances of 12 items.

    2000 draws of each; the largest of 12 differences of means, in standard errors: 4.
    """
    import pymc as pm

    items = battery(12)
    outcomes = simulate(layout(), items, PROFILES, seed=2, trials=TRIALS)
    model = ml.to_pymc(layout(), outcomes, "Ann")
    drawn = pm.sample_prior_predictive(2000, model=model, random_seed=1)
    theirs = drawn["prior_predictive"]["ok"].to_numpy()[0]
    prior = drawn["prior"].to_dataset()
    people = pd.DataFrame({name: prior[name].to_numpy()[0] for name in PROFILES.columns})
    ours = simulate(layout(), items, people, seed=3, trials=TRIALS).successes.to_numpy()
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / 2000)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 4 * error).all()
    assert np.abs(ours.var(axis=0) / theirs.var(axis=0) - 1).max() < 0.2
