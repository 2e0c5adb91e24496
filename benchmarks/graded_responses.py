"""How often 90 % intervals of a graded response model hold the true slopes, eases, gaps and traits.

    python benchmarks/graded_responses.py --studies 10

Each study has 400 persons with a normal trait and 15 items of five grades. A grade of at least k
has the log-odds slope * trait + ease - t[k], where the thresholds t differ by the gaps and have a
mean of 0, and the outcomes are drawn by NumPy.
"""

import argparse

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic

_PERSONS, _ITEMS, _STEPS = 400, 15, 4
_OPTIONS = {"draws": 1000, "tune": 500, "chains": 4, "progressbar": False}


def layout() -> ml.Layout:
    """Return the graded response model, with slopes, eases and gaps of each item."""
    gaps = [f"{step}-{step + 1}" for step in range(1, _STEPS)]
    trait = ml.Capability("trait", prior=ml.Prior("Normal", mu=0, sigma=1))
    slope = ml.Slope("slope", per="item", prior=ml.Prior("LogNormal", mu=0, sigma=0.3))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=1))
    gap = ml.Slope("gap", labels=gaps, per="item", prior=ml.Prior("LogNormal", mu=0, sigma=0.4))
    grades = tuple("01234")
    return ml.Layout(
        "graded", ml.Graded("answer", logistic(slope * trait + ease), grades=grades, gap=gap)
    )


def study(seed: int) -> tuple[dict[str, float], str]:
    """Simulate and fit a study; returns the share of intervals that hold, and the status."""
    rng = np.random.default_rng(seed)
    trait, slope = rng.normal(size=_PERSONS), np.exp(rng.normal(0, 0.3, _ITEMS))
    ease = rng.normal(0, 1, _ITEMS)
    gap = np.exp(rng.normal(0, 0.4, (_ITEMS, _STEPS - 1)))
    threshold = np.concatenate([np.zeros((_ITEMS, 1)), np.cumsum(gap, axis=1)], axis=1)
    threshold -= threshold.mean(axis=1, keepdims=True)
    odds = (trait[:, None] * slope + ease)[..., None] - threshold
    drawn = rng.random((_PERSONS, _ITEMS, 1)) < 1 / (1 + np.exp(-odds))
    answers = pd.DataFrame(drawn.sum(axis=2)).rename("person {}".format)
    answers.columns = [f"item {number}" for number in range(_ITEMS)]
    model, items = layout(), pd.DataFrame(index=answers.columns)
    evaluation = ml.Evaluation.of_outcomes(model, {"answer": answers}, items)
    fit = ml.fit(model, evaluation, seed=seed, **_OPTIONS)
    profiles, table = fit.profiles(), fit.items()
    shares = {"trait": _share(profiles, trait)}
    for node, truth in (("slope", slope), ("ease", ease), ("gap", gap)):
        rows = table[table["node"] == node]
        order = rows.assign(row=pd.Index(answers.columns).get_indexer(rows["item"]))
        shares[node] = _share(order.sort_values("row", kind="stable"), truth.ravel())
    return shares, ", ".join(sorted(set(fit.diagnostics()["status"])))


def _share(table: pd.DataFrame, truth: np.ndarray) -> float:
    """Return the share of rows whose interval holds the true value."""
    return float(((table["low"] <= truth) & (truth <= table["high"])).mean())


def main() -> None:
    """Print the coverage of each kind of value, with its standard error over studies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    studies = [study(1000 * chosen.seed + number) for number in range(chosen.studies)]
    for name in studies[0][0]:
        shares = np.array([one[name] for one, _ in studies])
        error = shares.std(ddof=1) / len(shares) ** 0.5
        print(f"{name}: {shares.mean():.3f} of the 90 % intervals hold, se {error:.3f}")
    print("status:", ", ".join(status for _, status in studies))


if __name__ == "__main__":
    main()
