"""Published tables of the general scales, compared with the obtained ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from ....batteries.characteristic import characteristic_curves
from ....evaluations.evaluation import Evaluation
from ....inference.fitting import fit
from ....layouts import Layout
from ....validation.leave_one_out.compare import compare_layouts
from ...figures import Figure, Relation, Reproduction
from ...scenario import Scenario
from ..battery import ITEMS, battery
from ..layouts import LAYOUTS, additive_layout, capability_layout
from ..light import PUBLISHED_SIZE, light
from ..scales import DEMANDS
from .assessed import (
    FOREST,
    LAYOUT,
    REGRESSION,
    SCORES,
    SPLITS,
    by_method,
    by_subject,
    prepared,
    published_scores,
    real_assessment,
)
from .comparable import by_model, fitted, judge_comparable, sampled, without_each
from .importance import importances, judge_importance, with_correlations

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
_PART = 0.1  # largest relative difference from the published number of items kept


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Assess the real subjects, and compare layouts with forests and published tables.

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
    found = abilities(evaluation)
    tables["layouts by leave-one-out, real outcomes of four subjects"] = compared_layouts(
        evaluation
    )
    for by in ("dimension", "subject"):
        tables[f"real abilities by {by}, layout and curves"] = agreement(found, by)
    for study in (real_importances(evaluation), one_population(evaluation)):
        figures += study[0]
        tables |= study[1]
    return Reproduction([*figures, judge_light(len(light(battery())))], tables)


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
    table = with_correlations(importances(evaluation), evaluation)
    name = "real items: rise of the Brier score when a dimension is shuffled"
    return judge_importance(table), {name: table}


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


COMPARED = ("GPT-4o", "LLaMA-3.2-3B-Instruct", "DK-R1-Dist-Qwen-7B", "Davinci-002")
"""Subjects: an able one, one of each other family, and one without instruction tuning."""

_SAMPLING = {"draws": 150, "tune": 300, "chains": 2, "seed": 1}
_ALL = "all"


def compared_layouts(
    evaluation: Evaluation,
    subjects: Sequence[str] = COMPARED,
    layouts: Mapping[str, Callable[[], Layout]] = LAYOUTS,
) -> pd.DataFrame:
    """Fit layouts to all items, and compare them by leave-one-out.

    Parameters
    ----------
    evaluation : Evaluation
        As `data.load` reads it.
    subjects : sequence of str
        Subjects to fit.
    layouts : mapping of str to callable
        Layouts by name; the additive layout with effects of tasks is added to them.

    Returns
    -------
    DataFrame
        Result of `compare_layouts`.
    """
    marked, places = prepared(evaluation)
    made = {name: make() for name, make in layouts.items()}
    made["additive, tasks known"] = additive_layout(places["task"])
    fits = {
        name: fit(layout, marked, subjects=subjects, **_SAMPLING)  # type: ignore[arg-type]
        for name, layout in made.items()
    }
    return compare_layouts(fits, progressbar=False)


def abilities(evaluation: Evaluation) -> pd.DataFrame:
    """Estimate abilities by the layout that needs them all, and by characteristic curves.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation with demands, unguessability and outcomes.

    Returns
    -------
    DataFrame
        Indexed by ``subject`` and ``dimension``: ``layout``, posterior means, and ``curves``, in
        levels; NaN if there is no curve.
    """
    options = {**_SAMPLING, "reruns": 0}
    fitted = fit(capability_layout("pooled"), evaluation, **options)  # type: ignore[arg-type]
    table = fitted.profiles()
    cells = table[table["node"] == "ability"].set_index(["subject", "label"])["mean"]
    names = {f"demand[{code}]": code for code in DEMANDS}
    curves = characteristic_curves(evaluation, list(names), resamples=2, seed=1)
    ours = cells.rename_axis(["subject", "dimension"])
    theirs = curves.abilities.rename(columns=names).stack(future_stack=True)
    found = pd.DataFrame({"layout": ours, "curves": theirs.reindex(ours.index)})
    return found.reindex(list(DEMANDS), level="dimension")


def agreement(found: pd.DataFrame, by: str) -> pd.DataFrame:
    """Compare the two estimates of `abilities` with each other.

    Parameters
    ----------
    found : DataFrame
        Result of `abilities`.
    by : {"dimension", "subject"}
        Kind of the rows.

    Returns
    -------
    DataFrame
        Means of ``layout`` and ``curves`` over the abilities that both estimate, their rank
        correlation ``spearman`` (NaN if one is constant), and ``estimates``, their number. The last
        row is for all abilities.

    Examples
    --------
    >>> cells = pd.MultiIndex.from_product([["Ann", "Bob"], ["AS", "VO"]],
    ...                                    names=["subject", "dimension"])
    >>> pair = pd.DataFrame({"layout": [4, 3, 2, 1.0], "curves": [3, 1, 2, 0.5]}, cells)
    >>> agreement(pair, by="dimension")
               layout  curves  spearman  estimates
    dimension
    AS            3.0   2.500       1.0          2
    VO            2.0   0.750       1.0          2
    all           2.5   1.625       0.8          4
    """
    both = found.dropna()
    parts = {str(name): part for name, part in both.groupby(by, sort=False)}
    rows = {name: _agreement(part) for name, part in {**parts, _ALL: both}.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def _agreement(both: pd.DataFrame) -> dict[str, float]:
    ranks = both.rank()
    return {
        "layout": both["layout"].mean(),
        "curves": both["curves"].mean(),
        "spearman": ranks["layout"].corr(ranks["curves"]),
        "estimates": len(both),
    }
