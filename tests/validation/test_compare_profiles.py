"""Profiles compared: who, with whom, in which unit, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.small_layouts import coin, counts, crafted, labelled
from scipy.stats import beta, norm

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation import comparison
from measurement_layouts.validation.comparison import compare_profiles

WIDE = ml.Prior("Normal", mu=0, sigma=3)


def tossed(heads, draws=4000):
    """Fit coins without a sampler: their posteriors are beta distributions."""
    rng = np.random.default_rng(1)
    names = [f"coin-{number}" for number in range(len(heads))]
    one = counts([1], [20])
    successes, trials = (
        table.loc[["Ann"] * len(heads)].set_axis(names, axis=0)
        for table in (one.successes, one.trials)
    )
    successes = successes.assign(**{"toss-0": heads})
    evaluation = ml.Evaluation(one.items, successes, trials)
    p = np.array([rng.beta(1 + k, 21 - k, size=(4, draws // 4)) for k in heads])
    return crafted(coin(), evaluation, {"p": p})


class TestCoins:
    def test_agrees_with_the_closed_form(self):
        """Independent betas; 4,000 draws of each know the probability to about .008."""
        row = compare_profiles(tossed([14, 9])).table.iloc[0]
        x = np.linspace(0, 1, 20_001)
        exact = np.trapezoid(beta.pdf(x, 15, 7) * beta.cdf(x, 10, 12), x)
        assert abs(row["superiority"] - exact) < 4 * row["superiority_error"]
        assert row["superiority_error"] < 0.01
        assert abs(row["difference"] - (15 - 10) / 22) < 4 * row["sd"] / np.sqrt(4000)
        sd = np.hypot(beta.std(15, 7), beta.std(10, 12))
        assert abs(row["sd"] / sd - 1) < 4 / np.sqrt(2 * 4000)

    def test_intervals_hold_their_mass(self):
        row = compare_profiles(tossed([14, 9]), prob=0.8).table.iloc[0]
        rng = np.random.default_rng(3)
        gaps = rng.beta(15, 7, 100_000) - rng.beta(10, 12, 100_000)
        inside = ((gaps > row["low"]) & (gaps < row["high"])).mean()
        assert abs(inside - 0.8) < 0.025  # an end's level is known to .4 / sqrt(4000) = .0063

    def test_ranks(self):
        ranking = compare_profiles(tossed([3, 10, 17])).ranking("p")
        assert list(ranking.index) == ["coin-2", "coin-1", "coin-0"]
        assert ranking["rank"].sum() == pytest.approx(6)
        assert ranking["best"].sum() == pytest.approx(1)

    def test_the_prior_is_named(self):
        table = compare_profiles(tossed([20, 9]), reference="coin-1").table
        assert table["warning"][0] == "coin-0: prior-dominated"  # all outcomes are alike

    def test_draws_in_order(self):
        """Draws that ascend in every chain are no more alike in two subjects than others."""
        fit = tossed([10, 10])
        ordered = np.sort(fit.posterior["p"].to_numpy(), axis=1)
        fit.posterior["p"].to_numpy()[:] = ordered
        row = compare_profiles(fit).table.iloc[0]
        assert row["sd"] == pytest.approx(np.sqrt(2) * beta.std(11, 11), rel=0.1)
        np.testing.assert_array_equal(fit.posterior["p"], ordered)  # the fit is as it was


SHARED, OWN, ABOVE = 1.0, 0.3, np.array([0.4, 0.2, 0.0])


def jointly(joint=True, draws=4000):
    """Three subjects whose values have a large common error; fitted apart if not joint."""
    rng = np.random.default_rng(12)
    ability = ABOVE + SHARED * rng.normal(size=(draws, 1)) + OWN * rng.normal(size=(draws, 3))
    outcomes = pd.DataFrame([[0, 1], [1, 0], [0, 1]], list("abc"), ["x", "y"])
    evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    layout = joint_fits.rasch()
    if not joint:
        layout = ml.Layout(
            "apart", ml.Success("ok", logistic(ml.Capability("ability", prior=WIDE)))
        )
        return crafted(layout, evaluation, {"ability": ability.T.reshape(3, 4, -1)})
    made = joint_fits.random_draws(layout, evaluation, draws, seed=3)
    return joint_fits.crafted(layout, evaluation, made | {"ability": ability})


class TestJoint:
    """Values of one joint posterior: an error that all subjects share is in no difference."""

    def test_differences_have_the_closed_form(self):
        comparison = compare_profiles(jointly())
        assert "at random" not in repr(comparison)
        sd = np.sqrt(2) * OWN
        for row in comparison.table.itertuples():
            gap = ABOVE[ord(row.subject) - 97] - ABOVE[ord(row.reference) - 97]
            assert row.sd == pytest.approx(sd, rel=4 / np.sqrt(2 * 4000))
            expected = [gap, gap - 1.645 * sd, gap + 1.645 * sd]
            # four errors of a mean and of a 5 % quantile
            np.testing.assert_array_less(
                np.abs(np.subtract([row.difference, row.low, row.high], expected)),
                4 * sd / np.sqrt(4000) * np.array([1, 2.2, 2.2]),
            )
            assert abs(row.superiority - norm.cdf(gap / sd)) < 4 * row.superiority_error

    def test_fitted_apart_the_errors_add_up(self):
        """Twin: the same draws, of subjects that share nothing."""
        comparison = compare_profiles(jointly(joint=False))
        assert "paired at random" in repr(comparison)
        sd = np.sqrt(2 * (SHARED**2 + OWN**2))
        assert comparison.table["sd"].tolist() == pytest.approx([sd] * 3, rel=0.08)

    def test_ranks_are_those_of_each_draw(self):
        fit = jointly()
        comparison = compare_profiles(fit)
        ranking = comparison.ranking("ability").loc[list("abc")]
        draws = fit.posterior["ability"].to_numpy().reshape(-1, 3).T
        ranks = 1 + (draws[None] > draws[:, None]).sum(axis=1)
        assert ranking["rank"].tolist() == pytest.approx(ranks.mean(axis=1))
        assert ranking["best"].tolist() == pytest.approx((ranks == 1).mean(axis=1))
        # an expected rank is one plus the probabilities that the others are ahead
        ahead = comparison.table.set_index(["subject", "reference"])["superiority"]
        assert ranking.loc["a", "rank"] == pytest.approx(3 - ahead["a"].sum())


class TestFit:
    def test_pairs(self, fitted):
        everybody = compare_profiles(fitted)
        assert len(everybody.table) == 15 * 4
        one = compare_profiles(fitted, reference="Ann").table
        again = everybody.table.query("subject == 'Ann'").reset_index(drop=True)
        np.testing.assert_allclose(one["difference"], -again["difference"])
        np.testing.assert_allclose(one["superiority"], 1 - again["superiority"])
        np.testing.assert_allclose(one["superiority_error"], again["superiority_error"])
        np.testing.assert_allclose(one["low"], -again["high"], atol=1e-12)
        assert one["unit"].tolist()[:2] == ["sd", ""]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"subjects": ["Ann", "Eve"]}, "not in this fit: Eve"),
            ({"reference": "Eve"}, "not in this fit: Eve"),
            ({"subjects": ["Ann"]}, "comparing needs two subjects, and there is Ann"),
            ({"subjects": ["Ann"], "reference": "Ann"}, "needs two subjects, and there is Ann"),
            ({"prob": 90}, "prob=90"),
        ],
    )
    def test_refusals(self, fitted, options, message):
        with pytest.raises(ml.FitError, match=message):
            compare_profiles(fitted, **options)

    def test_too_many_pairs(self, fitted, monkeypatch):
        monkeypatch.setattr(comparison, "_MOST", 59)
        with pytest.raises(
            ml.FitError, match=r"15 pairs of subjects with 4 .* name some subjects="
        ):
            compare_profiles(fitted)

    def test_elements_by_name(self, fitted):
        rows = compare_profiles(fitted, reference="Bob").rows("noiseLevel")
        assert rows["node"].unique().tolist() == ["noiseLevel"]
        with pytest.raises(ml.FitError, match="no profile element wit"):
            compare_profiles(fitted, reference="Bob").rows("wit")


def test_not_converged_and_failed():
    rng = np.random.default_rng(2)
    layout, failed = labelled(), {"Cyd": "it broke"}
    items = {"demand[AS]": [1.0, 2.0], "demand[CEc]": [0.0, 3.0]}
    table = pd.DataFrame(items, index=["x", "y"])
    outcomes = pd.DataFrame([[1, 0]] * 3, index=["Ann", "Bob", "Cyd"], columns=table.index)
    draws = rng.uniform(0, 5, size=(3, 2, 200, 2))
    draws[1, 1] += 20  # Bob's chains disagree
    evaluation = ml.Evaluation.from_wide(outcomes, table)
    fit = crafted(layout, evaluation, {"ability": draws}, failures=failed)
    with pytest.raises(ml.FitError, match=r"Cyd \(it broke\)"):
        compare_profiles(fit, ["Ann", "Cyd"])
    comparison = compare_profiles(fit)
    assert comparison.table["label"].tolist() == ["AS", "CEc"]
    assert "Bob: not converged, see Fit.diagnostics" in comparison.table["warning"][0]
    with pytest.raises(ml.FitError, match=r"name one of ability\[AS\], ability\[CEc\]"):
        comparison.ranking("ability")
    assert comparison.ranking("ability[CEc]").index[0] == "Bob"
