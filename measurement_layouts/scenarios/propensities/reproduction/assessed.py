"""Gains of predictions by propensities: Table 4, for simulated subjects."""

from pathlib import Path

import pandas as pd

from ....validation.prediction.cross_validate import Method, cross_validate
from ....validation.prediction.layouts import FittedLayout
from ....validation.prediction.result import CrossValidation
from ....validation.prediction.splits import Items
from ...figures import Figure
from ...files import published_table
from ..benchmark import FEATURES, INCITED, benchmark_cohort, joined_layout
from ..dimensions import condition

TABLE = "propensities_table4.csv"
LAYOUT = "capabilities and propensities joined by a layout"
_COLUMNS = ("auroc_capabilities", "auroc_plus_ultracrepidarianism", "auroc_plus_all_propensities")


def assessors() -> CrossValidation:
    """Assess thirty simulated subjects: forests on three sets of properties, and the joined layout.

    Ten folds over 360 questions, AUROC.

    References
    ----------
    Propensities paper, section 4.4.
    """
    layout = FittedLayout(joined_layout(), draws=200, tune=300)
    methods: dict[str, Method] = {**FEATURES, LAYOUT: layout}
    evaluation = benchmark_cohort().evaluation
    return cross_validate(methods, evaluation, split=Items(folds=10), seed=1, progressbar=False)


def table_4(assessment: CrossValidation, folder: Path) -> pd.DataFrame:
    """Compare mean AUROCs by incited level with the published ones.

    Parameters
    ----------
    assessment : CrossValidation
        Assessment of the simulated subjects.
    folder : Path
        Folder of ``propensities_table4.csv``.

    Returns
    -------
    DataFrame
        Indexed by incited level: one column per method, and ``(published)`` columns for nine real
        models.

    Raises
    ------
    DataError
        When the table is not in the folder, or has other columns.
    """
    published = published_table(
        folder,
        TABLE,
        "give Table 4",
        lambda raw: raw[raw["model"] != "Average"].groupby("bias")[list(_COLUMNS)].mean(),
    )
    names = [f"{method} (published)" for method in FEATURES]
    subjects = list(assessment.table["subject"].unique())
    rows = []
    for level in INCITED:
        said = condition("", level)
        chosen = [name for name in subjects if name.endswith(said)]
        ours = assessment.differences(subjects=chosen)["auroc"]
        theirs = pd.Series(published.T[level].to_numpy(), names)
        rows.append(pd.concat([ours, theirs]).rename(said.strip()))
    return pd.DataFrame(rows).rename_axis("incited")


def judge_assessors(assessment: CrossValidation) -> list[Figure]:
    """Judge the gains by propensities, over all thirty subjects."""
    summary = assessment.differences()
    base, one, _ = FEATURES
    auroc, low = (summary[column].to_dict() for column in ("auroc", "auroc_low"))
    best = max(auroc[method] for method in FEATURES)
    return [
        Figure(
            f"simulated benchmark: AUROC gained by {one}, lower end of its 90 % interval (gain "
            f"{auroc[one] - auroc[base]:.3f} over {auroc[base]:.3f})",
            float(low[one]),
            ">",
            0,
            published=0.016,
        ),
        Figure(
            f"simulated benchmark: AUROC of {LAYOUT}",
            float(auroc[LAYOUT]),
            ">=",
            float(best),
            "at least the best forest's; the data are of the layout's own form",
        ),
    ]
