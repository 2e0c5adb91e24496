"""Published tables of the general scales, compared with the obtained ones."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ....evaluations.evaluation import Evaluation
from ...figures import Figure, Relation, Reproduction
from ...scenario import Scenario
from ..battery import ITEMS, battery
from ..light import PUBLISHED_SIZE, light
from .assessed import (
    FITTING,
    FOREST,
    LAYOUT,
    REGRESSION,
    SCORES,
    SPLITS,
    by_method,
    by_subject,
    published_scores,
    real_assessment,
    simulated_assessment,
)
from .comparable import by_model, fitted, judge_comparable, sampled, without_each
from .estimates import estimates
from .importance import importances, judge_importance, with_correlations
from .mixes import mixes
from .real import abilities, agreement, compared_layouts
from .recovery import by_dimension, recovery

RECOMMENDED = "recommended layout"
_NEAR = 0.01  # largest difference from independent forests and regressions on the same items
_ELSEWHERE = {
    # forests of 200 trees that split 50 items, and unscaled regressions
    ("in distribution", FOREST): {"auroc": 0.764, "ece": 0.014, "brier": 0.152},
    ("in distribution", REGRESSION): {"auroc": 0.747, "ece": 0.021, "brier": 0.155},
    ("benchmark OOD", FOREST): {"auroc": 0.647, "ece": 0.097, "brier": 0.183},
    ("benchmark OOD", REGRESSION): {"auroc": 0.659, "ece": 0.086, "brier": 0.180},
}
_BEHIND = 0.01  # largest loss of AUROC of the layout in distribution
_SLIGHT = 0.05  # negligible bias in levels, and negligible error of a coverage
_ERRORS = 4  # number of standard errors
_ALMOST = 0.1  # largest change of a mean ability with the mix of demands, in levels
_PART = 0.1  # largest relative difference from the published number of items kept


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Assess real and simulated subjects, and compare layouts with forests and published tables.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data, published : Path
        Folders of the labelled items (or the one that the environment names) and of published
        tables.

    Raises
    ------
    DataError
        When either cannot be read; before anything is estimated.
    """
    evaluation = scenario.load(data)
    theirs = {split: published_scores(published, split) for split in SPLITS}
    figures, tables = [], {}
    for split, scores in theirs.items():
        assessment = real_assessment(evaluation, split)
        means = by_method(assessment, scores)
        tables[f"12 real subjects, 3,328 items, {split}"] = means
        tables[f"each real subject, {split}"] = by_subject(assessment, scores)
        figures += judge_split(means, split)
    for split, scores in theirs.items():
        assessment = simulated_assessment(split)
        means = by_method(assessment, scores)
        tables[f"15 subjects, SIMULATED outcomes and levels, {split}"] = means
        tables[f"each SIMULATED subject, {split}"] = by_subject(assessment, scores)
        figures += judge_simulated(means, split)
    found = abilities(evaluation)
    tables["layouts by leave-one-out, real outcomes of four subjects"] = compared_layouts(
        evaluation
    )
    for by in ("dimension", "subject"):
        tables[f"real abilities by {by}, layout and curves"] = agreement(found, by)
    for study in (real_importances(evaluation), one_population(evaluation), simulation_studies()):
        figures += study[0]
        tables |= study[1]
    return Reproduction(figures, tables)


def real_importances(evaluation: Evaluation) -> tuple[list[Figure], dict[str, pd.DataFrame]]:
    """Compute the importances of dimensions for the assessors of the real models.

    Returns
    -------
    list of Figure, dict of str to DataFrame
        Figures with their goals, and the tables behind them.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16.
    """
    found = importances(evaluation)
    table = with_correlations(found, evaluation)
    return judge_importance(table), {
        "real items: rise of the Brier score when a dimension is shuffled": table,
        "real items: do folds choose the same dimensions": found.stability,
    }


def one_population(evaluation: Evaluation) -> tuple[list[Figure], dict[str, pd.DataFrame]]:
    """Estimate the real models' abilities on one scale, also without each benchmark.

    Returns
    -------
    list of Figure, dict of str to DataFrame
        Figures with their goals, and the tables behind them.
    """
    sample = sampled(evaluation)
    whole = fitted(sample)
    models, without = by_model(whole, sample), without_each(whole, sample)
    count = f"{len(sample.items)} real items"
    return judge_comparable(models, without), {
        f"{count}: abilities in one population, and by curves": models,
        f"{count}: abilities without each benchmark": without,
    }


def simulation_studies() -> tuple[list[Figure], dict[str, pd.DataFrame]]:
    """Simulate subjects with known abilities: recovery, another mix of demands, fewer items.

    Returns
    -------
    list of Figure, dict of str to DataFrame
        Figures with their goals, and the tables behind them.

    References
    ----------
    General scales paper, sections 2.2, 3.3, 5.7 and 5.8.
    """
    table = estimates()
    recovered, mixed = recovery(table), mixes()
    flat = recovered.set_axis(recovered.index.map(", ".join).rename("battery, method, abilities"))
    bias = by_dimension(table)
    bias.columns = bias.columns.map(", ".join)
    return (
        [
            *judge_recovery(recovered),
            *judge_mixes(mixed),
            judge_light(len(light(battery()))),
        ],
        {
            "SIMULATED subjects: estimated abilities against true ones": flat,
            "SIMULATED subjects: bias by dimension, battery and method": bias,
            "SIMULATED subjects: five times the odds of level 5": mixed,
        },
    )


def judge_split(means: pd.DataFrame, split: str) -> list[Figure]:
    """Compare the layout with forest and regression on real items.

    Parameters
    ----------
    means : DataFrame
        Result of `assessed.by_method`.
    split : str
        One of `assessed.SPLITS`.
    """
    numbers = means.to_dict("index")
    ours, rivals = numbers[LAYOUT], {name: numbers[name] for name in (FOREST, REGRESSION)}
    figures = []
    for score in SCORES:
        others = {name: rival[score] for name, rival in rivals.items()}
        said = ", ".join(f"{name} {value:.4f}" for name, value in others.items())
        name = f"real items, {split}: {score.upper()} of the {LAYOUT} ({said})"
        relation, bound, goal = _goal(score, others, split)
        figures.append(Figure(name, ours[score], relation, bound, goal))
    for method, scores in rivals.items():
        known = _ELSEWHERE.get((split, method))
        if known:
            apart = max(abs(scores[score] - value) for score, value in known.items())
            figures.append(
                Figure(
                    f"real items, {split}: {method}, largest difference to "
                    f"{', '.join(f'{score.upper()} {value}' for score, value in known.items())} "
                    "of scikit-learn alone",
                    apart,
                    "<=",
                    _NEAR,
                    published=0,
                )
            )
    return figures


def judge_simulated(means: pd.DataFrame, split: str) -> list[Figure]:
    """Compare the layout with the form of the simulated outcomes with the forest."""
    numbers = means.to_dict("index")
    ours, forest = numbers[FITTING], numbers[FOREST]
    return [
        Figure(
            f"SIMULATED items, {split}: {score.upper()} of {FITTING} ({FOREST} "
            f"{forest[score]:.4f}); the data are of the layout's own form",
            ours[score],
            ">=" if score == "auroc" else "<=",
            forest[score],
            "at least the forest's" if score == "auroc" else "at most the forest's",
        )
        for score in SCORES
    ]


def judge_recovery(recovered: pd.DataFrame) -> list[Figure]:
    """Judge the recovery of known abilities; `recovered` is the result of `recovery.recovery`."""
    rows = recovered.to_dict("index")
    curves = rows["correlated", "curves", "all"]
    figures = [
        Figure(
            "SIMULATED subjects, correlated demands: bias of abilities by curves, in levels "
            f"(bias of the values that they aim at: {curves['aim_bias']:.2f}; "
            f"{curves['coverage']:.0%} of 90 % intervals contain the true value)",
            curves["bias"],
            "<",
            0,
            "below 0: reported as it is",
        )
    ]
    for demands, method, which in (
        ("isolated", "curves", "up to 5"),
        ("isolated", "layout, general level", "all"),
        ("correlated", "layout, general level", "all"),
    ):
        row = rows[demands, method, which]
        name = f"SIMULATED subjects, {demands} demands, {method}"
        limit = max(_ERRORS * row["bias_se"], _SLIGHT)
        goal = f"at most {limit:.2f}: {_ERRORS} standard errors, or {_SLIGHT}"
        bias, off = abs(row["bias"]), abs(row["coverage"] - 0.9)
        figures += [
            Figure(f"{name}: absolute bias in levels", bias, "<=", limit, goal),
            Figure(f"{name}: coverage of 90 % intervals, distance from 0.9", off, "<=", _SLIGHT),
        ]
    return figures


def judge_mixes(mixed: pd.DataFrame) -> list[Figure]:
    """Judge the changes with the mix of demands; `mixed` is the result of `mixes.mixes`."""
    change = mixed["change"].to_dict()
    return [
        Figure(
            "SIMULATED subjects: change of mean accuracy with five times the odds of level 5",
            change["accuracy"],
            "<",
            -_ALMOST,
            f"falls by more than {_ALMOST}",
        ),
        *(
            Figure(
                f"SIMULATED subjects: absolute change of mean ability by {name}, in levels",
                abs(change[name]),
                "<=",
                _ALMOST,
            )
            for name in ("curves", "layout")
        ),
    ]


def judge_light(kept: int) -> Figure:
    """Compare the number of simulated items without redundant ones with the published number."""
    return Figure(
        f"SIMULATED battery: items kept of {ITEMS:,}, relative to the published {PUBLISHED_SIZE:,}",
        abs(kept / PUBLISHED_SIZE - 1),
        "<=",
        _PART,
        "within a tenth",
        published=1,
    )


def _goal(score: str, others: Mapping[str, float], split: str) -> tuple[Relation, float, str]:
    """Return the goal of a score of the layout."""
    if score != "auroc":
        return "<=", min(others.values()), "not above either"
    if SPLITS[split] is None:
        return ">=", others[FOREST] - _BEHIND, f"at least the forest's less {_BEHIND}"
    return ">", max(others.values()), "above both"
