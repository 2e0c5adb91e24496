"""Joint fits of given draws, without sampling, and the layouts that they are of."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers.populations import normal, shared, spread_of
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference.fit import Fit
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.families import from_scores
from measurement_layouts.inference.posterior.assembly import data_jointly
from measurement_layouts.inference.sampling.draws import Draws, SamplingOptions, Unit
from measurement_layouts.inference.sampling.nuts import STATISTICS
from measurement_layouts.layouts.plates import plate_name
from measurement_layouts.linking import logistic


def at_the_median(
    name: str, prior: ml.Prior, parameters: dict[str, np.ndarray], scores: np.ndarray
) -> np.ndarray:
    """Give every new level the median of its prior: the twin of a forecast that averages."""
    return from_scores(name, prior, parameters, np.zeros_like(scores))


def crafted(
    layout: ml.Layout,
    evaluation: ml.Evaluation,
    draws: dict[str, np.ndarray],
    chains: int = 4,
    seed: int = 1,
) -> Fit:
    """Make a fit of given draws, each of shape (draws, levels..., labels...)."""
    data = data_jointly(Cohort.of_evaluation(layout, evaluation))
    each = len(next(iter(draws.values()))) // chains
    options = SamplingOptions(draws=each, chains=chains)
    with Store.open(None, layout, data, options, seed, reruns=0) as store:
        for chain in range(chains):
            rows = slice(chain * each, (chain + 1) * each)
            statistics = {name: np.zeros((1, each)) for name in STATISTICS.values()}
            statistics["diverging"] = np.zeros((1, each), dtype=bool)
            values = {name: of[rows][None] for name, of in draws.items()}
            store.add(Unit(0, 1, chain), Draws(values, statistics))
        return Fit.of(store.posterior())


def random_draws(
    layout: ml.Layout, evaluation: ml.Evaluation, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Make up draws: normal ones, positive where a latent is; their sums are not zero."""
    rng = np.random.default_rng(seed)
    levels = Cohort.of_evaluation(layout, evaluation).levels
    found = {}
    for latent in layout.latents:
        counts = [len(levels[plate_name(plate)]) for plate in latent.plates]
        values = rng.normal(size=(draws, *counts, *map(len, latent.dims.values())))
        found[latent.name] = np.exp(0.3 * values) if latent.range.low == 0 else values
    return found


def rasch(zero_sum: bool = True) -> ml.Layout:
    """Subjects with a mean and a spread, items with a spread: log-odds are ability and ease."""
    spread = spread_of("easeSpread")
    ability = ml.Capability("ability", prior=normal(shared("mean"), spread_of("spread")))
    prior = ml.Prior("ZeroSumNormal", sigma=spread) if zero_sum else normal(0, spread)
    ease = ml.Effect("ease", per="item", prior=prior)
    return ml.Layout("rasch", ml.Success("solved", logistic(ability + ease)))


def schooled() -> ml.Layout:
    """Covariate and school of subjects, tasks of items, and an interaction of subject and task."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    school, task = ml.Category("school", per="subject"), ml.Category("task")
    of_school = ml.Effect("ofSchool", per=school, prior=normal(0, spread_of("schoolSpread")))
    gain = shared("gain")
    ability = ml.Capability("ability", prior=normal(gain * tests + of_school, spread_of("spread")))
    of_task = ml.Effect("ofTask", per=task, prior=normal(0, spread_of("taskSpread")))
    liking = ml.Effect("liking", per=("subject", task), prior=normal(0, 0.5))
    size = ml.MetaFeature("size", low=0, high=2)
    return ml.Layout("school", ml.Success("solved", logistic(ability - size + of_task + liking)))


def outcomes(subjects: int, items: int, seed: int = 0) -> pd.DataFrame:
    """Draw successes, named s0, s1, ... and i0, i1, ..., with one cell nobody attempted."""
    rng = np.random.default_rng(seed)
    solved = (rng.random((subjects, items)) < 0.5).astype(float)
    solved[0, 0] = np.nan
    return pd.DataFrame(
        solved, [f"s{row}" for row in range(subjects)], [f"i{row}" for row in range(items)]
    )


def evaluation_of(subjects: int, items: int) -> ml.Evaluation:
    """Draw an evaluation with all the properties that these layouts ask for."""
    table, rng = outcomes(subjects, items), np.random.default_rng(5)
    what = pd.DataFrame(
        {"size": rng.uniform(0, 2, items), "task": ["ab"[row % 2] for row in range(items)]},
        index=table.columns,
    )
    who = pd.DataFrame(
        {
            "tests": rng.normal(size=subjects).clip(-3, 3),
            "school": ["xyz"[row % 3] for row in range(subjects)],
        },
        index=table.index,
    )
    return ml.Evaluation.from_wide(table, what, subjects=who)
