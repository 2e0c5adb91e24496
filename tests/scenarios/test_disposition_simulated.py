"""The simulated study of dispositions has the published sizes and shares, and follows its law."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import chi2, hypergeom

from measurement_layouts.scenarios.dispositions import (
    TRAITS,
    overall,
    rater_pool,
    simulated_study,
    supports,
)
from measurement_layouts.scenarios.dispositions.simulated import SPREAD, mean_pulls

SOME = 1e-3  # the least p-value of a seeded draw that passes


@pytest.fixture(scope="module")
def study():
    return simulated_study()


@pytest.fixture(scope="module")
def human(study):
    return study.judgments.human_rates()


@pytest.fixture(scope="module")
def model(study):
    return study.judgments.model_rates()


def dropped(study, what):
    return study.judgments.dropped.groupby("what")["count"].sum().get(what, 0)


def p_of(differences, variances, groups):
    """P-value of sums by group against their variances."""
    sums = pd.DataFrame({"d": differences, "v": variances}).groupby(groups).sum()
    return chi2.sf((sums["d"] ** 2 / sums["v"]).sum(), len(sums))


def test_sizes_are_the_published_ones(study):
    judgments = study.judgments
    assert (len(judgments.scenarios), len(judgments.statements)) == (2357, 161)
    assert len(judgments.votes) + dropped(study, "votes") == 23_570
    assert not judgments.votes.duplicated(["scenario", "rater"]).any()
    assert (len(judgments.raters), len(judgments.models)) == (550, 25)
    assert len(judgments.samples) + dropped(study, "pairs") == 58_925
    assert len(judgments.ratings) == 25 * 161
    assert judgments.scenarios.groupby("statement").size().max() == 16
    assert study.pulls.index.equals(judgments.scenarios.index)


def test_traits_have_their_shares_of_the_ratings(study):
    table = overall()
    shares = table["ratings"] / table["ratings"].sum()
    statements = study.judgments.statements
    given = statements["trait"].value_counts()
    assert ((given - 161 * shares).abs() < 0.5).all()
    reverse = (statements["keyed"] == -1).groupby(statements["trait"]).sum()
    assert reverse.to_dict() == {name: trait.reverse for name, trait in TRAITS.items()}
    for trait, count in study.judgments.scenarios["trait"].value_counts().items():
        left = hypergeom(2576, 16 * given[trait], 2357)  # the rest was removed at random
        assert abs(count - left.mean()) < 4 * left.std()


def test_supports_are_the_published_ones(human):
    """Within 4 standard errors of a mean over scenarios."""
    rates = human.groupby("trait")["rate"]
    error = rates.std() / rates.size() ** 0.5
    published = overall()["support"]
    assert ((rates.mean() - published).abs() < 4 * error).all()
    assert not ((rates.mean() - 0.5).abs() < 4 * error).all()  # twin: as many for as against


def test_neutral_votes_are_where_people_are_divided(study, human):
    assert abs(human["neutral"].sum() / human["votes"].sum() - 0.07) < 0.005  # spread of pulls
    rate = expit(study.pulls)
    bins = pd.qcut(study.pulls.abs(), 10, labels=False)

    def p(chance):
        difference = human["neutral"] - human["votes"] * chance
        return p_of(difference, human["votes"] * chance * (1 - chance), bins)

    assert p(0.47 * rate * (1 - rate)) > SOME
    assert p(0.07 * rate**0) < 1e-10  # twin: everywhere alike
    assert abs(dropped(study, "votes") / 23_570 - 0.002) < 4 * (0.002 / 23_570) ** 0.5


def test_votes_follow_the_pulls(study, human):
    rate = expit(study.pulls)
    variance = rate * (1 - rate) * (1 - 0.47 / 4)  # half votes scatter less
    bins = pd.qcut(study.pulls, 20, labels=False)

    def p(chance):
        return p_of(human["positive"] - human["votes"] * chance, human["votes"] * variance, bins)

    assert p(rate) > SOME
    assert p(expit(0.8 * study.pulls)) < 1e-10  # twin: milder people


def test_models_follow_their_slope_noise_and_disposition(study, model):
    """Sums by model and trait, against the law with each scenario's own stance integrated."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    pulls = study.pulls[model.index.get_level_values("scenario")].to_numpy()[:, None]
    means = model["trait"].map(mean_pulls()).to_numpy()[:, None]
    decided = model["positive"] + model["negative"]

    def p(truth):
        own = truth.loc[model.index.get_level_values("model")]
        slope, noise = own[["slope"]].to_numpy(), own[["noise"]].to_numpy()
        columns = [f"disposition[{trait}]" for trait in TRAITS]
        place = pd.Index(TRAITS).get_indexer(model["trait"])
        disposition = own[columns].to_numpy()[np.arange(len(own)), place][:, None]
        as_people = expit(slope * (pulls + disposition))
        alone = expit(slope * (means + SPREAD * nodes + disposition))
        mean = (1 - noise) * as_people + noise * (alone @ weights)[:, None]
        square = (1 - noise) * as_people**2 + noise * (alone**2 @ weights)[:, None]
        mean, spread = mean[:, 0], (square - mean**2)[:, 0]
        variance = decided * mean * (1 - mean) + decided * (decided - 1) * spread
        names = [model.index.get_level_values("model"), model["trait"].to_numpy()]
        return p_of(model["positive"] - decided * mean, variance, names)

    truth = study.truth
    assert p(truth) > SOME
    assert p(truth.set_axis(np.roll(truth.index, 1), axis=0)) < 1e-10  # twin: of another model


def test_keying_turns_agree_into_oppose(study):
    """Where people and models are nearly unanimous for the trait."""
    clear = study.pulls.index[study.pulls > 3]
    samples = study.judgments.samples.loc[["sim-01", "sim-02"]]
    for counts in (study.judgments.votes.value_counts(["scenario", "vote"]).unstack(), samples):
        counts = counts.fillna(0).groupby("scenario").sum()
        counts = counts[counts.index.isin(clear)]
        agree = counts["agree"] / (counts["agree"] + counts["oppose"])
        keyed = study.judgments.scenarios.loc[counts.index, "keyed"]
        means = agree.groupby(keyed).mean()
        assert means[1] > 0.95
        assert means[-1] < 0.05


def test_self_reports_follow_dispositions_where_they_load(study):
    """Slopes over models to 4 standard errors, and a tenth for the ends of the scale."""
    ratings = study.judgments.ratings.join(study.judgments.statements, on="statement")
    assert ratings["rating"].isin(range(1, 8)).all()
    means = ratings.groupby(["trait", "keyed", "model"])["rating"].mean().unstack("keyed")

    def agrees(scores, cause, slope):
        x = cause - cause.mean()
        found = (x @ scores) / (x @ x)
        rest = scores - scores.mean() - found * x
        error = (rest @ rest / (len(x) - 2) / (x @ x)) ** 0.5
        return abs(found - slope) < 4 * error + 0.1 * slope

    for trait, loading in study.loadings.items():
        forward, reverse = means.loc[trait, 1], means.loc[trait, -1]
        disposition = study.truth[f"disposition[{trait}]"]
        assert agrees((forward - reverse) / 2, disposition, loading)
        assert agrees((forward + reverse) / 2, study.truth["acquiescence"], 1)
        as_given = (forward + reverse) / 2 - study.truth["acquiescence"]
        assert loading == 0 or not agrees(as_given, disposition, loading)  # twin: not turned round
    impulsive = means.loc["Impulsiveness"]
    assert (impulsive[1] + 8 - impulsive[-1]).max() / 2 < 4


def test_raters_have_the_published_shares():
    rng = np.random.default_rng(3)
    pool, table = rater_pool(rng), supports()
    for attribute, groups in table.groupby("attribute"):
        ratings = groups.groupby("group")["ratings"].sum()
        found = pool[attribute].value_counts()
        assert ((found - 550 * ratings / ratings.sum()).abs() < 1).all()


def test_some_raters_judge_more_than_others(study):
    loads = study.judgments.votes["rater"].value_counts()
    assert loads.var() > 2 * loads.mean()  # a fair lot would give it the mean


def test_models_do_not_disturb_each_other():
    names = ["sim-20", "sim-04"]
    every, few = (simulated_study(per_statement=1, models=m).judgments for m in (None, names))
    pd.testing.assert_frame_equal(few.votes, every.votes)
    assert few.models == names
    for name in names:
        pd.testing.assert_frame_equal(few.samples.loc[name], every.samples.loc[name])
        pd.testing.assert_frame_equal(few.ratings.loc[name], every.ratings.loc[name])
