"""Forecasts of twelve real models by layouts, forests and regressions, as the paper scores them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...evaluations.evaluation import Evaluation
from ...validation.prediction.algebraic import Algebraic
from ...validation.prediction.chosen import ChosenLayout
from ...validation.prediction.cross_validate import Method, cross_validate
from ...validation.prediction.estimators import Estimator
from ...validation.prediction.importance import permutation_importance
from ...validation.prediction.layouts import FittedLayout
from ...validation.prediction.splits import Groups, Items
from ..figures import Figure, Reproduction
from ..files import published_table
from ..scenario import Scenario
from . import additive_layout, capability_layout, with_places
from .battery import ITEMS, battery
from .layouts import PLACE
from .light import PUBLISHED_SIZE, light
from .scales import BROAD, DEMANDS, DIMENSIONS, EXTRANEOUS, SUBJECTS, UNGUESSABILITY

WHERE = "benchmark and task"
SPLITS = {"in distribution": None, "task OOD": WHERE, "benchmark OOD": "benchmark"}
"""What is held out: items at random, or whole groups of a column; out of distribution (OOD)."""
FOREST, REGRESSION, LAYOUT = "forest", "logistic regression", "layout"
SCORES = ("auroc", "ece", "brier")
SIX_BEST = ("MCu", UNGUESSABILITY, "KNf", "CL", "QLl", "MCr")
"""The six dimensions before the published elbow of importance."""
_INNER = {"in distribution": 2, "task OOD": 3, "benchmark OOD": 5}
_SAMPLING: dict[str, Any] = {"draws": 60, "tune": 120, "chains": 1}
_ELSEWHERE = {  # AUROC, ECE and Brier score of scikit-learn alone, with the same columns and folds
    ("in distribution", FOREST): (0.764, 0.014, 0.152),
    ("in distribution", REGRESSION): (0.747, 0.021, 0.155),
    ("benchmark OOD", FOREST): (0.647, 0.097, 0.183),
    ("benchmark OOD", REGRESSION): (0.659, 0.086, 0.180),
}
_FOREST_TABLES = ("3_in_distribution", "4_task_ood", "5_benchmark_ood")
_PREFIXES = ("id", "task_ood", "benchmark_ood")
_TABLES = {
    "forest, six best": "13_six_dimensions",
    "forest, extraneous only": "14_extraneous_only",
    "forest, without extraneous": "15_without_extraneous",
    "forest, 11 broad": "16_eleven_broad",
    REGRESSION: "17_logistic_regression",
    "universal forest": "18_universal",
}
_POWERS = {0: "first", 0.5: "second", 1: "third"}

type Places = Mapping[str, Sequence[str]]


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Score forecasts of held-out items, tasks and benchmarks, and the importance of dimensions."""
    evaluation = scenario.load(data)
    theirs = {split: published_scores(published, split) for split in SPLITS}
    marked, places = prepared(evaluation)
    figures, tables = [], {}
    for split, column in SPLITS.items():
        held_out = Items(folds=10) if column is None else Groups(column)
        scored = cross_validate(methods(split, places), marked, split=held_out, seed=1)
        means = by_method(scored.scores, scored.success, theirs[split])
        tables[f"12 real subjects, 3,328 items, {split}"] = means
        figures += split_figures(means, split)
    tables["rise of the Brier score when a dimension is shuffled"] = ranks = importances(evaluation)
    best = ranks.nlargest(len(SIX_BEST), "importance")
    name = f"published six dimensions among the six best of the forest ({', '.join(best.index)})"
    figures.append(Figure(name, int(best["published"].sum()), ">=", 0, "as it is", len(SIX_BEST)))
    name = "rank correlation of importance and of correlation with success"
    correlation = float(ranks["importance"].corr(ranks["correlation"], method="spearman"))
    figures.append(Figure(name, correlation, ">", 0, published=0.718))
    name = f"SIMULATED battery: kept of {ITEMS:,} items, relative to {PUBLISHED_SIZE:,}"
    kept = abs(len(light(battery())) / PUBLISHED_SIZE - 1)
    figures.append(Figure(name, kept, "<=", 0.1, "within a tenth", published=1))
    return Reproduction(figures, tables)


def prepared(evaluation: Evaluation) -> tuple[Evaluation, Places]:
    """Add the columns of methods: flags of places, groups of tasks, and broad dimensions."""
    marked, benchmarks = with_places(evaluation, "benchmark")
    marked, tasks = with_places(marked)
    items = marked.items
    where = items["benchmark"].astype(str) + " " + items["task"].astype(str)
    broad = {f"broad[{code}]": items[_columns(BROAD[code])].mean(axis=1) for code in BROAD}
    items = items.assign(**{WHERE: where, **broad})
    counts, people = (marked.successes, marked.trials), marked.subject_table
    places = {"benchmark": benchmarks, "task": tasks}
    return Evaluation(items, *counts, subjects=people), places


def methods(split: str, places: Places) -> dict[str, Method]:
    """Return the methods of the paper, and the layouts, for one split."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import SelectFromModel
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline

    every, demands = _columns(DIMENSIONS), _columns(DEMANDS)
    extraneous = _columns([*EXTRANEOUS, UNGUESSABILITY])
    forest = RandomForestClassifier(min_samples_split=50)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    sizes = {"min_samples_split": [2, 50, 200]}
    best_size = GridSearchCV(RandomForestClassifier(), sizes, scoring="neg_brier_score", cv=folds)
    six = make_pipeline(SelectFromModel(forest, threshold=-np.inf, max_features=6), forest)
    chosen: dict[str, Method] = {
        FOREST: Estimator(best_size, every),
        "forest, six best": Estimator(six, every),
        "forest, extraneous only": Estimator(forest, extraneous),
        "forest, without extraneous": Estimator(forest, [x for x in every if x not in extraneous]),
        "forest, 11 broad": Estimator(forest, [f"broad[{code}]" for code in BROAD]),
        "universal forest": Estimator(forest, every, pooled=True),
        REGRESSION: Estimator("logistic", every),
    }
    for power in (-1, 0, 0.5, 1):
        chosen[f"algebraic, power {power:g}"] = Algebraic(demands, "unguessability", power)
    if split == "in distribution":
        flags = [f"{PLACE}[{place}]" for place in places["task"]]
        chosen["forest, tasks known"] = Estimator(forest, [*every, *flags])
    candidates = {f"weights within {sd:g}": additive_layout(spread=sd) for sd in (0.05, 0.1)}
    for what, names in places.items():
        candidates[f"{what}s known"] = additive_layout(names, spread=0.1)
    chosen[LAYOUT] = ChosenLayout(candidates, SPLITS[split], folds=_INNER[split], **_SAMPLING)
    chosen["additive"] = FittedLayout(additive_layout(), **_SAMPLING)
    pooled = capability_layout("pooled")
    chosen["abilities, all needed"] = FittedLayout(pooled, **_SAMPLING)
    return chosen


def by_method(
    scores: pd.DataFrame, success: "pd.Series[float]", published: pd.DataFrame
) -> pd.DataFrame:
    """Average scores over models, plainly and weighted by accuracy as the paper does."""
    table = scores.groupby(["subject", "method"], sort=False)[list(SCORES)].mean()
    accuracies = success.reindex(table.index.get_level_values("subject"))
    weights = pd.Series(accuracies.to_numpy(), table.index)
    method = table.index.get_level_values("method")
    weighted = table.mul(weights, axis=0).groupby(method, sort=False).sum()
    weighted /= table.notna().mul(weights, axis=0).groupby(method, sort=False).sum()
    plain = table.groupby(method, sort=False).mean()
    theirs = published.reindex(plain.index)
    columns = [plain, weighted.add_prefix("weighted "), theirs.add_prefix("published weighted ")]
    return pd.concat(columns, axis=1)


def split_figures(means: pd.DataFrame, split: str) -> list[Figure]:
    """Compare the layout with the two rivals, and these with scikit-learn alone."""
    figures = []
    for score in SCORES:
        every = means[score].astype(float)
        rivals = every[[FOREST, REGRESSION]]
        name = f"real items, {split}: {score.upper()} of the {LAYOUT} ({rivals.round(4).to_dict()})"
        ours = float(every[LAYOUT])
        if score != "auroc":
            figures.append(Figure(name, ours, "<=", float(rivals.min()), "not above either"))
        elif SPLITS[split] is None:
            figures.append(Figure(name, ours, ">=", float(rivals[FOREST]) - 0.01))
        else:
            figures.append(Figure(name, ours, ">", float(rivals.max()), "above both"))
    for method in (FOREST, REGRESSION):
        if (split, method) in _ELSEWHERE:
            apart = np.abs(means.loc[method, list(SCORES)] - _ELSEWHERE[split, method]).max()
            name = f"real items, {split}: {method}, largest difference to scikit-learn alone"
            figures.append(Figure(name, float(apart), "<=", 0.01, published=0))
    return figures


def importances(evaluation: Evaluation) -> pd.DataFrame:
    """Shuffle one dimension at a time, and compare with its rank correlation with success."""
    from sklearn.ensemble import RandomForestClassifier

    names = dict(zip(_columns(DIMENSIONS), DIMENSIONS, strict=True))
    forest = Estimator(RandomForestClassifier(min_samples_split=50), list(names))
    table = permutation_importance(
        {FOREST: forest},
        evaluation,
        together={code: [column] for column, code in names.items()},
        split=Items(folds=5),
        shuffles=2,
        progressbar=False,
    ).set_index("property")
    rates = evaluation.successes.sum() / evaluation.trials.sum()
    ranks = evaluation.items[list(names)].corrwith(rates, method="spearman").abs().rename(names)
    return table.assign(published=table.index.isin(SIX_BEST), correlation=ranks)


def published_scores(folder: Path, split: str) -> pd.DataFrame:
    """Read the published scores by method, weighted by accuracy: the last rows of the tables."""
    at = list(SPLITS).index(split)
    columns = [f"{_PREFIXES[at]}_auroc", f"{_PREFIXES[at]}_ece"]
    sources = {name: (file, columns) for name, file in _TABLES.items()}
    sources[FOREST] = (_FOREST_TABLES[at], ["demands_auroc", "demands_ece"])
    for power, which in _POWERS.items() if at == 0 else ():
        names = [f"{which}_exponent_auroc", f"{which}_exponent_ece"]
        sources[f"algebraic, power {power:g}"] = ("19_algebraic", names)
    accuracies = [subject.accuracy for subject in SUBJECTS.values()]
    rows = {}
    for method, (file, names) in sources.items():
        prepare = partial(_columns_of, names=["accuracy", *names])
        table = published_table(folder, f"adele_table{file}.csv", prepare)
        if list(table["accuracy"].iloc[:-1]) != accuracies:
            raise DataError(f"adele_table{file}.csv has other subjects; give the published table")
        rows[method] = table[names].iloc[-1].astype(float).tolist()
    return pd.DataFrame.from_dict(rows, orient="index", columns=["auroc", "ece"])


def _columns_of(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return table[names]


def _columns(codes: Mapping[str, object] | Sequence[str]) -> list[str]:
    """Return the items' columns of dimensions."""
    return ["unguessability" if code == UNGUESSABILITY else f"demand[{code}]" for code in codes]
