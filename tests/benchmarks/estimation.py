"""Maximum likelihood over the whole line, beside what one would do otherwise.

Run by hand: ``python tests/benchmarks/estimation.py [--quick] [--seeds N ...]``. Prints one JSON
object of ratios measured in this run; exit status 1 when a goal is missed. The battery is the
hardest for its size: no two of its 350 bands are alike, and some are so narrow that their edges are
cliffs.
"""

import time

import numpy as np
import pandas as pd
from battery_cases import Study
from report import report
from running import parse
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import estimate
from measurement_layouts.linking import band
from measurement_layouts.scenarios.figures import Figure

SUBJECTS, ITEMS, REACH = 384, 350, 5.0
SAMPLED = 4  # of the subjects, by NUTS, which takes its time at cliffs
MISSED = 0.01  # nats below the highest maximum


def windows(subjects: int, seed: int) -> Study:
    """Propensities from a normal distribution, in bands with uniform ends."""
    rng = np.random.default_rng(seed)
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=2))
    ends = [ml.MetaFeature(name, low=-REACH, high=REACH) for name in ("lower", "upper")]
    layout = ml.Layout("windows", ml.Success("right", band(risk, *ends)))
    drawn = np.sort(rng.uniform(-REACH, REACH, (ITEMS, 2)), axis=1)
    names = [f"item-{number}" for number in range(ITEMS)]
    items = pd.DataFrame(drawn, names, ["lower", "upper"])
    who = [f"subject-{number:03d}" for number in range(subjects)]
    profiles = pd.DataFrame({"risk": rng.normal(0, 2, subjects)}, who)
    chance = band(profiles.to_numpy(), drawn[:, 0], drawn[:, 1])
    outcomes = pd.DataFrame(rng.binomial(1, chance), who, names)
    return Study(layout, ml.Evaluation.from_wide(outcomes, items), profiles)


def climbed(study: Study, starts: np.ndarray) -> np.ndarray:
    """Climb each subject's likelihood from one start by BFGS; where that ends."""
    low, high = study.evaluation.items.to_numpy().T
    slope = np.exp(2 / np.maximum(high - low, 0.1))
    half = np.maximum(high - low, 0.1) / 2
    centre = (low + high) / 2

    def minus(theta: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
        up, down = (slope * (half + side * (theta - centre)) for side in (1, -1))
        log_p = np.minimum(log_expit(up) + log_expit(down) - 2 * log_expit(slope * half), -1e-12)
        rise = slope * (expit(-up) - expit(-down))
        odds = 1 / np.expm1(-log_p)
        value = np.where(right, log_p, np.log(-np.expm1(log_p))).sum()
        return -value, -np.atleast_1d(np.where(right, rise, -odds * rise).sum())

    outcomes = study.evaluation.successes.to_numpy() > 0
    with np.errstate(over="ignore"):
        found = [
            minimize(minus, [start], args=(right,), jac=True, method="BFGS").x[0]
            for start, right in zip(starts, outcomes, strict=True)
        ]
    return np.array(found)


def timed(call, *given, **options):
    """Call, and say how many seconds it took."""
    start = time.perf_counter()
    found = call(*given, **options)
    return found, time.perf_counter() - start


def measured(quick: bool, seed: int) -> list[Figure]:
    """Measure with one seed."""
    study = windows(48 if quick else SUBJECTS, seed)
    given = study.layout, study.evaluation
    some = study.evaluation.subjects[:SAMPLED]
    quiet = {"seed": seed, "progressbar": False}
    timed(estimate, *given, method="grid", subjects=some[:1], **quiet)  # imports and compilation
    timed(estimate, *given, method="nuts", subjects=some[:1], draws=10, tune=10, **quiet)
    starts = estimate(*given, method="collapse").table["estimate"]
    found, ours = timed(estimate, *given)
    places, one_start = timed(climbed, study, starts.fillna(0.0).to_numpy())
    _, grid = timed(ml.fit, *given, method="grid", **quiet)
    _, nuts = timed(ml.fit, *given, subjects=some, **quiet)
    reached = np.array(
        [found.curves[name](place) for name, place in zip(found.subjects, places, strict=True)]
    )
    highest = found.modes.groupby("subject", sort=False)["log_likelihood"].max().to_numpy()
    missed = float((highest - reached > MISSED).mean())
    count = len(found.subjects)
    each = ours / count
    sound = found.table["identified"]
    table, truth = found.table[sound], study.profiles["risk"].to_numpy()[sound]
    held = ((table["low"] <= truth) & (truth <= table["high"])).mean()
    case = f"{count} subjects, {ITEMS} bands, seed {seed}"
    return [
        Figure(f"{case}: seconds, all maxima", ours, "<=", 10),
        Figure(
            f"{case}: part whose highest maximum one start misses, which is found",
            missed,
            ">",
            0.05,
            "above 0.05: looking everywhere is worth it",
        ),
        Figure(
            f"{case}: part whose maximum is below that of one start",
            float((reached - highest > 1e-6).mean()),
            "==",
            0,
            "none",
        ),
        Figure(
            f"{case}: times faster than climbing from one start",
            one_start / ours,
            ">=",
            0.1,
            "at most ten times the time",
        ),
        Figure(
            f"{case}: times faster than the exact posterior", grid / ours, ">=", 1, "not slower"
        ),
        Figure(
            f"{case}: times faster per subject than NUTS",
            nuts / len(some) / each,
            ">=",
            5,
            "at least 5 times",
        ),
        Figure(
            f"{case}: part of 90 % intervals, hulls of their pieces, that hold the truth",
            float(held),
            ">=",
            0.85,
        ),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the ratios."""
    chosen, start = parse(__doc__, arguments, quick="subjects"), time.perf_counter()
    figures = [figure for seed in chosen.seeds for figure in measured(chosen.quick, seed)]
    return report("estimation", time.perf_counter() - start, figures)


if __name__ == "__main__":
    raise SystemExit(main())
