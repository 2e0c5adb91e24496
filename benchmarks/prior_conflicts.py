"""How often a fit calls a prior contradicted: data from the prior, and data that do contradict it.

    python benchmarks/prior_conflicts.py --subjects 2 5 20 --studies 60

Rasch models of small cohorts with default priors. The false alarm rate is the share of shared
values that are named although they were drawn from their priors; it should be about 1 %. In the
second table the true spread of the items' ease is 4, under HalfNormal(1).
"""

import argparse

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic

_SHARED = ("mean", "spread", "easeSpread")


def rasch(narrow: bool) -> ml.Layout:
    """Return a Rasch model with default priors, or with a narrow prior of the eases' spread."""
    given = {"prior": ml.Prior("HalfNormal", sigma=1)} if narrow else {}
    mean, spread = ml.Bias("mean", per="population"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    sums = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread", **given))
    ease = ml.Bias("ease", per="item", prior=sums)
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))


def study(rng: np.random.Generator, subjects: int, items: int, narrow: bool) -> pd.Series:
    """Simulate a study and fit it; returns which shared values are named."""
    mean, spread, apart = rng.normal(0, 2.5), abs(rng.normal(0, 2.5)), abs(rng.normal(0, 2.5))
    if narrow:
        mean, spread, apart = 0.0, 1.0, 4.0
    ease = rng.normal(0, apart, items)
    margin = rng.normal(mean, spread, (subjects, 1)) + ease - ease.mean()
    solved = (rng.random(margin.shape) < 1 / (1 + np.exp(-margin))).astype(int)
    table = pd.DataFrame(solved).rename("subject {}".format).rename(columns="item {}".format)
    evaluation = ml.Evaluation.from_wide(table, pd.DataFrame(index=table.columns))
    seed = int(rng.integers(2**31))
    options = {"draws": 400, "tune": 500, "chains": 2, "seed": seed, "progressbar": False}
    fit = ml.fit(rasch(narrow), evaluation, **options)
    return fit.population().set_index("node")["prior_conflict"].loc[list(_SHARED)]


def main() -> None:
    """Print the rates of each cohort size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subjects", type=int, nargs="+", default=[2, 5, 20])
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for narrow in (False, True):
        print("true spread 4 under HalfNormal(1)" if narrow else "data from the default priors")
        for subjects in asked.subjects:
            rng = np.random.default_rng([asked.seed, subjects])
            named = pd.DataFrame(
                [study(rng, subjects, asked.items, narrow) for _ in range(asked.studies)]
            )
            rates = ", ".join(f"{name} {rate:.3f}" for name, rate in named.mean().items())
            print(f"{subjects} subjects, {len(named)} studies: {rates}", flush=True)


if __name__ == "__main__":
    main()
