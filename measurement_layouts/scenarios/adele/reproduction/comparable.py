"""Abilities of the real models on one scale: their order, and changes without a benchmark."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....batteries.characteristic import characteristic_curves
from ....evaluations.evaluation import Evaluation
from ....inference.fit import Fit
from ....inference.fitting import fit
from ...figures import Figure
from ..layouts import population_layout
from ..scales import DEMANDS

SAMPLE = 800
"""Items of the 3,328 on which no form of `population_layout` was chosen; None takes all."""

_SAMPLING = {"draws": 300, "tune": 400, "chains": 2, "reruns": 0, "progressbar": False}
_TOP = 5  # the highest level of the items
_ORDER = 0.9  # Spearman's correlation
_PROB = 0.9


def sampled(evaluation: Evaluation, items: int | None = SAMPLE) -> Evaluation:
    """Sample items without replacement, and add the benchmark to the name of each task.

    Parameters
    ----------
    evaluation : Evaluation
        As `data.load` reads it.
    items : int, optional
        Number of items; all items if there are not more, or with None. The default 800 of the real
        items are those of the benchmark of populations.

    Examples
    --------
    >>> from ..battery import simulated_cohort
    >>> found = sampled(simulated_cohort(items=100).evaluation, items=30)
    >>> len(found.items), found.items["task"].iloc[0]
    (30, 'Civil Service Examination LogiQA-en')
    """
    count = len(evaluation.items)
    wanted = count if items is None else min(items, count)
    places = np.random.default_rng(0).choice(count, wanted, replace=False)
    known = evaluation.select(evaluation.items.index[np.sort(places)])
    task = known.items["benchmark"].astype(str) + " " + known.items["task"].astype(str)
    counts = known.successes, known.trials
    return Evaluation(known.items.assign(task=task), *counts, subjects=known.subject_table)


def fitted(evaluation: Evaluation, seed: int = 1, **sampling: int) -> Fit:
    """Fit the population's layout to all subjects together; options as of `fit`."""
    options = {**_SAMPLING, "seed": seed, **sampling}
    return fit(population_layout(), evaluation, **options)  # type: ignore[arg-type]


def by_model(whole: Fit, evaluation: Evaluation, seed: int = 1) -> pd.DataFrame:
    """Compare each model's mean ability by the layout with that by curves, and with its accuracy.

    Parameters
    ----------
    whole : Fit
        Fit of `population_layout`.
    evaluation : Evaluation
        Evaluation to which it was fitted.
    seed : int
        Seed of the curves.

    Returns
    -------
    DataFrame
        Indexed by subject, in ascending order of ``accuracy``: by the layout the posterior ``mean``
        of the mean ability over the 18 dimensions, its ``sd``, ``low`` and ``high`` (90 %), the
        ``highest`` single ability, and ``above``, the number of abilities above level 5; by
        characteristic curves the mean over existing curves (``curves``), ``curves highest``,
        ``curves above``, and ``no curve``, the number of dimensions without a curve.
    """
    means = _mean_ability(whole)
    centre = whole.posterior["ability"].mean(("chain", "draw")).transpose("subject", "dimension")
    single = pd.DataFrame(centre.to_numpy(), centre["subject"].to_index())
    columns = [f"demand[{code}]" for code in DEMANDS]
    curves = characteristic_curves(evaluation, columns, resamples=2, seed=seed).abilities
    ends = np.quantile(means, [(1 - _PROB) / 2, (1 + _PROB) / 2], axis=1)
    found = pd.DataFrame(
        {
            "accuracy": evaluation.success_rates(),
            "mean": means.mean(axis=1),
            "sd": means.std(axis=1),
            "low": pd.Series(ends[0], means.index),
            "high": pd.Series(ends[1], means.index),
            "highest": single.max(axis=1),
            "above": (single > _TOP).sum(axis=1),
            "curves": curves.mean(axis=1),
            "curves highest": curves.max(axis=1),
            "curves above": (curves > _TOP).sum(axis=1),
            "no curve": curves.isna().sum(axis=1),
        }
    )
    return found.rename_axis("subject").sort_values("accuracy")


def without_each(
    whole: Fit,
    evaluation: Evaluation,
    seed: int = 1,
    benchmarks: Sequence[str] | None = None,
    **sampling: int,
) -> pd.DataFrame:
    """Leave out one benchmark at a time, and compute the changes of the models' mean abilities.

    Parameters
    ----------
    whole : Fit
        Fit of `population_layout`.
    evaluation : Evaluation
        Evaluation to which it was fitted.
    seed : int
        Seed of the fits.
    benchmarks : sequence of str, optional
        Benchmarks to leave out in turn (default: all).
    **sampling : int
        Options of `fit`.

    Returns
    -------
    DataFrame
        Indexed by the benchmark left out: ``items`` that remain; Spearman's correlation of mean
        abilities ``with accuracy`` on all items and ``with all`` (the whole fit); ``change``, the
        mean absolute change of a model's mean ability in levels; ``apart``, the same without the
        common change of all models, which does not affect comparisons of models; ``sd``, the mean
        posterior standard deviation of the whole fit; ``ratio``, the mean change in units of each
        model's standard deviation; and ``largest ratio``.
    """
    before = _mean_ability(whole)
    centre, spread = before.mean(axis=1), before.std(axis=1)
    accuracy = evaluation.success_rates()
    where = evaluation.items["benchmark"].astype(str)
    rows = {}
    for benchmark in where.unique() if benchmarks is None else benchmarks:
        rest = evaluation.select(evaluation.items.index[where != benchmark])
        after = _mean_ability(fitted(rest, seed, **sampling)).mean(axis=1)
        rows[benchmark] = {"items": len(rest.items), **moved(centre, after, spread, accuracy)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("without")


def moved(
    before: pd.Series, after: pd.Series, spread: pd.Series, accuracy: pd.Series
) -> dict[str, float]:
    """Compare mean abilities of two fits; columns as of `without_each`.

    Examples
    --------
    >>> names = ["Ann", "Bob", "Cy"]
    >>> before, after = pd.Series([1.0, 2, 3], names), pd.Series([1.5, 2.5, 3.5], names)
    >>> found = moved(before, after, pd.Series(0.25, names), pd.Series([0.2, 0.4, 0.5], names))
    >>> found["with all"], found["change"], found["apart"], found["ratio"]
    (1.0, 0.5, 0.0, 2.0)
    """
    after, accuracy = after[before.index], accuracy[before.index]
    change = after - before
    ratio = change.abs() / spread
    return {
        "with accuracy": float(after.corr(accuracy, method="spearman")),
        "with all": float(after.corr(before, method="spearman")),
        "change": float(change.abs().mean()),
        "apart": float((change - change.mean()).abs().mean()),
        "sd": float(spread.mean()),
        "ratio": float(ratio.mean()),
        "largest ratio": float(ratio.max()),
    }


def judge_comparable(models: pd.DataFrame, without: pd.DataFrame) -> list[Figure]:
    """Compare abilities with the order of accuracies, and their changes with standard deviations.

    Parameters
    ----------
    models : DataFrame
        Result of `by_model`.
    without : DataFrame
        Result of `without_each`.
    """
    order = models["mean"].corr(models["accuracy"], method="spearman")
    curves = models["curves"].corr(models["accuracy"], method="spearman")
    rows = without.to_dict("index")
    worst, least = without["ratio"].idxmax(), without["with accuracy"].idxmin()
    return [
        Figure(
            "real models in one population: Spearman's correlation of mean ability and accuracy "
            f"(by curves {curves:.2f})",
            float(order),
            ">=",
            _ORDER,
        ),
        Figure(
            f"the same without {least}, the lowest of {len(without)} benchmarks left out",
            rows[least]["with accuracy"],
            ">=",
            _ORDER,
        ),
        Figure(
            f"the same without {worst}: mean change of a model's mean ability, in its posterior "
            f"standard deviations (all models together moved by most; apart from that "
            f"{rows[worst]['apart'] / rows[worst]['sd']:.2f})",
            rows[worst]["ratio"],
            "<=",
            1,
        ),
    ]


def _mean_ability(found: Fit) -> pd.DataFrame:
    """Average abilities over the dimensions, with one row per subject and one column per draw."""
    draws = found.posterior["ability"].mean("dimension")
    stacked = draws.stack(sample=("chain", "draw")).transpose("subject", "sample")
    return pd.DataFrame(stacked.to_numpy(), stacked["subject"].to_index())
