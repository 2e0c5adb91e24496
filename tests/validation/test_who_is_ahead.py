"""Subjects compared: against statsmodels, closed forms and simulated truth, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.small_layouts import coin, counts, crafted, labelled
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation.comparing import compare as comparing

WIDE = ml.Prior("Normal", mu=0, sigma=3)


def answered(outcomes, items=None, **options):
    table = pd.DataFrame(outcomes, **options)
    table.columns = [f"item {number}" for number in range(table.shape[1])]
    items = pd.DataFrame(index=table.columns) if items is None else items.set_axis(table.columns)
    return ml.Evaluation.from_wide(table, items)


def random_answers(subjects=3, items=60, clusters=9, seed=0):
    """Clustered outcomes; some are missing."""
    rng = np.random.default_rng(seed)
    table = (rng.random((subjects, items)) < 0.6).astype(float)
    table[0, 3] = table[2, 7] = table[2, 8] = np.nan
    properties = pd.DataFrame({"text": rng.integers(0, clusters, items)})
    return answered(table, properties, index=list("abcdefghij"[:subjects]))


class TestOutcomes:
    @pytest.mark.parametrize("cluster", [None, "text"])
    def test_differences_are_those_of_statsmodels(self, cluster):
        linear = pytest.importorskip("statsmodels.api")
        tables = pytest.importorskip("statsmodels.stats.contingency_tables")
        evaluation = random_answers()
        solved = evaluation.successes.where(evaluation.trials > 0)
        for row in ml.compare(evaluation, cluster=cluster).table.itertuples():
            pair = solved.loc[[row.subject, row.reference]].dropna(axis=1)
            gaps = (pair.iloc[0] - pair.iloc[1]).to_numpy(float)
            texts = evaluation.items.loc[pair.columns, "text"]
            groups = np.arange(len(gaps)) if cluster is None else pd.factorize(texts)[0]
            fit = linear.OLS(gaps, np.ones(len(gaps))).fit(
                cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
            )
            expected = [fit.params[0], fit.bse[0], fit.pvalues[0], *fit.conf_int(0.1)[0]]
            assert [row.difference, row.se, row.p, row.low, row.high] == pytest.approx(expected)
            assert (row.items, row.clusters) == (len(gaps), len(set(groups)))
            exact = tables.mcnemar(pd.crosstab(pair.iloc[0], pair.iloc[1]), exact=True)
            assert row.mcnemar == pytest.approx(exact.pvalue)

    def test_attempts_and_grades_are_averaged_by_item(self):
        items = pd.DataFrame(index=["a", "b", "c"])
        won, tried = [[3, 1, 0], [1, 1, 2]], [[4, 2, 1], [2, 2, 4]]
        wide = [pd.DataFrame(table, ["x", "y"], items.index) for table in (won, tried)]
        (row,) = ml.compare(ml.Evaluation(items, *wide)).table.itertuples()
        assert (row.subject, row.difference) == ("y", pytest.approx((0.5 - 0.75 + 0 + 0.5) / 3))
        assert np.isnan(row.mcnemar)
        layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
        grades = pd.DataFrame([["partly", 0, "right"], ["right", None, "right"]], ["x", "y"])
        grades.columns = items.index
        evaluation = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
        (row,) = ml.compare(evaluation).table.itertuples()
        assert (row.subject, row.difference, row.items) == ("y", 0.25, 2)

    @pytest.mark.parametrize(
        ("outcomes", "sentence"),
        [
            ([[1, 0, 1]] * 2, "a and b differ by 0.00 in every cluster, without a standard error"),
            ([[0] * 6, [1] * 6], "b and a differ by 1.00 in every cluster"),
            ([[1, None], [0, 1]], "a and b cannot be told apart in one cluster: 1.00"),
            ([[1, 1, 0, 1], [0, 1, 1, 1]], "a and b cannot be told apart: 0.00 ("),
        ],
    )
    def test_few_outcomes_and_equal_ones_are_said_plainly(self, outcomes, sentence):
        comparison = ml.compare(answered(outcomes, index=["a", "b"]))
        assert sentence in str(comparison)
        assert comparison.tied == (["b"] if "1.00 in every" in sentence else ["a", "b"])

    def test_two_constant_differences_do_not_decide(self):
        """Twin of the six above: two items may agree by chance."""
        assert len(ml.compare(answered([[1, 1], [0, 0]])).tied) == 2

    def test_clear_differences_give_ranks(self):
        rng = np.random.default_rng(1)
        chances = np.array([[0.9], [0.5], [0.1]])
        comparison = ml.compare(
            answered((rng.random((3, 300)) < chances).astype(int), index=list("cab"))
        )
        ranks = comparison.ranking.set_index("subject")[["rank", "rank_low", "rank_high"]]
        assert ranks.to_numpy().tolist() == [[1, 1, 1], [2, 2, 2], [3, 3, 3]]
        assert comparison.tied == ["c"]

    def test_the_best_is_left_out_no_more_often_than_stated(self):
        """Ten subjects, clustered items; four errors of the share above the stated 10 %."""
        rng, left_out, runs = np.random.default_rng(5), 0, 40
        cluster = pd.DataFrame({"text": np.repeat(np.arange(20), 4)})
        for _ in range(runs):
            rates = 0.5 + 0.1 * rng.uniform(-1, 1, (10, 1))
            chances = rates + rng.uniform(-0.3, 0.3, 20)[cluster["text"]]
            table = (rng.random(chances.shape) < chances).astype(int)
            tied = ml.compare(
                answered(table, cluster, index=list("abcdefghij")), cluster="text"
            ).tied
            left_out += "abcdefghij"[rates.argmax()] not in tied
        assert left_out / runs <= 0.1 + 4 * np.sqrt(0.1 * 0.9 / runs)


SHARED, OWN, ABOVE = 1.0, 0.3, np.array([0.4, 0.2, 0.0])


def jointly(joint=True, draws=4000):
    """Three subjects whose values have a large common error; fitted apart if not joint."""
    rng = np.random.default_rng(12)
    ability = ABOVE + SHARED * rng.normal(size=(draws, 1)) + OWN * rng.normal(size=(draws, 3))
    evaluation = answered([[0, 1], [1, 0], [0, 1]], index=list("abc"))
    layout = joint_fits.rasch()
    if not joint:
        layout = ml.Layout(
            "apart", ml.Success("ok", logistic(ml.Capability("ability", prior=WIDE)))
        )
        return crafted(layout, evaluation, {"ability": ability.T.reshape(3, 4, -1)})
    made = joint_fits.random_draws(layout, evaluation, draws, seed=3)
    return joint_fits.crafted(layout, evaluation, made | {"ability": ability})


class TestElements:
    def test_of_a_joint_fit_have_no_common_error(self):
        comparison = ml.compare(jointly(), by="ability")
        sd = np.sqrt(2) * OWN
        for row in comparison.table.itertuples():
            gap = ABOVE[ord(row.subject) - 97] - ABOVE[ord(row.reference) - 97]
            assert row.se == pytest.approx(sd, rel=4 / np.sqrt(2 * 4000))
            expected = [gap, gap - 1.645 * sd, gap + 1.645 * sd]
            # four errors of a mean and of a 5 % quantile
            np.testing.assert_array_less(
                np.abs(np.subtract([row.difference, row.low, row.high], expected)),
                4 * sd / np.sqrt(4000) * np.array([1, 2.2, 2.2]),
            )
            assert row.ahead == pytest.approx(norm.cdf(gap / sd), abs=4 * 0.5 / np.sqrt(4000))

    def test_fitted_apart_the_errors_add_up(self):
        """Twin: the same draws, of subjects that share nothing, whatever their order."""
        fit = jointly(joint=False)
        fit.posterior["ability"].to_numpy()[:] = np.sort(
            fit.posterior["ability"].to_numpy(), axis=1
        )
        sd = np.sqrt(2 * (SHARED**2 + OWN**2))
        assert ml.compare(fit, by="ability").table["se"].tolist() == pytest.approx(
            [sd] * 3, rel=0.08
        )

    def test_ranks_are_those_of_each_draw(self):
        fit = jointly()
        comparison = ml.compare(fit, by="ability", prob=0.9)
        ranking = comparison.ranking.set_index("subject").loc[list("abc")]
        draws = fit.posterior["ability"].to_numpy().reshape(-1, 3).T
        ranks = 1 + (draws[None] > draws[:, None]).sum(axis=1)
        best = (ranks == 1).mean(axis=1)
        assert ranking["rank"].tolist() == pytest.approx(ranks.mean(axis=1))
        assert ranking["best"].tolist() == pytest.approx(best)
        tied = [ord(name) - 97 for name in comparison.tied]
        assert best[tied].sum() >= 0.9
        assert best[tied].sum() - best[tied].min() < 0.9  # no smaller set is enough

    def test_doubts_are_named(self):
        rng = np.random.default_rng(2)
        items = pd.DataFrame({"demand[AS]": [1.0, 2.0], "demand[CEc]": [0.0, 3.0]})
        evaluation = answered([[1, 0]] * 3, items, index=["Ann", "Bob", "Cyd"])
        draws = rng.uniform(0, 5, size=(3, 2, 200, 2))
        draws[1, 1] += 20  # Bob's chains disagree
        fit = crafted(labelled(), evaluation, {"ability": draws}, failures={"Cyd": "it broke"})
        with pytest.raises(ml.FitError, match=r"Cyd \(it broke\)"):
            ml.compare(fit, subjects=["Ann", "Cyd"])
        comparison = ml.compare(fit, by="ability[CEc]")
        assert comparison.ranking["subject"].tolist() == ["Bob", "Ann"]
        assert "Bob: not converged, see Fit.diagnostics" in comparison.table["warning"][0]
        with pytest.raises(ml.FitError, match=r"name one of ability\[AS\], ability\[CEc\]"):
            ml.compare(fit, by="ability")


class TestExpectedSuccess:
    def test_means_over_items_are_those_of_all_draws(self, fitted, monkeypatch):
        """Against a table of all draws; items are computed three at a time."""
        monkeypatch.setattr("measurement_layouts.validation.comparing.draws._TOGETHER", 3 * 400)
        table = ml.compare(fitted, subjects=["Ann", "Bob"]).table.set_index("reading")
        names = [node.name for node in fitted.layout.meta_features]
        items = pd.DataFrame({name: fitted.constants[name] for name in names}, fitted.item_names)
        means = fitted.forecast(items).data["mean"].mean("item").to_series()
        subject, reference = table.loc["these items", ["subject", "reference"]]
        lead = means[subject] - means[reference]
        assert table.loc["these items", "difference"] == pytest.approx(lead)
        assert table.loc["outcomes", "items"] == table.loc["these items", "items"] == len(items)
        new = ml.compare(fitted, items.set_axis(range(len(items))), subjects=["Ann", "Bob"]).table
        assert new["difference"][0] == pytest.approx(lead)
        assert "outcomes" not in new["reading"].tolist()  # numbers are no names

    def test_more_items_add_the_spread_between_clusters(self):
        """Skills are known: these items leave no error; more have the variance of Student's t."""
        skill, demand = ml.Capability("skill", prior=WIDE), ml.MetaFeature("d", low=-3, high=3)
        layout = ml.Layout("known", ml.Success("ok", logistic(skill - demand)))
        draws = np.stack([np.full((4, 5000), 0.0), np.full((4, 5000), 2.0)])
        demands = np.repeat(np.linspace(-3, 3, 12), 2)
        items = pd.DataFrame({"d": demands, "text": np.repeat(np.arange(12), 2)})
        evaluation = answered([[0, 1] * 12, [1, 1] * 12], items, index=["a", "b"])
        fit = crafted(layout, evaluation, {"skill": draws})
        table = ml.compare(fit, cluster=evaluation.items["text"]).table.set_index("reading")
        gaps = 1 / (1 + np.exp(demands - 2)) - 1 / (1 + np.exp(demands))
        assert table["difference"]["these items"] == pytest.approx(gaps.mean())
        assert table["se"]["these items"] == pytest.approx(0, abs=1e-12)
        variance = gaps[::2].var() / (12 - 3)
        assert table["se"]["more items"] == pytest.approx(np.sqrt(variance), rel=0.03)

    def test_expected_grades_are_fractions_of_the_highest(self):
        layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
        items = pd.DataFrame(index=["x", "y"])
        grades = pd.DataFrame([["partly", "right"], [0, "partly"]], ["a", "b"], items.index)
        evaluation = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
        fit = ml.fit(layout, evaluation, method="grid", seed=1, progressbar=False)
        success, grade = (
            ml.compare(fit, by=by).table["difference"][0] for by in ("success", "grade")
        )
        assert success == pytest.approx(grade / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subjects": ["Ann", "Eve"]}, "not in this fit:"),
        ({"subjects": ["Ann"]}, "comparing takes 2 to 200"),
        ({"prob": 90}, "prob=90"),
        ({"by": "wit"}, "no profile element wit"),
    ],
)
def test_refusals_of_a_fit(fitted, options, message):
    with pytest.raises(ml.FitError, match=message):
        ml.compare(fitted, **options)


def test_refusals_of_outcomes(monkeypatch):
    with pytest.raises(ml.DataError, match="a and b answered no item in common"):
        ml.compare(answered([[1, None], [None, 1]], index=["a", "b"]))
    with pytest.raises(ml.FitError, match="by='skill' needs a posterior"):
        ml.compare(random_answers(), by="skill")
    with pytest.raises(ml.DataError, match="item item 1 has no group"):
        ml.compare(random_answers(), cluster={"item 0": "one"})
    monkeypatch.setattr(comparing, "_MOST", 2)
    with pytest.raises(ml.FitError, match=r"there are 3 \(a, b, c\); name others as subjects="):
        ml.compare(random_answers())


def test_success_of_coins_is_their_posterior():
    """Beta posteriors: the difference has the moments of the closed form."""
    rng = np.random.default_rng(1)
    draws = np.array([rng.beta(1 + k, 21 - k, size=(4, 1000)) for k in (14, 9)])
    table = counts([1], [20])
    successes = pd.DataFrame([[14], [9]], ["a", "b"], table.items.index)
    evaluation = ml.Evaluation(table.items, successes, successes * 0 + 20)
    row = ml.compare(crafted(coin(), evaluation, {"p": draws})).table.iloc[0]
    assert abs(row["difference"] - (15 - 10) / 22) < 4 * row["se"] / np.sqrt(4000)
