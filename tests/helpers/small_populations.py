"""Small joint layouts, cohorts, fits of given draws, and tables of effects computed by hand."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.inference.posterior.assembly import Training, Tried, assemble, marks
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.layouts.plates import plate_name
from measurement_layouts.linking import logistic

POPULATION = "population"


def normal(mu, sigma):
    """Write a normal prior."""
    return ml.Prior("Normal", mu=mu, sigma=sigma)


def rasch():
    """Abilities with a mean and a spread of their own, and an ease of each item."""
    mean, spread = ml.Bias("mean", per=POPULATION), ml.Spread("spread")
    ability = ml.Capability("ability", prior=normal(mean, spread))
    zero_sum = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    ease = ml.Bias("ease", per="item", prior=zero_sum)
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))


def schools():
    """A covariate, schools, tasks, demands, and what schools have on tasks."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    size = ml.MetaFeature("size", low=0, high=2)
    school, task = ml.Category("school", per="subject"), ml.Category("task")
    of_school = ml.Bias("ofSchool", per=school, prior=normal(0, ml.Spread("schoolSpread")))
    mean, gain = ml.Bias("mean", per=POPULATION), ml.Bias("gain", per=POPULATION)
    location = mean + gain * tests + of_school
    ability = ml.Capability("ability", prior=normal(location, ml.Spread("spread")))
    liking = ml.Bias("liking", per=("subject", task))
    favour = ml.Bias("favour", per=(school, task), prior=normal(0, 0.5))
    margin = ability - size + liking + favour
    return ml.Layout("schools", ml.Success("solved", logistic(margin)))


def cohort(subjects=12, items=7, seed=1):
    """Make up who they are, what they are asked and how they do; nobody is all right or wrong."""
    rng = np.random.default_rng(seed)
    who, what = [f"s{k:03d}" for k in range(subjects)], [f"i{k:03d}" for k in range(items)]
    columns = {"size": rng.uniform(0, 2, items), "task": np.resize(["a", "b", "b"], items)}
    own = {
        "tests": rng.normal(size=subjects).clip(-2.9, 2.9),
        "school": np.resize(["x", "y", "z"], subjects),
    }
    outcomes = rng.integers(0, 2, (subjects, items)).astype(float)
    outcomes[:, 0], outcomes[:, 1] = 0, 1
    return ml.Evaluation.from_wide(
        pd.DataFrame(outcomes, who, what),
        pd.DataFrame(columns, what),
        subjects=pd.DataFrame(own, who),
    )


def crafted(layout, evaluation, draws):
    """Make a joint fit from given draws: by latent, (chain, draw, *plates, *labels).

    Latents that are not given have draws of a standard normal or half-normal distribution.
    """
    known = Cohort.of_evaluation(layout, evaluation)
    chains, length = next(iter(draws.values())).shape[:2]
    rng, posterior = np.random.default_rng(7), {}
    for latent in layout.latents:
        plates = [plate_name(plate) for plate in latent.plates]
        shape = (chains, length, *known.size(latent.plates), *map(len, latent.dims.values()))
        values = draws.get(latent.name)
        if values is None:
            values = rng.normal(size=shape)
            values = values if latent.range.low < 0 else abs(values)
        first = 2 + plates.index("subject") if "subject" in plates else None
        assert values.shape == shape, latent.name
        posterior[latent.name] = values if first is None else np.moveaxis(values, first, 0)
    who = evaluation.subjects
    tree = assemble(
        layout,
        Training.of(layout, known.features, evaluation),
        {name: drawn[None] for name, drawn in draw_prior(layout).items()},
        posterior,
        {"diverging": np.zeros((len(who), chains, length), dtype=bool)},
        marks(layout, SamplingOptions(draws=length, tune=1, chains=chains), 1, "nuts"),
        {subject: Tried(1, None) for subject in who},
        known,
    )
    return ml.Fit.of(tree)


def effects(fit, of_items):
    """Summarise what items, or all subjects, have: a row per value, intervals of 90 %.

    Levels stand in a column for each plate, or in a single one.
    """
    rows = []
    for latent in fit.layout.latents:
        roots = {plate if isinstance(plate, str) else plate.root for plate in latent.plates}
        if "subject" in map(plate_name, latent.plates) or ("item" in roots) != of_items:
            continue
        drawn = fit.posterior[latent.name].transpose("chain", "draw", ...)
        dims, values = drawn.dims[2:], drawn.to_numpy()
        values = values.reshape(-1, *values.shape[2:])
        for place in np.ndindex(values.shape[1:]):
            own = values[:, *place]
            at = {dim: str(drawn[dim].to_numpy()[k]) for dim, k in zip(dims, place, strict=True)}
            levels = at if of_items else {"level": ", ".join(at.values())}
            low, high = np.quantile(own, [0.05, 0.95])
            numbers = {"mean": own.mean(), "sd": own.std(ddof=1), "low": low, "high": high}
            rows.append({"node": latent.name, "label": "", **levels, **numbers})
    return pd.DataFrame(rows)
