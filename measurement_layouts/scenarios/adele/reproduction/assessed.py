"""Comparison of assessors and layouts, in distribution and out of distribution."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ....common.errors import DataError
from ....evaluations.evaluation import Evaluation
from ....validation.prediction.algebraic import Algebraic
from ....validation.prediction.chosen import ChosenLayout
from ....validation.prediction.cross_validate import Method, cross_validate
from ....validation.prediction.estimators import Estimator
from ....validation.prediction.layouts import FittedLayout
from ....validation.prediction.result import CrossValidation
from ....validation.prediction.splits import Groups, Items
from ...files import published_table
from ..layouts import PLACE, additive_layout, capability_layout, with_places
from ..scales import BROAD, DEMANDS, DIMENSIONS, EXTRANEOUS, UNGUESSABILITY
from ..subjects import SUBJECTS

WHERE = "benchmark and task"
SPLITS = {"in distribution": None, "task OOD": WHERE, "benchmark OOD": "benchmark"}
"""What is held out: items at random, or whole groups of a column; out of distribution (OOD)."""

FOREST = "forest"
REGRESSION = "logistic regression"
LAYOUT = "layout"
FITTING = "abilities, all needed"
"""The layout in which every demand meets an ability of its own."""

WEIGHTED = "accuracy-weighted"
SCORES = ("auroc", "ece", "brier")
_FEWEST = 50  # least number of items that trees split, in all forests except the first
_SIZES = [2, 50, 200]
_BEST = 6  # columns that a forest of all columns uses most
_INNER = {"in distribution": 2, "task OOD": 3, "benchmark OOD": 5}  # folds to choose a layout by
_DRAWS, _TUNE, _CHAINS = 60, 120, 1  # enough for means of predictions
_FORMULAS = ("algebraic, power 0", "algebraic, power 0.5", "algebraic, power 1")
_TABLES = {
    FOREST: {
        "in distribution": ("adele_table3_in_distribution.csv", "demands"),
        "task OOD": ("adele_table4_task_ood.csv", "demands"),
        "benchmark OOD": ("adele_table5_benchmark_ood.csv", "demands"),
    },
    **{
        method: {
            split: (f"adele_table{name}.csv", prefix)
            for split, prefix in zip(SPLITS, ("id", "task_ood", "benchmark_ood"), strict=True)
        }
        for method, name in {
            "forest, six best": "13_six_dimensions",
            "forest, extraneous only": "14_extraneous_only",
            "forest, without extraneous": "15_without_extraneous",
            "forest, 11 broad": "16_eleven_broad",
            REGRESSION: "17_logistic_regression",
            "universal forest": "18_universal",
        }.items()
    },
    **{
        method: {"in distribution": ("adele_table19_algebraic.csv", f"{place}_exponent")}
        for method, place in zip(_FORMULAS, ("first", "second", "third"), strict=True)
    },
}


type Places = Mapping[str, Sequence[str]]


def prepared(evaluation: Evaluation) -> tuple[Evaluation, Places]:
    """Add the columns that methods and splits need to items with demands, benchmark and task.

    Parameters
    ----------
    evaluation : Evaluation
        As `data.load` reads it.

    Returns
    -------
    Evaluation
        With flags of benchmarks and of tasks, as `with_places` makes them; ``benchmark and task``,
        the task in words; and ``broad[CE]`` and so on, means over the parts of the 11 broad
        dimensions.
    mapping of str to sequence of str
        The places: ``benchmark`` and ``task``.

    Examples
    --------
    >>> from measurement_layouts.scenarios.adele import simulated_cohort
    >>> marked, places = prepared(simulated_cohort(items=100).evaluation)
    >>> {column: len(names) for column, names in places.items()}
    {'benchmark': 18, 'task': 53}
    """
    marked, benchmarks = with_places(evaluation, "benchmark")
    marked, tasks = with_places(marked)
    items = marked.items
    where = items["benchmark"].astype(str) + " " + items["task"].astype(str)
    means = {f"broad[{code}]": items[_columns(parts)].mean(axis=1) for code, parts in BROAD.items()}
    items = items.assign(**{WHERE: where, **means})
    places = {"benchmark": benchmarks, "task": tasks}
    own, people = (marked.successes, marked.trials), marked.subject_table
    return Evaluation(items, *own, subjects=people), places


def methods(split: str, places: Places) -> dict[str, Method]:
    """Return the methods that are compared; the first is the reference.

    Parameters
    ----------
    split : str
        One of `SPLITS`.
    places : mapping of str to sequence of str
        Places, as returned by `prepared`.

    Returns
    -------
    dict of str to Method
        Methods by name. The layout (``layout``) is chosen on the training items of each fold, by
        leaving out parts in the same way as the split; the candidates differ in the shrinkage of
        weights, and in whether they have effects of benchmarks or tasks.

    Notes
    -----
    The first forest chooses the least size of its nodes, as published. The others split nodes of at
    least 50 items, which is close to the best choice and takes a quarter of the time. The exponents
    of Table 19 are not in the text that we have; its remarks about the arithmetic and the geometric
    mean agree with powers of 0 and 1 for the first and the last, with one between them.

    References
    ----------
    General scales paper, sections 5.6 and 8.5.
    """
    every, demands, guess = _columns(DIMENSIONS), _columns(DEMANDS), _columns([UNGUESSABILITY])
    extraneous = _columns([*EXTRANEOUS, UNGUESSABILITY])
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import SelectFromModel
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline

    forest = RandomForestClassifier(min_samples_split=_FEWEST)
    of_sizes = GridSearchCV(
        RandomForestClassifier(),
        {"min_samples_split": _SIZES},
        scoring="neg_brier_score",
        cv=StratifiedKFold(3, shuffle=True, random_state=1),
    )
    six = SelectFromModel(forest, threshold=-np.inf, max_features=_BEST)
    found: dict[str, Method] = {
        FOREST: Estimator(of_sizes, every),
        "forest, six best": Estimator(make_pipeline(six, forest), every),
        "forest, extraneous only": Estimator(forest, extraneous),
        "forest, without extraneous": Estimator(forest, [x for x in every if x not in extraneous]),
        "forest, 11 broad": Estimator(forest, [f"broad[{code}]" for code in BROAD]),
        "universal forest": Estimator(forest, every, pooled=True),
        REGRESSION: Estimator("logistic", every),
        **{
            f"algebraic, power {power:g}": Algebraic(demands, guess[0], power)
            for power in (-1, 0, 0.5, 1)
        },
    }
    if split == "in distribution":
        flags = [f"{PLACE}[{place}]" for place in places["task"]]
        found["forest, tasks known"] = Estimator(forest, [*every, *flags])
    found[LAYOUT] = _chosen(split, places)
    layouts = {
        "additive": additive_layout(),
        **{f"additive, {what}s known": additive_layout(places[what]) for what in places},
        FITTING: capability_layout("pooled"),
    }
    for name, layout in layouts.items():
        found[name] = FittedLayout(layout, draws=_DRAWS, tune=_TUNE, chains=_CHAINS)
    return found


def real_assessment(evaluation: Evaluation, split: str) -> CrossValidation:
    """Assess the real subjects.

    Parameters
    ----------
    evaluation : Evaluation
        As `data.load` reads it.
    split : str
        One of `SPLITS`.
    """
    marked, places = prepared(evaluation)
    column = SPLITS[split]
    held_out = Items(folds=10) if column is None else Groups(column)
    return cross_validate(methods(split, places), marked, split=held_out, seed=1)


def averaged(assessment: CrossValidation) -> pd.DataFrame:
    """Average the scores of each subject and method over repeats, with the success rate."""
    keys = ["subject", "method"]
    table = assessment.scores.groupby(keys, sort=False)[list(SCORES)].mean().reset_index()
    return table.assign(success=table["subject"].map(assessment.success))


def by_method(assessment: CrossValidation, published: pd.DataFrame) -> pd.DataFrame:
    """Average scores over subjects, with the published averages.

    Parameters
    ----------
    assessment : CrossValidation
        Assessment of one split.
    published : DataFrame
        Result of `published_scores` for the same split.

    Returns
    -------
    DataFrame
        Indexed by method: means over subjects of AUROC, ECE and Brier score, the same weighted by
        accuracy, and the published weighted means, which are of 15 models on the whole battery.
    """
    table = averaged(assessment)
    scores, method = table[list(SCORES)], table["method"]
    plain = scores.groupby(method, sort=False).mean()
    counted = scores.notna().mul(table["success"], axis=0).groupby(method, sort=False).sum()
    weighted = scores.mul(table["success"], axis=0).groupby(method, sort=False).sum() / counted
    weighted = weighted.add_prefix("weighted ")
    theirs = published.xs(WEIGHTED, level="subject").reindex(plain.index)
    return pd.concat([plain, weighted, theirs.add_prefix("published weighted ")], axis=1)


def by_subject(assessment: CrossValidation, published: pd.DataFrame) -> pd.DataFrame:
    """Compare every subject's scores with the published ones; parameters as in `by_method`.

    Returns
    -------
    DataFrame
        One row per subject and method, indexed by subject: method, AUROC, ECE and Brier score, and
        the published AUROC and ECE of that model on the whole battery.
    """
    keys = ["method", "subject"]
    ours = averaged(assessment)[[*keys[::-1], *SCORES]]
    theirs = published.add_prefix("published ").reset_index()
    return ours.merge(theirs, how="left", on=keys).set_index("subject")


def published_scores(folder: Path, split: str) -> pd.DataFrame:
    """Read the paper's scores for a split.

    Parameters
    ----------
    folder : Path
        Folder of ``adele_table3_in_distribution.csv`` and the other tables.
    split : str
        One of `SPLITS`.

    Returns
    -------
    DataFrame
        Scores indexed by ``method`` and ``subject``, with our names, and with the average as
        subject ``accuracy-weighted``; columns ``auroc`` and ``ece``.

    Raises
    ------
    DataError
        When a table is not in the folder, or has other subjects.

    References
    ----------
    General scales paper, Tables 3 to 5 and 13 to 19.
    """
    found = {
        method: _read(Path(folder), *where[split])
        for method, where in _TABLES.items()
        if split in where
    }
    return pd.concat(found, names=["method", "subject"])


def _chosen(split: str, places: Places) -> Method:
    candidates = {
        "weights within 0.05": additive_layout(spread=0.05),
        "weights within 0.1": additive_layout(spread=0.1),
        **{f"{what}s known": additive_layout(places[what], spread=0.1) for what in places},
    }
    sampling = {"draws": _DRAWS, "tune": _TUNE, "chains": _CHAINS}
    return ChosenLayout(candidates, SPLITS[split], folds=_INNER[split], **sampling)


def _columns(codes: Mapping[str, object] | Sequence[str]) -> list[str]:
    """Return the columns of the items for dimensions."""
    return ["unguessability" if code == UNGUESSABILITY else f"demand[{code}]" for code in codes]


def _read(folder: Path, name: str, prefix: str) -> pd.DataFrame:
    """Read one method's columns; subjects have our order, but their spelling varies."""
    columns = ["accuracy", f"{prefix}_auroc", f"{prefix}_ece"]
    table = published_table(folder, name, "give the published table", lambda raw: raw[columns])
    if list(table["accuracy"].iloc[:-1]) != [known.accuracy for known in SUBJECTS.values()]:
        raise DataError(f"{folder / name} has other subjects; give the published table")
    found = table.drop(columns="accuracy").set_axis(["auroc", "ece"], axis=1)
    return found.set_axis(pd.Index([*SUBJECTS, WEIGHTED], name="subject"), axis=0)
