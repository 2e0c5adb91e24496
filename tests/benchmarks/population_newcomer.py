"""A newcomer given the fit of the others, against the joint fit of all.

`compare` is a function for the benchmark of populations; run by hand,
``python tests/benchmarks/population_newcomer.py`` does it for a simulated cohort of 40 subjects.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic

SAMPLING = {"draws": 1000, "tune": 1000, "chains": 4, "progressbar": False}


def compare(
    layout: ml.Layout,
    evaluation: ml.Evaluation,
    who: list[str],
    seed: int = 1,
    sampling: Mapping[str, Any] = SAMPLING,
) -> pd.DataFrame:
    """Fit all jointly, and each of some subjects given the fit of all others.

    Parameters
    ----------
    layout : Layout
        A joint one.
    evaluation : Evaluation
        All subjects.
    who : list of str
        Each of whom is the newcomer once.
    seed : int
        Of the fits.
    sampling : mapping
        Options of each joint fit.

    Returns
    -------
    DataFrame
        One row per subject and profile element: ``mean``, ``joint_mean`` and ``joint_sd``,
        ``difference`` of the means and ``error`` of it by Monte Carlo, both in ``joint_sd``,
        ``sd_ratio``,
        and per subject ``seconds`` (of the newcomer, the first one's compilations included),
        ``joint_seconds`` (of the fit of the others) and ``status``.
    """
    jointly = ml.fit(layout, evaluation, seed=seed, **sampling).profiles().set_index("subject")
    found = []
    for subject in who:
        rest = [name for name in evaluation.subjects if name != subject]
        start = time.perf_counter()
        others = ml.fit(layout, evaluation.select(subjects=rest), seed=seed + 1, **sampling)
        middle = time.perf_counter()
        alone = others.newcomer(evaluation.select(subjects=[subject]))
        end = time.perf_counter()
        ours, theirs = alone.profiles(), jointly.loc[[subject]].reset_index()
        rows = pd.DataFrame(
            {
                "subject": subject,
                "element": ours["node"] + ours["label"],
                "mean": ours["mean"],
                "joint_mean": theirs["mean"],
                "joint_sd": theirs["sd"],
                "difference": (ours["mean"] - theirs["mean"]) / theirs["sd"],
                "error": np.sqrt(1 / ours["ess_bulk"] + 1 / theirs["ess_bulk"]),
                "sd_ratio": ours["sd"] / theirs["sd"],
                "seconds": end - middle,
                "joint_seconds": middle - start,
                "status": alone.diagnostics()["status"].iloc[0],
            }
        )
        found.append(rows)
    return pd.concat(found, ignore_index=True)


def figures(compared: pd.DataFrame) -> dict[str, float]:
    """Say how far newcomers are from the joint fit, and how long they take.

    ``rms`` of the differences (goal: at most .1 posterior sd), ``beyond``: how many are farther
    than .1 sd and 4 Monte Carlo errors (goal: none), ``seconds`` a subject: median and longest
    (goal: at most 1).
    """
    seconds = compared.groupby("subject")["seconds"].first()
    beyond = compared["difference"].abs() > 0.1 + 4 * compared["error"]
    return {
        "newcomers": float(len(seconds)),
        "rms": float((compared["difference"] ** 2).mean() ** 0.5),
        "largest": float(compared["difference"].abs().max()),
        "beyond": float(beyond.sum()),
        "seconds": float(seconds.median()),
        "longest": float(seconds.max()),
    }


def explanatory() -> ml.Layout:
    """Abilities about a mean that a covariate moves; items of their own ease."""
    tests = ml.MetaFeature("tests", low=-4, high=4, per="subject")
    mean, gain = ml.Bias("mean", per="population"), ml.Bias("gain", per="population")
    about = ml.Prior("Normal", mu=mean + gain * tests, sigma=ml.Spread("spread"))
    effects = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    margin = ml.Capability("ability", prior=about) + ml.Bias("ease", per="item", prior=effects)
    return ml.Layout("explanatory", ml.Success("solved", logistic(margin)))


def simulated(subjects: int = 40, items: int = 12, seed: int = 1) -> ml.Evaluation:
    """Draw outcomes from that layout."""
    rng = np.random.default_rng(seed)
    names = [f"subject {place}" for place in range(subjects)]
    people = pd.DataFrame({"tests": rng.normal(size=subjects).clip(-3.9, 3.9)}, names)
    ability = 0.7 * people["tests"].to_numpy() + rng.normal(size=subjects)
    chance = 1 / (1 + np.exp(-ability[:, None] - rng.normal(size=items)))
    table = pd.DataFrame(rng.random(chance.shape) < chance, index=names).astype(int)
    table = table.rename(columns="item {}".format)
    return ml.Evaluation.from_wide(table, pd.DataFrame(index=table.columns), subjects=people)


if __name__ == "__main__":
    evaluation = simulated()
    for name, value in figures(
        compare(explanatory(), evaluation, evaluation.subjects[:20])
    ).items():
        print(f"{name}: {value:.3g}")
