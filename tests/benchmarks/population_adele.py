"""Twelve language models on one scale: do abilities order as accuracy does, and what repeats?

The layout is `adele.population_layout`, the cohort a sample of the labelled items on which none of
its forms was chosen (`population_data.labelled`); halves are of all 3,328 items, since those of the
sample are too short to tell 18 abilities apart. Abilities are posterior means, one for each of 18
dimensions and each model.

- **Order**: Spearman's correlation of a model's mean ability with its accuracy.
- **Halves**: items are dealt to two halves at random, and each is fitted. Of each model, the rank
  correlation of its 18 abilities between the halves; the mean over the models. The dimensions' own
  levels, which all models share, count in it; without them (each dimension's mean over the models
  taken away) what repeats is the model's own. Beside both stands the ceiling: the same of outcomes
  that are simulated from the layout with the values that the whole fit found.
- **A benchmark left out**: correlation of the models' mean abilities with those of the whole fit.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from lines import Line, at_least, at_most
from population_data import labelled
from scipy.stats import spearmanr

import measurement_layouts as ml
from measurement_layouts.scenarios import adele

EVERY_ITEM, SAMPLE, FEW = 3_328, 800, 400
ORDER, WITHIN, STABLE = 0.9, 0.6, 0.9
LENGTH = {"draws": 300, "tune": 400, "chains": 2}
QUICK = {"draws": 100, "tune": 200, "chains": 2}
LARGEST_RHAT = 1.05


def abilities(quick: bool, seed: int) -> list[Line]:
    """Fit all items, halves of them, simulated halves, and all but one benchmark."""
    length = QUICK if quick else LENGTH
    whole = labelled(FEW if quick else SAMPLE).evaluation

    def fitted(evaluation: ml.Evaluation) -> ml.Fit:
        return ml.fit(
            adele.population_layout(), evaluation, seed=seed, progressbar=False, n_jobs=2, **length
        )

    fit = fitted(whole)
    found, success = table(fit), whole.success_rates()
    case = _case(whole)
    lines = [
        at_least(
            case,
            "Spearman's correlation of mean ability and accuracy",
            order(found, success),
            ORDER,
            "",
            ours=_said(found.mean(axis=1)),
        ),
        at_most(case, "largest R-hat of abilities", float(_rhat(fit)), LARGEST_RHAT, "", ours=""),
    ]
    everything = whole if quick else labelled(EVERY_ITEM).evaluation
    lines += _halves(fitted, everything, fit if quick else fitted(everything), seed)
    for benchmark in list(whole.items["benchmark"].unique())[: 2 if quick else None]:
        rest = whole.items.index[whole.items["benchmark"] != benchmark]
        without = table(fitted(whole.select(items=rest)))
        lines.append(
            at_least(
                f"{case}, without {benchmark}",
                "correlation of mean abilities with those of all",
                order(without, found.mean(axis=1)),
                STABLE,
                "",
                ours=f"with accuracy on all {order(without, success):.2f}; "
                f"within subjects {np.mean(within(without, found)):.2f}",
            )
        )
    return lines


def _case(evaluation: ml.Evaluation) -> str:
    return f"abilities of the twelve ADeLe models, {len(evaluation.items)} items"


def _halves(
    fitted: Callable[[ml.Evaluation], ml.Fit], whole: ml.Evaluation, fit: ml.Fit, seed: int
) -> list[Line]:
    """Compare halves of the items, real outcomes and simulated ones."""
    truth = fit.data["posterior"].to_dataset().mean(("chain", "draw"))
    simulated = ml.simulate(fit.layout, whole.items, truth, seed=seed)
    order_of = np.random.default_rng(seed).permutation(len(whole.items))
    parts = [np.sort(order_of[first::2]) for first in (0, 1)]
    said: dict[str, dict[str, float]] = {}
    for name, evaluation in (("real", whole), ("simulated", simulated)):
        one, other = (
            table(fitted(evaluation.select(items=whole.items.index[part]))) for part in parts
        )
        said[name] = {
            "all": float(np.mean(within(one, other))),
            "own": float(np.mean(within(own_part(one), own_part(other)))),
        }
    return [
        at_least(
            f"{_case(whole)}, two halves",
            f"rank correlation of abilities within subjects{what}",
            said["real"][which],
            WITHIN if which == "all" else 0.0,
            "",
            ours=f"ceiling, simulated {said['simulated'][which]:.2f}",
        )
        for which, what in (("all", ""), ("own", ", without the dimensions' own levels"))
    ]


def table(fit: ml.Fit) -> pd.DataFrame:
    """Mean abilities, a row per subject, a column per dimension."""
    found: pd.DataFrame = fit.posterior["ability"].mean(("chain", "draw")).to_pandas()
    return found


def order(found: pd.DataFrame, beside: pd.Series) -> float:
    """Spearman's correlation of mean abilities with another number of each subject."""
    means = found.mean(axis=1)
    return float(spearmanr(means, beside[means.index]).statistic)


def within(one: pd.DataFrame, other: pd.DataFrame) -> list[float]:
    """Rank correlations over the dimensions, one for each subject."""
    return [float(spearmanr(one.loc[name], other.loc[name]).statistic) for name in one.index]


def own_part(found: pd.DataFrame) -> pd.DataFrame:
    """Take each dimension's mean over the subjects away."""
    return found - found.mean()


def _rhat(fit: ml.Fit) -> float:
    profiles = fit.profiles()
    return float(profiles.loc[profiles["node"].str.startswith("ability"), "rhat"].max())


def _said(means: pd.Series) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in means.sort_values().items())
