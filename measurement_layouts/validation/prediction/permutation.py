"""Permutation importance: held-out items are predicted with one property shuffled at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common import options
from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.progress import track
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import refuse_steps
from ...layouts import Layout
from . import scoring_rules as scoring
from .assessor import Assessor, predicted
from .cross_validate import Method, keyed, properties_of, read_methods, read_split, working
from .importance import Importance, Score
from .splits import Fold, Split, drawn


def permutation_importance(
    methods: Mapping[str, Method] | Sequence[Layout | str],
    evaluation: Evaluation,
    *,
    columns: Sequence[str] | None = None,
    together: Mapping[str, Sequence[str]] | None = None,
    split: Split | str = "items",
    repeats: int | None = None,
    shuffles: int = 5,
    score: Score = "brier",
    prob: float = 0.9,
    seed: int = 1,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Importance:
    r"""Measure how much each method's predictions depend on each property of the items.

    Each method is trained on each fold's training items, and predicts the held-out items, both
    unchanged and with one property at a time shuffled among them.

    .. math:: \text{importance}_j = \operatorname{mean}_r L(\hat p(x^{(j, r)}), y)
        - L(\hat p(x), y)

    with the loss `L` (the Brier score, or 1 minus the AUROC) of a subject and fold, and held-out
    items :math:`x^{(j, r)}` whose property `j` is shuffled for the `r`-th time.

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
    repeats : int, optional
        As in `cross_validate`.
    shuffles : int
        Number of shuffles of each property in each fold.
    score : {"brier", "auroc"}
        Score from which importance is computed.
    prob : float
        Mass of the intervals.
    seed : int
        Seed of splits, methods and shuffles.
    n_jobs : int, optional
        As in `cross_validate`.
    progressbar : bool
        Whether to show completed folds and remaining time.

    Returns
    -------
    Importance
        Importances by method, fold, subject and property, with the elbow and its stability.

    Raises
    ------
    DataError
        When `evaluation` is something else, a method has no attribute ``columns``, columns to
        shuffle together are unknown, held-out items have training outcomes, a method refuses
        shuffled items, or outcomes have steps.
    FitError
        When an option is out of range.

    Notes
    -----
    A method is trained once in a fold, and predicts the held-out items together with shuffled
    copies of them, which have no outcomes.

    Importance measures how a method uses a property *given all others*, not the effect of the
    property: properties with the same information share their importance, and shuffled items may be
    unrealistic.

    The elbow is the point of the descending curve of importances that is furthest below the line
    from its first to its last point (Satopaa et al., 2011); the properties before it are chosen. If
    no point is below this line, or there are fewer than three properties, all are chosen.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16. Breiman (2001), Machine Learning 45.
    Nadeau and Bengio (2003), Machine Learning 52. Satopaa, Albrecht, Irwin and Raghavan (2011),
    31st ICDCS Workshops.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame(rng.normal(size=(200, 3)), columns=["size", "hour", "hue"])
    >>> solved = rng.random(200) < 1 / (1 + np.exp(3 * items["size"]))
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> found = permutation_importance(["logistic"], evaluation, progressbar=False)
    >>> found.table[["property", "importance", "low", "high", "folds"]].round(2)
      property  importance   low  high  folds
    0     size        0.25  0.18  0.32    1.0
    1     hour       -0.00 -0.00  0.00    0.0
    2      hue       -0.00 -0.00  0.00    0.0
    """
    refuse_no_evaluation(evaluation)
    refuse_steps(evaluation.rows, "permutation importance")
    if score not in ("brier", "auroc"):
        raise FitError(f"score={score!r}; give 'brier' or 'auroc'")
    assessors = read_methods(methods, evaluation, columns)
    shuffled = {name: _groups(name, each, together) for name, each in assessors.items()}
    split, seed = read_split(split), options.whole("seed", seed)
    repeats = options.whole("repeats", split.repeats if repeats is None else repeats, 1)
    shuffles, prob = options.whole("shuffles", shuffles, 1), options.inside("prob", prob, 0.9)
    plan = drawn(split, evaluation, repeats=repeats, seed=seed)
    parts = [(repeat, *part) for repeat, own in enumerate(plan) for part in enumerate(own)]
    for _, _, fold in parts:
        _refuse_known(fold, evaluation)
    attempted = evaluation.trials.to_numpy() > 0
    rows, cells = [], np.zeros(2)
    with working(n_jobs):
        for repeat, place, fold in track(parts, len(parts), progressbar, what="folds"):
            # a random stream other than those of splits and methods
            rng = np.random.default_rng([seed, 3, repeat, place])
            orders = [rng.permutation(int(fold.test.any(axis=0).sum())) for _ in range(shuffles)]
            cells += (fold.test & attempted).sum(), (fold.train & attempted).sum()
            for name, assessor in assessors.items():
                asked = _Asked(fold, evaluation, shuffled[name], orders)
                found = asked.importances(name, assessor, seed + repeat, score)
                rows.append(keyed(found, method=name, repeat=repeat, fold=place))
    order = {name: number for number, name in enumerate(assessors)}
    values = pd.concat(rows).sort_values("method", key=lambda own: own.map(order), kind="stable")
    return Importance(values.reset_index(drop=True), score, prob, float(cells[0] / cells[1]))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A fold's training outcomes, with shuffled copies of its held-out items."""

    fold: Fold
    evaluation: Evaluation
    groups: Mapping[str, Sequence[str]]
    orders: Sequence[np.ndarray]

    def importances(self, name: str, assessor: Assessor, seed: int, score: Score) -> pd.DataFrame:
        """Score the predictions of the items and of each copy, by subject."""
        held = self.fold.items(self.evaluation)
        training, names = self._beside(held)
        try:
            found = predicted(name, assessor, training, [*held, *names], seed)[0]
        except DataError as error:
            raise DataError(
                f"{name}, with shuffled items: {error}. Columns that depend on each other can be "
                "shuffled together, as in together={'band': ['lower', 'upper']}"
            ) from error
        chances = found.to_numpy().reshape(len(self.evaluation.subjects), -1, len(held))
        won = self.evaluation.successes[held].to_numpy()
        tried = np.where(
            self.fold.test[:, self.fold.test.any(axis=0)], self.evaluation.trials[held], 0
        )
        rises = []
        for own, right, of in zip(chances, won, tried, strict=True):
            losses = np.array([_loss(each, right, of, score) for each in own])
            rises.append(losses[1:].reshape(len(self.groups), -1).mean(axis=1) - losses[0])
        index = pd.MultiIndex.from_product(
            [self.evaluation.subjects, self.groups], names=["subject", "property"]
        )
        return pd.Series(np.concatenate(rises), index, name="importance").reset_index()

    def _beside(self, held: Sequence[str]) -> tuple[Evaluation, list[str]]:
        """Add shuffled copies to the items, ordered by property."""
        training = self.fold.training(self.evaluation)
        own, mark = training.items.loc[list(held)], "shuffled"
        while any(name.startswith(mark) for name in training.items.index):
            mark += "'"
        many = len(self.groups) * len(self.orders)
        taken = {column: np.tile(np.arange(len(held)), many) for column in own}
        for place, columns in enumerate(self.groups.values()):
            width = len(self.orders) * len(held)
            for column in columns:
                taken[column][place * width : (place + 1) * width] = np.concatenate(self.orders)
        copies = pd.DataFrame(
            {column: own[column].array.take(rows) for column, rows in taken.items()},
            [f"{mark} {number} {name}" for number in range(many) for name in held],
        )
        items = pd.concat([training.items, copies])
        counts = (
            table.reindex(columns=items.index, fill_value=0)
            for table in (training.successes, training.trials)
        )
        whole = Evaluation(items, *counts, subjects=training.subject_table)
        return whole, list(items.index[len(training.items) :])


def _loss(chances: np.ndarray, won: np.ndarray, tried: np.ndarray, score: Score) -> float:
    """Compute the Brier score, or 1 minus the AUROC; NaN if there is none."""
    asked = tried > 0
    if not asked.any() or np.isnan(chances[asked]).any():
        return float("nan")
    cells = chances[asked], won[asked], tried[asked]
    return 1 - scoring.auroc(*cells) if score == "auroc" else scoring.brier(*cells)


def _groups(
    name: str, assessor: Assessor, together: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Return the groups of columns that are shuffled for a method, by name."""
    columns = properties_of({name: assessor})
    if not columns:
        raise DataError(
            f"{name} has no properties in an attribute columns, so that none can be shuffled; "
            "leave it out, or add this attribute with the properties it predicts from"
        )
    found: dict[str, list[str]] = {}
    for group, parts in (together or {}).items():
        own = [part for part in ([parts] if isinstance(parts, str) else parts) if part in columns]
        if own:
            found[group] = own
    joined = [column for own in found.values() for column in own]
    given = [part for parts in (together or {}).values() for part in parts]
    if len(set(joined)) < len(joined):
        raise DataError(f"together= has a column twice: {some(joined)}; give each to one group")
    if given and not joined:
        raise DataError(
            f"together= has {some(given)}, but {name} predicts from {some(columns)}; give columns "
            "of the method"
        )
    alone = {column: [column] for column in columns if column not in joined}
    both = set(found) & set(alone)
    if both:
        raise DataError(f"together= has a group with the name of a column, {some(both)}; rename it")
    return {**found, **alone}


def _refuse_known(fold: Fold, evaluation: Evaluation) -> None:
    """Refuse folds in which an item has both training and held-out outcomes."""
    both = fold.test.any(axis=0) & (fold.train & (evaluation.trials.to_numpy() > 0)).any(axis=0)
    if both.any():
        raise DataError(
            f"{some(evaluation.items.index[both])} are held out for some subjects and trained on "
            "for others, so that their copies would be other items; hold out whole items, with "
            "Items, Groups or Given"
        )
