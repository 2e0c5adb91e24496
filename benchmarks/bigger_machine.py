"""A joint fit by NumPyro beside one by this library: values, effective draws and seconds.

    python benchmarks/bigger_machine.py [--subjects 200] [--items 200] [--draws 500] [--float32]

An item asks for two abilities, both of which are needed, and has an ease of its own. On a GPU,
`--subjects 1000 --items 1000 --draws 1000 --float32 --alone` samples a million outcomes by NumPyro
alone. Seconds are of the clock, with compilation.
"""

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.inference.sampling.convergence import rhat_ess
from measurement_layouts.linking import logistic


def layout() -> ml.Layout:
    """Return a layout of two needed abilities of a population, and eases of items."""
    by_item = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    ease = ml.Effect("ease", per="item", prior=by_item)
    chances = []
    for name in ("reading", "counting"):
        mean = ml.Effect(f"{name}Mean", prior=ml.Prior("Normal", mu=0, sigma=2))
        about = ml.Prior("Normal", mu=mean, sigma=ml.Spread(f"{name}Spread"))
        demand = ml.MetaFeature(f"{name}Demand", low=-3, high=3)
        chances.append(logistic(ml.Capability(name, prior=about) - demand + ease))
    return ml.Layout("two abilities", ml.Success("solved", chances[0] * chances[1]))


def outcomes(subjects: int, items: int, seed: int) -> ml.Evaluation:
    """Simulate outcomes by NumPy."""
    rng = np.random.default_rng(seed)
    demands = rng.uniform(-3, 1, (2, items))
    abilities, ease = rng.normal([[0.5], [1.0]], 1, (2, subjects)), rng.normal(0, 0.7, items)
    odds = abilities[:, :, None] - demands[:, None] + ease - ease.mean()
    won = rng.random((subjects, items)) < np.prod(1 / (1 + np.exp(-odds)), axis=0)
    named = [f"item {number}" for number in range(items)]
    features = pd.DataFrame(demands.T, named, ["readingDemand", "countingDemand"])
    table = pd.DataFrame(won.astype(int), columns=named).rename("subject {}".format)
    return ml.Evaluation.from_wide(table, features)


def moments(draws: Any) -> np.ndarray:
    """Return mean, standard deviation, bulk and least effective draws by value: (4, values)."""
    values = np.asarray(draws).reshape(*draws.shape[:2], -1)
    effective = rhat_ess(np.moveaxis(values, 2, 0))
    least = np.minimum(effective.ess_bulk, effective.ess_tail)
    return np.stack([values.mean((0, 1)), values.std((0, 1)), effective.ess_bulk, least])


def errors(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of means in Monte Carlo errors."""
    variance = one[1] ** 2 / one[2] + other[1] ** 2 / other[2]
    return float(np.abs((one[0] - other[0]) / np.sqrt(variance)).max())


def main() -> None:
    """Fit by both samplers, and print differences in Monte Carlo errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subjects", type=int, default=200)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--float32", action="store_true", help="numbers of 32 bits")
    parser.add_argument("--alone", action="store_true", help="NumPyro alone")
    chosen = parser.parse_args()
    if chosen.float32:
        import jax
        from pymc.sampling import jax as _sets_64_bits  # noqa: F401

        jax.config.update("jax_enable_x64", False)
    evaluation = outcomes(chosen.subjects, chosen.items, chosen.seed)
    options = {"draws": chosen.draws, "tune": chosen.draws, "seed": chosen.seed, "reruns": 0}
    fitted = {}
    for sampler in ("numpyro",) if chosen.alone else ("numpyro", None):
        started = time.perf_counter()
        fit = ml.fit(layout(), evaluation, sampler=sampler, progressbar=False, **options)
        seconds = time.perf_counter() - started
        fitted[sampler] = {str(name): moments(draws) for name, draws in fit.posterior.items()}
        shared = [values for values in fitted[sampler].values() if values.shape[1] == 1]
        (row,) = fit.diagnostics().to_dict("records")
        print(
            f"{sampler or 'this library'}: {seconds:.0f} s, {row['status']}, R-hat "
            f"{row['rhat']:.4f}, least effective draws of shared values "
            f"{min(values[3, 0] for values in shared):.0f}",
            flush=True,
        )
    if chosen.alone:
        return
    for name, values in fitted["numpyro"].items():
        other = fitted[None][name]
        print(
            f"{name}: {values.shape[1]} values, largest difference of means "
            f"{errors(values, other):.1f} Monte Carlo errors, of standard deviations "
            f"{np.abs(values[1] / other[1] - 1).max():.1%}"
        )


if __name__ == "__main__":
    main()
