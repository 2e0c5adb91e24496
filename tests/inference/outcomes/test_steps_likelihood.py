"""Steps, each a trial given the one before, have the likelihood of grades and scores.

Tolerance 1e-10 of the log-likelihood: sums of some hundreds of logarithms.
"""

import numpy as np
import pymc as pm
import pytest
from helpers import graded_layouts as of
from helpers.function_cases import AS_WRITTEN
from scipy.special import logit
from scipy.stats import binom

import measurement_layouts as ml
from measurement_layouts.inference.model.alignment import align
from measurement_layouts.inference.model.features import read_training_features
from measurement_layouts.layouts.outcomes.steps import Steps
from measurement_layouts.linking import evaluate

ROUNDING = 1e-10


def likelihood(made, evaluation, profile):
    """Of Ann's steps as trials, with the probability that the engine takes, at a profile."""
    dims = tuple(made.dims)
    features = read_training_features(made, evaluation)
    known = {
        feature.name: align(features[feature.name], feature, dims, per_item=True)
        for feature in made.row_features
    }
    known |= {
        latent.name: align(np.asarray(profile[latent.name]), latent, dims, per_item=False)
        for latent in made.latents
    }
    chances = np.broadcast_to(
        evaluate(made.outcome.expression, known, dims), (len(evaluation.items), *[1] * len(dims))
    ).ravel()
    successes, trials = (
        counts.loc["Ann"].to_numpy() for counts in (evaluation.successes, evaluation.trials)
    )
    return binom.logpmf(successes, trials, chances).sum()


@pytest.mark.parametrize("name", of.LEAVES)
def test_likelihood_is_the_categorical_one(name, rng):
    made, table = of.layout(*of.LEAVES[name]()), of.items(9)
    tables, levels = of.random_outcomes(made, table, rng)
    evaluation = ml.Evaluation.of_outcomes(made, tables, table)
    for _ in range(2):
        profile = of.random_profile(made, rng)
        wanted = of.by_hand(made, table, profile, levels)
        found = likelihood(made, evaluation, profile)
        assert abs(found - wanted) < ROUNDING * abs(wanted)
    other = profile | {"objectPermanence": profile["objectPermanence"] + 0.01}
    assert abs(likelihood(made, evaluation, other) - wanted) > 1e-6 * abs(wanted)


def test_grades_are_an_ordered_logistic(rng):
    """PyMC's own distribution of ordered categories, at thresholds a gap apart."""
    made, table = of.layout(of.graded(1.2)), of.items(12)
    tables, levels = of.random_outcomes(made, table, rng, attempts=1)
    evaluation = ml.Evaluation.of_outcomes(made, tables, table)
    rows = levels["path"].drop_duplicates("item")
    keep = [not again for again in levels["path"]["item"].duplicated()]
    evaluation = ml.Evaluation.of_outcomes(made, {"path": tables["path"][keep]}, table)
    profile = {"objectPermanence": 4.0, "noise": 0.3}
    hidden = table.loc[rows["item"], "timeHidden"].to_numpy()
    p = 0.7 / (1 + np.exp(-0.8 * (4.0 - hidden))) + 0.3 * 0.4
    ordered = pm.OrderedLogistic.dist(eta=logit(p), cutpoints=1.2 * np.array([-1.0, 0.0, 1.0]))
    wanted = pm.logp(ordered, rows["level"].to_numpy()).eval(mode=AS_WRITTEN).sum()
    assert abs(likelihood(made, evaluation, profile) - wanted) < ROUNDING * abs(wanted)


def test_outcomes_together_are_independent_given_the_profile(rng):
    made, table = of.layout(*of.LEAVES["all"]()), of.items(7)
    tables, _ = of.random_outcomes(made, table, rng)
    profile = of.random_profile(made, rng)
    whole = likelihood(made, ml.Evaluation.of_outcomes(made, tables, table), profile)
    parts = 0.0
    for leaf in made.outcomes:
        own = of.layout(leaf)
        if own.steps is None:
            evaluation = ml.Evaluation.from_long(tables["found"], table, repeats="trials")
        else:
            evaluation = ml.Evaluation.of_outcomes(own, {leaf.name: tables[leaf.name]}, table)
        parts += likelihood(own, evaluation, profile)
    assert abs(whole - parts) < ROUNDING * abs(whole)


def test_expected_outcomes_are_sums_over_grades_and_places(rng):
    made = of.layout(*of.LEAVES["all"]())
    assert isinstance(made.outcome, Steps)
    profile, table = of.random_profile(made, rng), of.items(5)
    known = {"keeps": np.linspace(0.05, 0.95, 5)[:, None], "timeHidden": table[["timeHidden"]]}
    known |= {"gap": np.asarray(profile["gap"])[None], "precision": profile["precision"]}
    for leaf in made.outcomes[1:]:
        levels = np.arange(len(leaf.steps) + 1)
        chances = -np.diff(of.reach(leaf, np.linspace(0.05, 0.95, 5), profile), axis=1)
        wanted = chances @ levels / (leaf.places if isinstance(leaf, ml.Score) else 1)
        found = evaluate(leaf, known, ("pair",))
        np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-12)
