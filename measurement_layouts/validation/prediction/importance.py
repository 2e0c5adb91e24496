"""Permutation importance: held-out items are predicted with one property shuffled at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from ...common import options
from ...common.errors import DataError
from ...common.messages import some
from ...common.progress import track
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import refuse_steps
from ...layouts import Layout
from .assessor import Assessor, predicted
from .cross_validate import Method, fits_of, read_methods
from .estimators import ITEM
from .splits import Split, drawn, read_split


def permutation_importance(
    methods: Mapping[str, Method] | Sequence[Layout | str],
    evaluation: Evaluation,
    *,
    columns: Sequence[str] | None = None,
    together: Mapping[str, Sequence[str]] | None = None,
    split: Split | str = "items",
    shuffles: int = 5,
    prob: float = 0.9,
    seed: int = 1,
    progressbar: bool = True,
) -> pd.DataFrame:
    r"""Measure how much each method's predictions depend on each property of the items.

    Each method is trained on each fold's training items, and predicts the held-out items, both
    unchanged and with one property at a time shuffled among them.

    .. math:: \text{importance}_j = \operatorname{mean}_r L(\hat p(x^{(j, r)}), y)
        - L(\hat p(x), y)

    with the Brier score `L` of a fold, and held-out items :math:`x^{(j, r)}` whose property `j` is
    shuffled for the `r`-th time.

    Parameters
    ----------
    methods : mapping of str to method, or sequence of Layout and str
        As in `cross_validate`: layouts, baselines, and any `Assessor` with an attribute ``columns``
        that names its properties.
    evaluation : Evaluation
        Items, and outcomes of one step.
    columns : sequence of str, optional
        As in `cross_validate`.
    together : mapping of str to sequence of str, optional
        Groups of columns that are shuffled together, by a name of the group, such as the ends of a
        band, or indicators of a category. All other columns of a method are shuffled one by one.
    split : Split or {"items"}
        Split that holds out items: `Items`, `Groups` or `Given`. Values are shuffled within the
        fold.
    shuffles : int
        Number of shuffles of each property in each fold.
    prob : float
        Mass of the intervals.
    seed : int
        Seed of splits, methods and shuffles.
    progressbar : bool
        Whether to show the number of fits done and the time left.

    Returns
    -------
    DataFrame
        One row per method and property, the most important property of a method first: ``method``,
        ``property``, ``importance``, averaged over folds, ``se``, its standard error, and ``low``
        and ``high``, the ends of an interval by Student's t.

    Raises
    ------
    DataError
        When `evaluation` is something else, a method has no attribute ``columns``, held-out items
        have training outcomes, a method refuses shuffled items, or outcomes have steps.
    FitError
        When an option is out of range.

    Notes
    -----
    A method is trained once in a fold, and predicts the held-out items together with shuffled
    copies of them, which have no outcomes.

    Importance measures how a method uses a property *given all others*, not the effect of the
    property: properties with the same information share their importance, and shuffled items may be
    unrealistic.

    Folds share most of their training items, so that the error from their standard deviation `s`
    alone would be too small. With `n` folds and `q` predicted outcomes per training outcome, over
    all folds, the standard error is :math:`s \sqrt{1/n + q}` (Nadeau and Bengio, 2003); it is NaN
    for a single fold.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16. Breiman (2001), Machine Learning 45.
    Nadeau and Bengio (2003), Machine Learning 52.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame(rng.normal(size=(200, 3)), columns=["size", "hour", "hue"])
    >>> solved = rng.random(200) < 1 / (1 + np.exp(3 * items["size"]))
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> found = permutation_importance(["logistic"], evaluation, progressbar=False)
    >>> found[["property", "importance", "low", "high"]].round(2)
      property  importance   low  high
    0     size        0.25  0.18  0.32
    1     hour       -0.00 -0.00  0.00
    2      hue       -0.00 -0.00  0.00
    """
    refuse_no_evaluation(evaluation)
    refuse_steps(evaluation.rows, "permutation importance")
    assessors = read_methods(methods, evaluation, columns)
    groups = {name: _groups(name, one, together or {}) for name, one in assessors.items()}
    split, seed = read_split(split), options.whole("seed", seed)
    shuffles, prob = options.whole("shuffles", shuffles, 1), options.inside("prob", prob, 0.9)
    plan = drawn(split, evaluation, repeats=split.repeats, seed=seed)
    learnt, tested, tables = 0, 0, []
    fits, work = len(plan) * len(assessors), fits_of(plan, evaluation, assessors)
    for repeat, number, training, cells, name in track(work, fits, progressbar, what="fits"):
        items = training.items[training.items.index.isin(cells["item"])]
        trained = training.items.index[training.coded.attempted].intersection(items.index)
        if len(trained):
            raise DataError(
                f"{some(trained)} are held out for some subjects and trained on for others; hold "
                "out whole items, with Items, Groups or Given"
            )
        # a random stream other than those of splits and methods
        rng = np.random.default_rng([seed, 3, repeat, number])
        orders = [rng.permutation(len(items)) for _ in range(shuffles)]
        wider, queries = _with_copies(training, items, cells, groups[name].values(), orders)
        chances, _ = predicted(name, assessors[name], wider, queries, seed + repeat)
        won, tried = cells["successes"].to_numpy(), cells["trials"].to_numpy()
        errors = (chances.reshape(-1, len(cells)) - won / tried) ** 2
        losses = np.average(errors, axis=1, weights=tried)
        means = losses[1:].reshape(-1, shuffles).mean(axis=1) - losses[0]
        rises = {"method": name, "property": list(groups[name]), "importance": means}
        tables.append(pd.DataFrame(rises))
        learnt, tested = learnt + len(training.coded), tested + len(cells)
    folds = pd.concat(tables).groupby(["method", "property"], sort=False)["importance"]
    table = folds.agg(importance="mean", se="sem", folds="count").reset_index()
    table["se"] *= np.sqrt(1 + table["folds"] * tested / learnt)
    reach = stats.t.ppf((1 + prob) / 2, table.pop("folds") - 1) * table["se"]
    table = table.assign(low=table["importance"] - reach, high=table["importance"] + reach)
    table["method"] = pd.Categorical(table["method"], list(assessors))
    table = table.sort_values(["method", "importance"], ascending=[True, False], ignore_index=True)
    return table.astype({"method": "str"})


def _with_copies(
    training: Evaluation,
    items: pd.DataFrame,
    cells: pd.DataFrame,
    groups: Iterable[Sequence[str]],
    orders: Sequence[np.ndarray],
) -> tuple[Evaluation, pd.DataFrame]:
    """Add shuffled copies of items, by property, then by shuffle.

    Returns
    -------
    Evaluation
        Training outcomes, with the copies among the items.
    DataFrame
        Cells of the items, and then of each copy of them.
    """
    tables, queries = [training.items], [cells]
    for columns in groups:
        for order in orders:
            shuffled = {column: items[column].array.take(order) for column in columns}
            names = {name: f"{name} shuffled {len(tables)} times" for name in items.index}
            tables.append(items.assign(**shuffled).rename(index=names))
            queries.append(cells.assign(item=cells["item"].map(names)))
    wider, people = pd.concat(tables), training.subject_table
    coded = replace(training.coded, shape=(len(people), len(wider)))
    evaluation = Evaluation.of_cells(wider, people.index, coded, subjects=people)
    return evaluation, pd.concat(queries)


def _groups(
    name: str, assessor: Assessor, together: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the groups of columns that are shuffled for a method, by name."""
    columns = [column for column in getattr(assessor, "columns", ()) if column != ITEM]
    if not columns:
        raise DataError(
            f"{name} has no properties in an attribute columns, so that none can be shuffled; "
            "leave it out, or add this attribute with the properties it predicts from"
        )
    joined = {column for members in together.values() for column in members}
    groups = {**together, **{column: [column] for column in columns if column not in joined}}
    used = {name: [one for one in members if one in columns] for name, members in groups.items()}
    return {name: members for name, members in used.items() if members}
