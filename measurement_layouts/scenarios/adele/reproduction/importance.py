"""Importance of demands for the assessors of the real models: reproduction of Figure 16."""

import pandas as pd

from ....evaluations.evaluation import Evaluation
from ....validation.prediction.cross_validate import Method
from ....validation.prediction.estimators import Estimator
from ....validation.prediction.importance import permutation_importance
from ....validation.prediction.layouts import FittedLayout
from ....validation.prediction.splits import Items
from ...figures import Figure
from ..layouts import additive_layout
from ..scales import DEMANDS, UNGUESSABILITY
from .assessed import FOREST

CHOSEN = ("MCu", UNGUESSABILITY, "KNf", "CL", "QLl", "MCr")
"""The six dimensions before the published elbow."""

ADDITIVE = "additive layout"
_COLUMNS = {f"demand[{code}]": code for code in DEMANDS} | {"unguessability": UNGUESSABILITY}
_PUBLISHED_RANKS = 0.718  # rank correlation of importance and of correlation with success


def importances(evaluation: Evaluation, folds: int = 5, layout: bool = True) -> pd.DataFrame:
    """Compute permutation importances on held-out items, for a forest and the additive layout.

    Parameters
    ----------
    evaluation : Evaluation
        As `data.load` reads it.
    folds : int
        Number of parts in which items are held out in turn.
    layout : bool
        Whether to include the layout, which takes most of the time.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16, which use forests and their accuracy.
    """
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(min_samples_split=50)
    methods: dict[str, Method] = {FOREST: Estimator(forest, list(_COLUMNS))}
    if layout:
        methods[ADDITIVE] = FittedLayout(additive_layout(), draws=60, tune=120, chains=1)
    return permutation_importance(
        methods,
        evaluation,
        together={code: [column] for column, code in _COLUMNS.items()},
        split=Items(folds=folds),
        shuffles=2,
        progressbar=False,
    )


def with_correlations(found: pd.DataFrame, evaluation: Evaluation) -> pd.DataFrame:
    """Compare the importances with the correlations of dimensions with success.

    Returns
    -------
    DataFrame
        Result of `importances`, indexed by method, with ``published`` (whether the dimension is one
        of `CHOSEN`) and ``correlation``, the absolute rank correlation with success over all
        subjects' outcomes.
    """
    rates = evaluation.successes.sum() / evaluation.trials.sum()
    ranks = evaluation.items[list(_COLUMNS)].corrwith(rates, method="spearman").abs()
    table = found.set_index("method")
    table["published"] = table["property"].isin(CHOSEN)
    return table.assign(correlation=table["property"].map(ranks.rename(_COLUMNS)))


def judge_importance(table: pd.DataFrame) -> list[Figure]:
    """Compare the forest's most important dimensions with the published ones.

    Parameters
    ----------
    table : DataFrame
        Result of `with_correlations`.
    """
    own = table[table.index == FOREST]
    best = own.nlargest(len(CHOSEN), "importance")
    ranks = own["importance"].corr(own["correlation"], method="spearman")
    first = ", ".join(best["property"])
    return [
        Figure(
            f"real items, {FOREST}: published six dimensions among its six best ({first})",
            int(best["published"].sum()),
            ">=",
            0,
            "reported as it is: six of the twenty benchmarks",
            published=len(CHOSEN),
        ),
        Figure(
            f"real items, {FOREST}: rank correlation of importance and of correlation with success",
            float(ranks),
            ">",
            0,
            "above 0",
            published=_PUBLISHED_RANKS,
        ),
    ]
