"""Layouts of the real outcomes: comparison of layouts, and of abilities with curves."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from ....batteries.characteristic import characteristic_curves
from ....evaluations.evaluation import Evaluation
from ....inference.fitting import fit
from ....layouts import Layout
from ....validation.leave_one_out.compare import compare_layouts
from ..layouts import LAYOUTS, additive_layout, capability_layout
from ..scales import DEMANDS
from .assessed import prepared

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
        `LayoutComparison.total`, indexed by layout.
    """
    marked, places = prepared(evaluation)
    made = {name: make() for name, make in layouts.items()}
    made["additive, tasks known"] = additive_layout(places["task"])
    fits = {
        name: fit(layout, marked, subjects=subjects, **_SAMPLING)  # type: ignore[arg-type]
        for name, layout in made.items()
    }
    return compare_layouts(fits).total.set_index("layout")


def abilities(evaluation: Evaluation, seed: int = 1) -> pd.DataFrame:
    """Estimate abilities by the layout that needs them all, and by characteristic curves.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation with demands, unguessability and outcomes.
    seed : int
        Seed of draws and bootstrap.

    Returns
    -------
    DataFrame
        Indexed by ``subject`` and ``dimension``: ``layout``, posterior means, and ``curves``, in
        levels; NaN if there is no curve.
    """
    options = {**_SAMPLING, "seed": seed, "reruns": 0}
    fitted = fit(capability_layout("pooled"), evaluation, **options)  # type: ignore[arg-type]
    table = fitted.profiles()
    cells = table[table["node"] == "ability"].set_index(["subject", "label"])["mean"]
    names = {f"demand[{code}]": code for code in DEMANDS}
    curves = characteristic_curves(evaluation, list(names), resamples=2, seed=seed)
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
