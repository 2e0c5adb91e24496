"""Coverage of intervals of horizons if runs are nested and tasks differ."""

import pandas as pd

from ....evaluations.evaluation import Evaluation
from ....inference.fit import Fit
from ....inference.fitting import fit
from ....layouts import Layout
from ..cohort import simulated_cohort
from ..layouts import nested_layout, published_layout, recommended_layout
from ..nesting import conditional_counts

PUBLISHED, RECOMMENDED = "published layout", "recommended layout"
NESTED, BOTH = "nested runs", "nested runs, tasks differ"
_PROB = 0.9


def recovery(seed: int = 1, cohorts: int = 4) -> pd.DataFrame:
    """Simulate cohorts, and compare 90 % intervals of their horizons with the true ones.

    Parameters
    ----------
    seed : int
        Seed of the first cohort; the seeds of the others follow.
    cohorts : int
        Number of cohorts, with 24 models each.

    Returns
    -------
    DataFrame
        Indexed by layout: ``coverage``, mean ``width`` of the intervals and ``rmse``, in doublings,
        and the number of ``intervals``.
    """
    parts = [_one(seed + number) for number in range(cohorts)]
    table = pd.concat(parts, ignore_index=True)
    groups = table.groupby("layout", sort=False)
    return pd.DataFrame(
        {
            "coverage": groups["covered"].mean(),
            "width": groups["width"].mean(),
            "rmse": groups["square"].mean() ** 0.5,
            "intervals": groups.size(),
        }
    )


def _one(seed: int) -> pd.DataFrame:
    cohort = simulated_cohort(seed)
    truth = cohort.profiles["horizon"]
    parts = []
    for name, found in four_fits(cohort.evaluation, seed=seed).items():
        table = found.profiles(prob=_PROB).query("node == 'horizon'").set_index("subject")
        true = truth[table.index]
        columns = {
            "layout": name,
            "covered": true.between(table["low"], table["high"]),
            "width": table["high"] - table["low"],
            "square": (table["mean"] - true) ** 2,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts)


def four_fits(
    evaluation: Evaluation, *, seed: int = 1, draws: int = 500, chains: int = 2
) -> dict[str, Fit]:
    """Fit with and without differences between tasks, to all counts and to conditional ones."""
    conditional = conditional_counts(evaluation)
    cases: dict[str, tuple[Layout, Evaluation]] = {
        PUBLISHED: (published_layout(), evaluation),
        NESTED: (nested_layout(tasks=()), conditional),
        RECOMMENDED: (recommended_layout(), evaluation),
        BOTH: (nested_layout(), conditional),
    }
    return {
        name: fit(
            layout,
            counts,
            method="nuts" if "taskSpread" in layout.nodes else "grid",
            draws=draws,
            tune=draws,
            chains=chains,
            reruns=int(chains > 2),
            seed=seed,
            progressbar=False,
        )
        for name, (layout, counts) in cases.items()
    }
