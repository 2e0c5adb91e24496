"""Who is ahead, on the same items: differences between subjects, with and without a fit."""

import itertools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.given import refuse_other
from ...common.messages import many, some
from ...common.options import inside
from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import Rows, rows_per_item
from ...evaluations.tables import known_names, named
from ...evaluations.ungraded import Treatment, refuse_other_treatment
from ...inference.fit import Fit
from ...inference.forecasts.functions import Grouping, groups_of
from ...inference.forecasts.scope import Scope
from ...inference.posterior.cohort import levels_of_items
from ...inference.posterior.diagnostics import profiles, verdicts
from ...inference.posterior.posterior import rows_of
from ...layouts.elements import Element, find_elements
from ...layouts.nodes import Node
from ...layouts.outcomes.steps import MARK
from ...linking import Expr
from .draws import differences, element_draws, expected_success, means_over_items, ranks
from .paired import BoundedOutcomes, PairedOutcomes, ranks_of
from .result import OUTCOMES, READINGS, Comparison, in_words

_MOST = 200  # subjects
_DOUBTS = {
    "not_converged": "not converged, see Fit.diagnostics",
    "prior_dominated": "prior-dominated",
    "modes": "separate modes",
}
_COLUMNS = [
    "reading",
    "subject",
    "reference",
    "difference",
    "se",
    "low",
    "high",
    "ahead",
    "p",
    "mcnemar",
    "items",
    "clusters",
]


def compare(
    fit: Fit | Evaluation,
    items: pd.DataFrame | Iterable[object] | None = None,
    *,
    by: str = "success",
    cluster: Grouping | None = None,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    ungraded: Treatment = "bounds",
) -> Comparison:
    r"""Compare subjects on the same items: who is ahead, by how much, and how sure that is.

    .. math:: \Delta_{ab} = \frac{1}{n} \sum_i \left( p_{ai} - p_{bi} \right)

    of a fit, in each draw, with the expected success :math:`p_{si}` of subject s on item i; of
    outcomes, with the mean outcomes :math:`y_{si}` over attempts, on the items that both answered.

    Parameters
    ----------
    fit : Fit or Evaluation
        A fit, or outcomes, which are then compared without a model.
    items : DataFrame or iterable, optional
        Properties of items, known or new, indexed by item; or names of items (default: all items
        of the fit or the evaluation). Items that are numbered and not named have no outcomes.
    by : str
        ``success``; or of a fit, a profile element (``skill``, ``skill[read]``), of which more is
        ahead; or a derived node or an outcome, whose mean over the items is compared. The outcome
        of grades or scores, and of several outcomes, is compared as a fraction of the highest.
    cluster : str, Series or mapping, optional
        Column of the items, or the cluster of each item by its name: items of one text, task or
        benchmark, whose outcomes are not independent (default: each item is a cluster).
    subjects : iterable, optional
        Names of two to 200 subjects (default: all).
    prob : float, default 0.9
        Mass of the intervals, and least probability that the best subject is among those tied.
    ungraded : {"drop", "fail", "bounds"}
        What becomes of attempts of an evaluation without a grade: they are left out, are failures,
        or widen the intervals to all that they could have been (see Notes). A fit has none.

    Returns
    -------
    Comparison
        Differences, ranks, tied subjects and sentences.

    Raises
    ------
    FitError
        When `fit` is something else, `by` is unknown, has several values or needs a fit, there are
        fewer than two subjects or more than 200, or `prob` is out of range.
    DataError
        When an item, a subject or a column is unknown, an item has no cluster, or two subjects of
        an evaluation have no item in common.

    Notes
    -----
    **These items, and more items.** The difference on these very items has the uncertainty of the
    posterior alone. That on more items like them also has the spread between items, or clusters,
    by a Bayesian bootstrap: in each draw the clusters have the same random weights for all
    subjects, gamma variates of shape 1 - 4 / n for n clusters, so that the variance is that of
    Student's t with n - 1 degrees of freedom. It needs five clusters.

    **Outcomes.** With the differences :math:`d_i` of the n items that both answered, in G clusters,
    the standard error is Liang and Zeger's with the factor of CR1,

    .. math:: \mathrm{se}^2 = \frac{G}{G - 1} \, \frac{1}{n^2}
        \sum_c \Big( \sum_{i \in c} (d_i - \bar d) \Big)^2

    and the interval and p are those of Student's t with G - 1 degrees of freedom: the paired t test
    where each item is a cluster. Where all clusters have the same difference, p is that of the sign
    test. McNemar's p is exact; it takes items as independent, and needs single outcomes of 0 or 1.

    **Tied with the first.** Of a posterior, the smallest set of subjects that contains the best
    with probability `prob`. Of outcomes, the subjects that are not behind any other by a
    difference that is certain, where the largest studentised difference of a subject to all others
    is beyond its limit with probability 1 - `prob` at most (multivariate t); so the best is left
    out with no larger probability. The interval of a rank follows from the same differences.

    **Attempts without a grade.** An interval begins where it would if all ungraded attempts of the
    subject had failed and all of the reference had succeeded, and ends where the reverse would end;
    the difference is the middle between the two, ``se`` and ``p`` the larger ones (p is 1 if the
    signs differ), and a subject is behind or ahead only if it is in both.

    Draws of subjects that were fitted apart are paired at random. Elements of a profile are
    compared between subjects only where they have a common scale.

    References
    ----------
    Liang, Zeger (1986), Biometrika 73: the standard error. Miller (2024), arXiv 2411.00640: paired
    and clustered differences of evaluations. Hsu (1984), Annals of Statistics 12: comparisons with
    the best. Mogstad, Romano, Shaikh, Wilhelm (2024), Review of Economic Studies 91: intervals of
    ranks. Rubin (1981), Annals of Statistics 9: the Bayesian bootstrap.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> comparison = compare(result)
    >>> comparison
    <Comparison of success: 2 subjects, 2 tied with the first, 90% intervals>
    >>> comparison.table[["reading", "difference", "ahead"]].round(1)
           reading  difference  ahead
    0  these items         0.1    0.9
    1   more items         0.1    0.9
    2     outcomes         0.1    NaN
    >>> compare(result, by="navigationAbility").tied
    ['sim-01', 'sim-30']
    """
    remedy = "give the result of ml.fit(layout, evaluation), or an ml.Evaluation without a fit"
    refuse_other("fit", fit, Fit | Evaluation, "a Fit or an Evaluation", remedy, FitError)
    prob = inside("prob", prob, such_as=0.9)
    names = _subjects(fit, subjects)
    if isinstance(fit, Evaluation) and by != "success":
        raise FitError(f"by={by!r} needs a posterior, and this is an evaluation; give a fit of it")
    nodes = () if isinstance(fit, Evaluation) else (*fit.layout.derived, *fit.layout.outcomes)
    node = next((node for node in nodes if node.name == by), None)
    if isinstance(fit, Fit) and by != "success" and node is None:
        element = _element(fit, by)
        table, ranking = _of_draws(names, {by: element_draws(fit, element, names)}, prob)
        return _result(table, ranking, prob, by, _doubts(fit, names, element))
    refuse_other_treatment(ungraded)
    missing = pd.Series(0, names)
    if isinstance(fit, Evaluation):
        missing = fit.success_bounds().loc[names, "ungraded"]
        if ungraded == "fail":
            fit = fit.ungraded_as(False)
    elif ungraded != "bounds":
        raise FitError(
            f"ungraded={ungraded!r} is for an evaluation, and this is a fit, of graded attempts; "
            "fit evaluation.ungraded_as(False) to count them as failures"
        )
    answers = _Answers.of(fit)
    chosen = answers.chosen(items)
    clusters = np.arange(len(chosen))
    if cluster is not None:
        clusters = pd.factorize(groups_of(chosen, cluster))[0]
    paired = answers.paired(names, chosen.index, clusters, prob)
    if isinstance(fit, Evaluation):
        if ungraded != "bounds" or not missing.any():
            return _result(*_of_outcomes(names, paired), prob, by)
        failed, succeeded = (
            _Answers.of(fit.ungraded_as(success)).paired(names, chosen.index, clusters, prob)
            for success in (False, True)
        )
        tables = _of_outcomes(names, BoundedOutcomes.of(failed, succeeded))
        doubts = {
            str(name): f"{name}: {many(count, 'attempt')} without a grade"
            for name, count in missing[missing > 0].items()
        }
        return _result(*tables, prob, by, doubts)
    target = expected_success(fit.layout) if node is None else _single(fit, node)
    scope = _scope(fit, names, items, chosen, answers.items.index)
    table, ranking = _of_draws(names, means_over_items(scope, target, clusters), prob)
    table = table.assign(items=len(clusters), clusters=clusters.max() + 1)
    numbered = isinstance(items, pd.DataFrame) and isinstance(items.index, pd.RangeIndex)
    if node is None and not numbered:  # a number is no name that tells an item of the fit
        outcomes = _observed(names, paired, ranking["subject"].unique().tolist())
        table = pd.concat([table, outcomes])
    return _result(table, ranking, prob, by, _doubts(fit, names))


def _subjects(fit: Fit | Evaluation, subjects: Iterable[object] | None) -> list[str]:
    """Read names of subjects; refuse fewer than two, and too many."""
    names = fit.subjects
    if subjects is not None and isinstance(fit, Evaluation):
        names = known_names(subjects, fit.subject_table.index, "subject")
    elif subjects is not None and isinstance(fit, Fit):
        names = fit.named(subjects)
    if not 2 <= len(names) <= _MOST:
        raise FitError(
            f"comparing takes 2 to {_MOST} subjects, and there are {len(names)} ({some(names)}); "
            "name others as subjects="
        )
    return names


def _element(fit: Fit, name: str) -> Element:
    elements = find_elements(fit.elements, name)
    if len(elements) > 1:
        raise FitError(
            f"{name} has a value per label; name one of {some(one.name for one in elements)}"
        )
    return elements[0]


def _single(fit: Fit, node: Node) -> Expr:
    """Return the expression of a node that has one value per item."""
    if node.dims:
        raise FitError(f"{node.name} has a value per label; compare by a node without labels")
    return fit.layout.mean_of(node)


class _Answers(NamedTuple):
    """Attempted cells of all subjects, and the items with their properties."""

    cells: Cells
    rows: Rows | None
    subjects: pd.Index
    items: pd.DataFrame

    @classmethod
    def of(cls, fit: Fit | Evaluation) -> Self:
        """Read a fit or an evaluation."""
        if isinstance(fit, Evaluation):
            return cls(fit.coded, fit.rows, fit.subject_table.index, fit.item_table)
        rows = None if fit.layout.steps is None else Rows.read(fit.item_names)
        first = slice(None, None, rows_per_item(fit.layout))
        columns = {
            name: values.to_numpy()[first]
            for name, values in fit.constants.items()
            if values.dims == ("item",) and not str(name).startswith(MARK)
        }
        items = pd.DataFrame(columns, fit.item_names if rows is None else rows.items)
        return cls(fit.coded, rows, pd.Index(fit.subjects), items)

    def chosen(self, items: pd.DataFrame | Iterable[object] | None) -> pd.DataFrame:
        """Return the properties of given items, or of all."""
        if items is None:
            return self.items
        if isinstance(items, pd.DataFrame):
            return named(items, "items", "item")
        return self.items.loc[known_names(items, self.items.index, "item")]

    def paired(
        self, names: list[str], items: pd.Index, clusters: np.ndarray, prob: float
    ) -> PairedOutcomes:
        """Take the outcomes of some subjects on items, as far as they are known by name."""
        cells = self.cells.select(self.subjects.get_indexer(pd.Index(names)))
        positions = self.items.index.get_indexer(items)
        return PairedOutcomes.of(cells, self.rows, positions, clusters, prob)


def _scope(fit: Fit, names: list[str], items: object, chosen: pd.DataFrame, own: pd.Index) -> Scope:
    """Find the values of subjects and items: new ones, or those of the fit."""
    if isinstance(items, pd.DataFrame):
        return Scope.of(fit, chosen, names)
    each, positions = rows_per_item(fit.layout), own.get_indexer(chosen.index)
    features = {
        node.name: fit.constants[node.name].to_numpy()[::each] for node in fit.layout.row_features
    }
    features |= levels_of_items(fit)
    features = {name: values[positions] for name, values in features.items()}
    return Scope(fit, chosen, names, fit.places(names), features)


def _of_draws(
    names: list[str], draws: dict[str, np.ndarray], prob: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the tables of pairs and of ranks, in the order of the first reading's ranks."""
    tables = [ranks(values, prob).assign(reading=name) for name, values in draws.items()]
    order = tables[0].sort_values("rank", kind="stable").index
    ranking = pd.concat(
        [table.loc[order].assign(subject=np.array(names)[order]) for table in tables]
    )
    pairs = pd.DataFrame(
        itertools.combinations(np.array(names)[order], 2), columns=["subject", "reference"]
    )
    rows = [
        pairs.join(differences(values[order], prob)).assign(reading=name)
        for name, values in draws.items()
    ]
    return pd.concat(rows), ranking


def _of_outcomes(
    names: list[str], paired: PairedOutcomes | BoundedOutcomes
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the same tables of outcomes."""
    ranking = ranks_of(paired).assign(subject=names, reading=OUTCOMES, best=np.nan)
    ranking = ranking.sort_values("rank", kind="stable")
    table = _observed(names, paired, ranking["subject"].tolist())
    for row in table[table["items"] == 0].head(1).itertuples():
        raise DataError(
            f"{row.subject} and {row.reference} answered no item in common; leave one of them out "
            "by subjects=, or compare them in a fit"
        )
    return table, ranking.assign(tied=ranking["rank_low"] == 1)


def _observed(
    names: list[str], paired: PairedOutcomes | BoundedOutcomes, order: list[str]
) -> pd.DataFrame:
    """Return a row per pair of subjects, in the order of the subjects."""
    positions = pd.Index(names).get_indexer(pd.Index(order))
    tables = [
        paired.against(position)
        .loc[positions[place + 1 :]]
        .assign(subject=order[place], reference=order[place + 1 :])
        for place, position in enumerate(positions.tolist())
    ]
    return pd.concat(tables, ignore_index=True).assign(reading=OUTCOMES)


def _doubts(fit: Fit, names: list[str], element: Element | None = None) -> dict[str, str]:
    """Say of each subject why its rows are to be read with care; of most, nothing."""
    doubts = pd.DataFrame({"not_converged": verdicts(fit, names)["status"] == "not converged"})
    if element is not None:
        rows = rows_of(profiles(fit, subjects=names), element, names)
        doubts = doubts.join(rows[["prior_dominated", "modes"]])
    return {
        str(name): f"{name}: {' and '.join(_DOUBTS[doubt] for doubt in row.index[row])}"
        for name, row in doubts.astype(bool).iterrows()
        if row.any()
    }


def _result(
    table: pd.DataFrame,
    ranking: pd.DataFrame,
    prob: float,
    name: str,
    doubts: Mapping[str, str] = MappingProxyType({}),
) -> Comparison:
    """Join the readings of each pair, and write each row as a sentence."""
    table = table.sort_index(kind="stable").reset_index(drop=True).reindex(columns=_COLUMNS)
    table = table.fillna({"items": 0, "clusters": 0}).astype({"items": int, "clusters": int})
    of_element = ~table["reading"].isin(READINGS)
    table = table[of_element | (table["items"] > 0)].reset_index(drop=True)
    warnings = [
        "; ".join(doubts[name] for name in pair if name in doubts)
        for pair in table[["subject", "reference"]].to_numpy().tolist()
    ]
    texts = [in_words(row, name) for row in table.to_dict("records")]
    columns = ["reading", "subject", "mean", "rank", "rank_low", "rank_high", "best", "tied"]
    return Comparison(
        table.assign(warning=warnings, text=texts),
        ranking[columns].reset_index(drop=True),
        prob,
        name,
    )
