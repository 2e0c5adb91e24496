"""What the population says of subjects, against closed forms, and how far profiles lean on it."""

import re

import numpy as np
import pytest
from helpers import joint_fits, small_populations
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.inference.population.standing import standing
from measurement_layouts.linking import logistic, product

QUANTILES = norm.ppf((np.arange(400) + 0.5) / 400).reshape(4, 100)  # a standard normal, exactly
MEAN, SPREAD = 0.4, 1.5
ERROR = 0.06  # 4 standard errors of a mean of 4,000 newcomers, in spreads
END = 0.14  # ... of the ends of 90 %, whose standard error is 2.1 / sqrt(4000)


@pytest.fixture(scope="module")
def evaluation():
    return small_populations.cohort()


def normal_fit(evaluation, seen, errors):
    """Posteriors of a normal prior and normal data: of values seen, with these standard errors."""
    precision = 1 / SPREAD**2 + 1 / errors**2
    mean = (MEAN / SPREAD**2 + seen / errors**2) / precision
    ability = mean + QUANTILES[..., None] / np.sqrt(precision)
    shape = QUANTILES.shape
    given = {"ability": ability, "mean": np.full(shape, MEAN), "spread": np.full(shape, SPREAD)}
    return small_populations.crafted(joint_fits.rasch(), evaluation, given)


def test_normal_profiles_fall_into_population_and_own_data(evaluation):
    rng = np.random.default_rng(2)
    seen, errors = rng.normal(size=12), rng.uniform(0.3, 2.0, 12)
    table = standing(normal_fit(evaluation, seen, errors))
    assert table["subject"].tolist() == evaluation.subjects
    assert np.allclose(table["population_mean"], MEAN, atol=ERROR * SPREAD)
    assert np.allclose(table["population_sd"], SPREAD, rtol=ERROR)
    ends = MEAN + SPREAD * norm.ppf([0.05, 0.95])
    found = table[["population_low", "population_high"]]
    assert np.allclose(found, ends, atol=END * SPREAD)
    lean = (1 / SPREAD**2) / (1 / SPREAD**2 + 1 / errors**2)
    assert np.allclose(table["population_weight"], lean, atol=0.05)
    tolerance = 3 * ERROR * SPREAD * lean / (1 - lean)  # of mean and lean, magnified
    assert (abs(table["alone"] - seen) < tolerance + 0.02).all()
    assert not (abs(table["mean"] - seen) < tolerance + 0.02).all()  # the twin: no population


def test_covariates_and_schools_move_the_population(evaluation):
    shape = QUANTILES.shape
    effect = np.array([-3.0, 0.0, 3.0])
    given = {
        "mean": np.full(shape, MEAN),
        "gain": np.full(shape, 2.0),
        "spread": np.full(shape, 0.7),
        "ofSchool": np.broadcast_to(effect, (*shape, 3)),
    }
    fit = small_populations.crafted(small_populations.schools(), evaluation, given)
    own = evaluation.subject_table
    expected = MEAN + 2 * own["tests"] + effect[own["school"].map(["x", "y", "z"].index)]
    table = standing(fit)
    assert np.allclose(table["population_mean"], expected, atol=ERROR * 0.7)
    assert np.allclose(table["population_sd"], 0.7, rtol=ERROR)
    some = standing(fit, subjects=["s007", "s002"])
    assert some["subject"].tolist() == ["s007", "s002"]
    assert np.allclose(some["population_mean"], expected[["s007", "s002"]], atol=ERROR * 0.7)


def labelled():
    """A prior for each label, one of them on another latent; and one that is not normal."""
    mean = ml.Bias("mean", per="population")
    read = joint_fits.normal(mean, 1.0)
    skill = ml.Capability(
        "skill",
        labels=("read", "write"),
        prior={"read": read, "write": joint_fits.normal(5.0, 0.5)},
    )
    more = ml.Capability("more", prior=joint_fits.normal(2 * mean, 1.0))
    most = ml.Capability("most", prior=joint_fits.normal(more, 1.0))
    noise = ml.Noise("noise")
    chance = product(logistic(skill), over="dimension") * logistic(more + most) * noise
    return ml.Layout("labels", ml.Success("done", chance))


def test_labels_and_profiles_that_depend_on_each_other(evaluation):
    shape = (*QUANTILES.shape, 12)
    half = np.broadcast_to(0.5 + 0.01 * QUANTILES[..., None], shape)
    fit = small_populations.crafted(
        labelled(),
        evaluation,
        {"mean": np.full(QUANTILES.shape, 3.0), "noise": half},
    )
    table = standing(fit).groupby(["node", "label"])[["population_mean", "population_sd"]].mean()
    for key, mean, sd in (
        (("skill", "read"), 3, 1),
        (("more", ""), 6, 1),
        (("most", ""), 6, np.sqrt(2)),
    ):
        assert table.loc[key, "population_mean"] == pytest.approx(mean, abs=ERROR * sd)
        assert table.loc[key, "population_sd"] == pytest.approx(sd, rel=ERROR)
    assert len(table) == 3
    assert standing(fit, "skill[read]")["label"].unique().tolist() == ["read"]
    for fixed in ("noise", "skill[write]"):
        with pytest.raises(FitError, match=f"prior of {re.escape(fixed)} is fixed .* population"):
            standing(fit, fixed)


def test_what_own_outcomes_cannot_tell(evaluation):
    """Subjects that solve all, and profiles that are all population."""
    outcomes = evaluation.successes.astype(float)
    outcomes.loc["s000"] = 1
    other = ml.Evaluation.from_wide(outcomes, evaluation.items, subjects=evaluation.subject_table)
    errors = np.ones(12)
    errors[3] = 50.0
    alone = standing(normal_fit(other, np.zeros(12), errors))["alone"]
    assert alone.isna().to_numpy().nonzero()[0].tolist() == [0, 3]


def test_refusals(evaluation, fitted):
    with pytest.raises(FitError, match=r"'animal-ai' share nothing, .* per='population'"):
        standing(fitted)
    fit = normal_fit(evaluation, np.zeros(12), np.ones(12))
    for message, options in (
        (r"no profile element ease", {"nodes": "ease"}),
        (r"not in this fit: nobody", {"subjects": ["nobody"]}),
        (r"prob=0", {"prob": 0}),
    ):
        with pytest.raises(FitError, match=message):
            standing(fit, **options)
    with pytest.raises(DataError, match=r"s001"):
        standing(fit, subjects=["s001", "s001"])
