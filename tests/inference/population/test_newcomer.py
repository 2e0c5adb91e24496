"""A newcomer given the others' fit: exact answers by quadrature, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers.populations import normal
from scipy.special import expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.inference.population.joining import Joined, shared_draws
from measurement_layouts.linking import logistic

ITEMS = list("abcde")
GRID = np.linspace(-9, 9, 1801)  # of abilities, in spreads from the mean


def rasch():
    mean, spread = ml.Bias("mean", per="population"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=normal(mean, spread))
    effects = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    ease = ml.Bias("ease", per="item", prior=effects)
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))


def one(outcomes, name="new", items=ITEMS):
    table = pd.DataFrame([outcomes], index=[name], columns=items)
    return ml.Evaluation.from_wide(table, pd.DataFrame(index=items))


@pytest.fixture(scope="module")
def others():
    """Six subjects on five items, so that little is known of the population."""
    won = np.random.default_rng(3).random((6, 5)) < 0.4
    table = pd.DataFrame(won.astype(int), index=[f"s{k}" for k in range(6)], columns=ITEMS)
    evaluation = ml.Evaluation.from_wide(table, pd.DataFrame(index=ITEMS))
    options = {"draws": 100, "tune": 300, "seed": 1, "progressbar": False}
    return ml.fit(rasch(), evaluation, **options)


def exactly(fit, outcomes):
    """Weights of the fit's draws, and the ability's mean with and without them, by quadrature."""
    shared = {name: fit.posterior[name].to_numpy() for name in ("mean", "spread", "ease")}
    mean, spread, ease = (part.reshape(-1, *part.shape[2:]) for part in shared.values())
    ability = mean[:, None] + spread[:, None] * GRID
    chance = expit(ability[:, :, None] + ease[:, None, :])
    likelihood = np.prod(np.where(np.array(outcomes) == 1, chance, 1 - chance), axis=2)
    density = norm.pdf(GRID) * likelihood
    marginal = density.sum(axis=1)
    each = (density * ability).sum(axis=1) / marginal
    weights = marginal / marginal.sum()
    second = (density * ability**2).sum(axis=1) / marginal
    sd = np.sqrt(weights @ second - (weights @ each) ** 2)
    return weights, weights @ each, sd, each.mean()


@pytest.mark.parametrize("outcomes", [(1, 1, 1, 1, 1), (0, 0, 0, 0, 0), (1, 0, 1, 0, 0)])
def test_a_newcomer_is_what_quadrature_says(others, outcomes):
    weights, mean, sd, _ = exactly(others, outcomes)
    found = others.newcomer(one(outcomes))
    row = found.profiles().iloc[0]
    error = sd / row["ess_bulk"] ** 0.5
    assert abs(row["mean"] - mean) < 4 * error
    assert row["sd"] == pytest.approx(sd, rel=0.08)
    for name in ("mean", "spread"):  # what is shared has the weights of the newcomer
        draws = others.posterior[name].to_numpy().ravel()
        far = found.posterior[name].to_numpy().mean() - weights @ draws
        assert abs(far) < 4 * draws.std() / 400**0.5
    assert set(found.posterior["mean"].to_numpy().ravel()) <= set(
        others.posterior["mean"].to_numpy().ravel()
    )


def test_several_newcomers_are_each_estimated_as_alone(others):
    outcomes = pd.DataFrame([[1, 0, 1, 0, 0], [0, 0, 1, 0, 0]], ["new", "later"], ITEMS)
    table = others.newcomers(ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=ITEMS)))
    assert table["subject"].tolist() == ["new", "later"]
    for (name, values), row in zip(outcomes.iterrows(), table.itertuples(), strict=True):
        alone = others.newcomer(one(values.tolist(), name))
        assert row.mean == alone.profiles()["mean"].item()
        assert row.status == alone.diagnostics()["status"].item()


def test_an_unusual_newcomer_is_told_to_be_fitted_jointly(others):
    """Effective draws are those of the exact weights; few are said in words, and kept on disk."""
    weights, *_ = exactly(others, (1, 1, 1, 1, 1))
    found = others.newcomer(one((1, 1, 1, 1, 1)))
    row = found.diagnostics().loc["new"]
    assert row["status"] == "few draws"
    left = float(row["reason"].split("effective ")[1].split(" of ")[0])
    assert left == pytest.approx(1 / (weights**2).sum(), rel=0.15)


def test_one_that_contradicts_the_others_is_not_trusted():
    """All have about the same ability but the newcomer, who is therefore worth a joint fit."""
    level = ml.Bias("level", per="population", prior=normal(0, 3))
    ability = ml.Capability("ability", prior=normal(level, 0.05))
    layout = ml.Layout("nearly one for all", ml.Success("solved", logistic(ability)))
    items = pd.DataFrame(index=[f"item {k}" for k in range(60)])
    won = (np.random.default_rng(1).random((4, 60)) < 0.5).astype(int)
    table = pd.DataFrame(won, index=list("abcd"), columns=items.index)
    fit = ml.fit(
        layout,
        ml.Evaluation.from_wide(table, items),
        draws=250,
        tune=300,
        seed=1,
        progressbar=False,
    )
    odd = ml.Evaluation.from_wide(pd.DataFrame(1, index=["odd"], columns=items.index), items)
    row = fit.newcomer(odd).diagnostics().loc["odd"]
    assert row["status"] == "not converged"
    assert "changes the estimates of the others; fit all subjects jointly" in row["reason"]


def test_it_depends_on_seed_and_name_only(others):
    same = [others.newcomer(one((1, 0, 1, 0, 0)), seed=5) for _ in range(2)]
    other = others.newcomer(one((1, 0, 1, 0, 0)), seed=6)
    first, again, third = (fit.posterior["ability"].to_numpy() for fit in (*same, other))
    np.testing.assert_array_equal(first, again)
    assert (first != third).any()


def test_a_new_item_has_its_effect_from_the_prior(others):
    """... given each draw of the spread: Normal(0, s * sqrt(1 + 1/5))."""
    found = others.newcomer(one((1, 0, 1), items=["b", "d", "new"]))
    ease, spread = found.posterior["ease"].sel(item="new"), found.posterior["easeSpread"]
    ratio = (ease / spread).to_numpy()
    assert ratio.std() == pytest.approx(1.2**0.5, rel=0.1)
    assert abs(ratio.mean()) < 0.45  # it was solved: a little easier than most


def test_a_new_item_has_the_same_draws_for_newcomers_and_forecasts(others):
    joined = Joined.of(others, one([1, 0], items=["a", "z"]))
    ease = shared_draws(others, joined)["ease"][:, -1]
    ability = others.posterior["ability"].sel(subject="s2").to_numpy().ravel()
    forecast = others.forecast(pd.DataFrame(index=["b", "z"]), subjects=["s2"])
    mean = forecast.data["mean"].sel(item="z").item()
    assert mean == pytest.approx(expit(ability + ease).mean(), rel=1e-12)


def test_covariates_and_a_new_school():
    """A newcomer's own covariate counts, and so does a school that nobody went to."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    school = ml.Category("school", per="subject")
    effect = ml.Bias("schoolEffect", per=school, prior=normal(0, ml.Spread("schoolSpread")))
    gain = ml.Bias("gain", per="population")
    ability = ml.Capability("ability", prior=normal(gain * tests + effect, 0.5))
    layout = ml.Layout("schools", ml.Success("solved", logistic(ability)))
    rng = np.random.default_rng(2)
    names, items = [f"s{k}" for k in range(40)], pd.DataFrame(index=[f"i{k}" for k in range(8)])
    people = pd.DataFrame(
        {"tests": rng.normal(size=40).clip(-2.9, 2.9), "school": list("xy") * 20}, names
    )
    chance = expit(1.5 * people["tests"].to_numpy())[:, None]
    won = pd.DataFrame((rng.random((40, 8)) < chance).astype(int), names, items.index)
    evaluation = ml.Evaluation.from_wide(won, items, subjects=people)
    fit = ml.fit(layout, evaluation, draws=250, tune=300, seed=1, progressbar=False)
    means = {}
    for tested in (-2.0, 2.0):
        person = pd.DataFrame({"tests": [tested], "school": ["z"]}, ["new"])
        half = pd.DataFrame([[1, 0] * 4], ["new"], items.index)
        found = fit.newcomer(ml.Evaluation.from_wide(half, items, subjects=person))
        means[tested] = found.profiles()["mean"].iloc[0]
        assert list(found.posterior["school"].to_numpy()) == ["x", "y", "z"]
    assert means[2.0] - means[-2.0] > 0.5  # the same outcomes, foreseen to be apart by six


@pytest.mark.parametrize(
    ("brought", "said"),
    [
        (lambda: one((1, 0, 1, 0, 0), "s2"), "s2 is in this fit already"),
        (
            lambda: one((1, 0, 1, 0, 0), "x") + one((1, 1, 1, 0, 0), "y"),
            r"has 2 subjects \(x, y\),",
        ),
    ],
)
def test_what_is_no_newcomer_is_refused(others, brought, said):
    with pytest.raises(ml.DataError, match=said):
        others.newcomer(brought())


def test_a_known_item_with_another_demand_is_refused():
    size = ml.MetaFeature("size", low=0, high=2)
    mean = ml.Bias("mean", per="population")
    sight = ml.Capability("sight", prior=normal(mean, 1))
    layout = ml.Layout("looking", ml.Success("found", logistic(sight - size)))
    items = pd.DataFrame({"size": [0.5, 1.5]}, index=["ball", "pin"])
    table = pd.DataFrame([[1, 0], [1, 1]], ["Ann", "Bob"], items.index)
    options = {"draws": 50, "tune": 100, "seed": 1, "progressbar": False}
    fit = ml.fit(layout, ml.Evaluation.from_wide(table, items), **options)
    own = table.iloc[:1].set_axis(["Cyd"])
    with pytest.raises(ml.DataError, match="item pin is in the fit with size = "):
        fit.newcomer(ml.Evaluation.from_wide(own, items.assign(size=[0.5, 1.6])))
    far = pd.DataFrame({"size": [0.5, 9.0]}, index=["ball", "house"])
    with pytest.raises(ml.DataError, match="outside its declared range: house"):
        fit.newcomer(ml.Evaluation.from_wide(own.set_axis(far.index, axis=1), far))
