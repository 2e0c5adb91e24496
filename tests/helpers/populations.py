"""Small cohorts and joint layouts, drawn at random or with everything in them."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import guessing, logistic, mixture, product

P = "population"
SUBJECTS, ITEMS = 12, 7
SCHOOL, TASK = ml.Category("school", per="subject"), ml.Category("task")
TESTS = ml.MetaFeature("tests", low=-3, high=3, per="subject")
SIZE = ml.MetaFeature("size", low=0, high=2)
LOAD = ml.MetaFeature("load", low=0, high=2, labels=("near", "far"), dim="place")


def cohort_data(seed: int = 1) -> ml.Evaluation:
    """Draw an evaluation with covariates, categories, a missing cell and repeated attempts."""
    rng = np.random.default_rng(seed)
    names = [f"i{number}" for number in range(ITEMS)]
    items = pd.DataFrame(
        {
            "size": rng.uniform(0, 2, ITEMS),
            "load[near]": rng.uniform(0, 2, ITEMS),
            "load[far]": rng.uniform(0, 2, ITEMS),
            "task": list("aabbccc"),
        },
        index=names,
    )
    who = [f"s{number}" for number in range(SUBJECTS)]
    subjects = pd.DataFrame(
        {"tests": rng.uniform(-2, 2, SUBJECTS), "school": list("xyzxyzxyzxyz")}, index=who
    )
    trials = rng.integers(1, 3, (SUBJECTS, ITEMS))
    trials[0, 0] = 0
    successes = rng.binomial(trials, 0.6)
    counts = (pd.DataFrame(each, who, names) for each in (successes, trials))
    return ml.Evaluation(items, *counts, subjects=subjects)


def normal(mu: object, sigma: object) -> ml.Prior:
    """Write a normal prior."""
    return ml.Prior("Normal", mu=mu, sigma=sigma)


def shared(name: str, **options: object) -> ml.Effect:
    """Declare a standard normal value that all subjects share."""
    return ml.Effect(name, prior=normal(0, 1), **options)


def spread_of(name: str) -> ml.Spread:
    """Declare a half-normal spread of scale 1."""
    return ml.Spread(name, prior=ml.Prior("HalfNormal", sigma=1))


def zero_sum(sigma: object, axes: int = 1) -> ml.Prior:
    """Write a prior of values that sum to zero."""
    return ml.Prior("ZeroSumNormal", sigma=sigma, n_zerosum_axes=axes)


def full_layout() -> ml.Layout:
    """Return a layout with a latent on every kind of plate."""
    of_school = ml.Effect("ofSchool", per=SCHOOL, prior=normal(0, spread_of("schoolSpread")))
    mean = shared("mean") + shared("gain") * TESTS + of_school
    ability = ml.Capability("ability", prior=normal(mean, spread_of("spread")))
    ease = ml.Effect("ease", per="item", prior=zero_sum(spread_of("easeSpread")))
    pair = ml.Effect("pair", per=("subject", TASK), prior=normal(0, spread_of("pairSpread")))
    favour = ml.Effect("favour", per=(SCHOOL, TASK), prior=zero_sum(0.5, axes=2))
    slope = ml.Slope("slope", per=P)
    margin = ability - SIZE + ease + pair + favour
    return ml.Layout("full", ml.Success("solved", logistic(margin, slope)))


def exam_layout() -> ml.Layout:
    """Return a layout of one ability with a weight, and items that sum to zero."""
    mean = shared("mean") + shared("gain") * TESTS
    ability = ml.Capability("ability", prior=normal(mean, spread_of("spread")))
    ease = ml.Effect("ease", per="item", prior=zero_sum(spread_of("easeSpread")))
    return ml.Layout("exam", ml.Success("solved", logistic(ability + ease)))


def random_layout(seed: int) -> ml.Layout:
    """Draw a joint layout: plates, priors, linking functions and labels."""
    rng = np.random.default_rng(seed)

    def either() -> bool:
        return bool(rng.random() < 0.5)

    mean = ml.Effect("mean", per=P, prior=normal(0, 2))
    if either():
        mean = mean + shared("gain") * TESTS
    if either():
        mean = mean + ml.Effect("ofSchool", per=SCHOOL, prior=normal(0, spread_of("schoolSpread")))
    family = rng.choice(["Normal", "Gumbel", "Logistic"])
    scale = spread_of("spread")
    ability = ml.Capability(
        "ability",
        prior={
            "Normal": normal(mean, scale),
            "Gumbel": ml.Prior("Gumbel", mu=mean, beta=scale),
            "Logistic": ml.Prior("Logistic", mu=mean, s=scale),
        }[str(family)],
    )
    margin = ability - SIZE
    plate = [None, "item", TASK][int(rng.integers(3))]
    if plate is not None:
        prior = zero_sum(spread_of("easeSpread")) if either() else normal(0, 1.5)
        margin = margin + ml.Effect("ease", per=plate, prior=prior)
    if either():
        sd = ml.Spread("pairSpread", prior=ml.Prior("Exponential", lam=2))
        margin = margin + ml.Effect("pair", per=("subject", TASK), prior=normal(0, sd))
    slope = ml.Slope("slope", per=P if either() else "subject")
    chance = logistic(margin, slope) if either() else logistic(margin)
    if either():
        skill = ml.Capability(
            "skill", prior=normal(1, spread_of("skillSpread")), labels=("near", "far"), dim="place"
        )
        chance = chance * product(logistic(skill - LOAD), over="place")
    noise = ml.Noise(
        "noise", per=P if either() else "subject", prior=ml.Prior("Beta", alpha=1, beta=4)
    )
    chance = mixture(chance, by=noise, toward=0.5) if either() else guessing(chance, noise)
    return ml.Layout(f"random-{seed}", ml.Success("solved", chance))
