"""How often 90 % intervals hold a known truth, per element of the profile.

Three truths: the published profiles (the simulated cohorts), and profiles from the prior, with
the noise pulling towards a half and with the published pull.
"""

import time

import numpy as np
import pandas as pd
from report import report
from running import parse

import measurement_layouts as ml
from measurement_layouts.linking import mixture
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from measurement_layouts.scenarios.figures import Figure

MASS = 0.9
COHORTS, SUBJECTS = 4, 1000


def slack(intervals):
    """Three binomial standard errors: four elements raise a false alarm in 1 % of seeds."""
    return 3 * np.sqrt(MASS * (1 - MASS) / intervals)


def recovered(layout, evaluation, profiles, seed):
    """Intervals of every profile element, beside its truth."""
    fit = ml.fit(layout, evaluation, draws=1000, tune=500, chains=2, seed=seed, progressbar=False)
    truth = profiles.rename_axis(index="subject", columns="node").stack()
    return fit.profiles(prob=MASS).set_index(["subject", "node"]).assign(truth=truth, seed=seed)


def coverage(table, truth):
    """Part of the intervals that hold the truth, by element."""
    return ((table["low"] <= truth) & (truth <= table["high"])).groupby("node").mean()


def of_the_cohorts(first):
    """Recover the published profiles from several simulated cohorts."""
    layout, parts = aaio.published_layout(), []
    for seed in range(first, first + COHORTS):
        cohort = aaio.simulated_cohort(seed)
        parts.append(recovered(layout, cohort.evaluation, cohort.profiles, seed))
    return pd.concat(parts)


def of_the_prior(layout, seed):
    """Recover profiles that were drawn from the published layout's prior."""
    rng = np.random.default_rng(11 + seed)
    profiles = pd.DataFrame(
        {
            "navigationAbility": rng.uniform(0, 5.3, SUBJECTS),
            "rightLeftBias": rng.normal(size=SUBJECTS),
            "visualAbility": rng.uniform(0, 1.9, SUBJECTS),
            "noiseLevel": rng.uniform(0, 1, SUBJECTS),
        },
        index=[f"drawn-{number}" for number in range(SUBJECTS)],
    )
    evaluation = ml.simulate(layout, aaio.battery(), profiles, seed=1 + seed)
    return recovered(layout, evaluation, profiles, seed)


def towards_a_half():
    """The published layout, but for what its noise pulls towards."""
    nodes = aaio.published_layout().nodes
    performance = nodes["navigationPerformance"] * nodes["visualPerformance"]
    outcome = ml.Success("taskPerformance", mixture(performance, nodes["noiseLevel"], toward=0.5))
    return ml.Layout("noise towards a half", outcome)


def measured(seed):
    """Say how often intervals hold the truth, with one seed."""
    figures = []
    for truth, table, least_only in (
        ("published profiles", of_the_cohorts(seed), True),
        (
            "profiles from the prior, noise towards a half",
            of_the_prior(towards_a_half(), seed),
            False,
        ),
        (
            "profiles from the prior, published pull",
            of_the_prior(aaio.published_layout(), seed),
            False,
        ),
    ):
        held = coverage(table, table["truth"])
        limit = slack(len(table) / len(held))
        for node, part in held.items():
            name = f"{truth}, seed {seed}: {node}, part of 90 % intervals that hold the truth"
            goal = f"at least {MASS - limit:.3f}: 0.9 within Monte Carlo error"
            figures.append(Figure(name, float(part), ">=", MASS - limit, goal))
            if not least_only:
                goal = f"at most {MASS + limit:.3f}: 0.9 within Monte Carlo error"
                figures.append(Figure(name, float(part), "<=", MASS + limit, goal))
    return figures


def main(arguments=None):
    """Print the coverages; the published pull is expected to fall short, see `mixture`."""
    chosen, start = parse(__doc__, arguments), time.perf_counter()
    figures = [figure for seed in chosen.seeds for figure in measured(seed)]
    return report("recovery", time.perf_counter() - start, figures)


if __name__ == "__main__":
    raise SystemExit(main())
