"""A newcomer given the fit of the others, against the joint fit of all."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers.populations import shared, spread_of
from measurement_layouts.linking import logistic


def compare(
    layout: ml.Layout,
    evaluation: ml.Evaluation,
    who: list[str],
    sampling: Mapping[str, Any],
    seed: int = 1,
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
    sampling : mapping
        Options of each joint fit.
    seed : int
        Of the fits.

    Returns
    -------
    DataFrame
        One row per subject and profile element: ``mean``, ``joint_mean`` and ``joint_sd``,
        ``difference`` of the means and ``error`` of it by Monte Carlo, both in ``joint_sd``,
        ``sd_ratio``, and per subject ``status``.
    """
    jointly = ml.fit(layout, evaluation, seed=seed, **sampling).profiles().set_index("subject")
    found = []
    for subject in who:
        rest = [name for name in evaluation.subjects if name != subject]
        others = ml.fit(layout, evaluation.select(subjects=rest), seed=seed + 1, **sampling)
        alone = others.newcomer(evaluation.select(subjects=[subject]))
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
                "status": alone.diagnostics()["status"].iloc[0],
            }
        )
        found.append(rows)
    return pd.concat(found, ignore_index=True)


def figures(compared: pd.DataFrame) -> dict[str, float]:
    """Say how far newcomers are from the joint fit.

    ``rms`` of the differences (goal: at most .1 posterior sd), ``beyond``: how many are farther
    than .1 sd and 4 Monte Carlo errors (goal: none).
    """
    beyond = compared["difference"].abs() > 0.1 + 4 * compared["error"]
    return {
        "newcomers": float(compared["subject"].nunique()),
        "rms": float((compared["difference"] ** 2).mean() ** 0.5),
        "beyond": float(beyond.sum()),
    }


def explanatory() -> ml.Layout:
    """Abilities about a mean that a covariate moves; items of their own ease."""
    tests = ml.MetaFeature("tests", low=-4, high=4, per="subject")
    mean, gain = shared("mean"), shared("gain")
    about = ml.Prior("Normal", mu=mean + gain * tests, sigma=spread_of("spread"))
    effects = ml.Prior("ZeroSumNormal", sigma=spread_of("easeSpread"))
    margin = ml.Capability("ability", prior=about) + ml.Effect("ease", per="item", prior=effects)
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
