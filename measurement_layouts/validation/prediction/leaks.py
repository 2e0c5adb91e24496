"""Detection of training outcomes among those to be scored, with errors and warnings."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import many, some
from ...evaluations import alike
from ...evaluations.alike import Coincidences, Content
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import Rows
from ...evaluations.tables import read_numbers
from ...inference.forecasts.seen import Seen

_CLOSE = 0.9  # correlation of columns with those of training, above which items seem recoded


@dataclass(frozen=True, eq=False)
class Verdict:
    """Training outcomes that were detected among those to be scored.

    Attributes
    ----------
    same : ndarray of bool, shape (subjects, items)
        Training outcomes, recognised by name and equal meta-features, or by their contents if items
        have no names.
    changed : ndarray of bool, shape (subjects, items)
        Outcomes with the name of a training outcome, but other meta-features.
    by_content : str
        Contents by which items without names were recognised: "", "meta-features" or "meta-features
        and outcomes".
    twins : Coincidences
        Items with the contents of training items under other names.
    """

    same: np.ndarray
    changed: np.ndarray
    by_content: str
    twins: Coincidences


@dataclass(frozen=True, eq=False)
class Asked:
    """Items to be scored, with the training items.

    Attributes
    ----------
    seen : Seen
        Training data of the forecast.
    subjects, names : Index
        Subjects and items to be scored.
    content, trained : Content
        Items and outcomes to be scored, and training items and outcomes of the same subjects.
    chances : ndarray, shape (items, cells)
        Forecast probabilities of success; for a step, given that the previous one was reached.
    """

    seen: Seen
    subjects: pd.Index
    names: pd.Index
    content: Content
    trained: Content
    chances: np.ndarray

    @classmethod
    def of(
        cls,
        seen: Seen,
        successes: pd.DataFrame,
        trials: pd.DataFrame,
        means: np.ndarray,
        rows: Rows | None,
    ) -> "Asked":
        """Collect outcomes and forecasts, (subjects, rows), with the training data."""
        who = seen.subjects.get_indexer(trials.index)
        names = pd.Index(trials.columns) if rows is None else rows.items
        counts = [by_item(table.to_numpy(), len(names)) for table in (successes, trials)]
        places = seen.asked.get_indexer(names)
        known = [by_item(part[who], len(seen.names)) for part in (seen.successes, seen.trials)]
        return cls(
            seen,
            trials.index,
            names,
            Content(seen.features[places], seen.levels, *counts),
            Content(seen.known, seen.levels, *known),
            by_item(_given_before(means, rows), len(names)),
        )

    @property
    def attempted(self) -> np.ndarray:
        """Whether each subject attempted each training item."""
        return self.seen.attempted[self.seen.subjects.get_indexer(self.subjects)]

    def verdict(self, *, reused_names: bool) -> Verdict:
        """Detect training outcomes among all items and subjects."""
        places = self.seen.names.get_indexer(self.names)
        there = np.flatnonzero(places >= 0)
        attempted = self.attempted
        fits = np.zeros(len(self.names), dtype=bool)
        known = self.trained.features[places[there]]
        fits[there] = alike.equal(self.content.features[there], known).all(axis=1)
        named = np.asarray(attempted[:, places] & (places >= 0))
        if not (reused_names or self.seen.nameless):
            twins = self._twins(lambda rows, others: places[rows, None] == others)
            return Verdict(named & fits, named & ~fits, "", twins)
        same = np.zeros_like(named)
        mine, theirs = self.content.take(there), self.trained.take(places[there])
        chance = alike.same_table(mine, theirs, self.chances[there])
        whole = np.isin(np.flatnonzero(attempted.any(axis=0)), places[there]).all()
        enough = alike.WHOLE if whole else alike.CHANCE
        if alike.same_order(mine, theirs) or (chance is not None and chance <= enough):
            same[:, there] = named[:, there]
        told = ""
        found = alike.by_features(self.content, self.trained)
        if len(found.rows):
            told = "meta-features"
            same[:, found.rows] |= attempted[:, found.others]
        # an item whose number is known, and which was not attempted, is new
        held_out = fits & ~attempted[:, places].any(axis=0)
        if not same.any():
            found = self._twins(lambda rows, _: held_out[rows, None])
            if len(found.rows):
                told = "meta-features and outcomes"
                same[:, found.rows] |= attempted[:, found.others]
        twins = self._twins(
            lambda rows, others: ~held_out[rows, None] | (places[rows, None] == others)
        )
        if whole and chance is not None and not same.any():
            twins = Coincidences(there, places[there], chance * len(there))
        return Verdict(same, np.zeros_like(named), told, twins)

    def _twins(self, skip: alike.Pairs) -> Coincidences:
        return alike.by_outcomes(self.content, self.trained, self.chances, skip)

    def likely(self) -> tuple[bool, str]:
        """Return whether items seem recoded rather than replaced, and the reason."""
        places = self.seen.names.get_indexer(self.names)
        there = np.flatnonzero(places >= 0)
        have, known = self.content.features[there], self.trained.features[places[there]]
        same = alike.equal(have, known)
        if same.all(axis=1).mean() >= 0.5:
            return True, "most of the shared names have the same meta-features as in training"
        if alike.related(have, known, np.sqrt(1 - _CLOSE**2)):
            return True, "each column follows that of the training items"
        spread = np.ptp(known, axis=0)
        with np.errstate(invalid="ignore"):
            close = np.abs(have - known) <= 0.01 * spread
        if (same | close).all():
            return True, "all meta-features are within 1 % of the span in training"
        row, column = np.argwhere(~(same | close))[0]
        name, item = self.seen.columns[column], self.names[there[row]]
        return False, (
            f"{name} of {item} was {known[row, column]:g} and is {have[row, column]:g}, and the "
            "columns do not follow those of the training items"
        )


def refuse_trained(
    asked: Asked, trials: pd.DataFrame, *, training_items: bool, reused_names: bool
) -> None:
    """Refuse training outcomes, and warn of items that are likely the same under other names.

    Parameters
    ----------
    asked : Asked
        Items to be scored.
    trials : DataFrame
        Attempts to be scored, (subjects, rows).
    training_items, reused_names
        As in `score`.

    Raises
    ------
    DataError
        When outcomes were trained on, or have names of training items with other meta-features; the
        message names items and subjects.
    """
    if training_items:
        return
    verdict = asked.verdict(reused_names=reused_names)
    each = trials.shape[1] // len(asked.names)
    changed, same = (
        cell_names(trials, np.repeat(found, each, axis=1))
        for found in (verdict.changed, verdict.same)
    )
    if changed:
        recoded, why = asked.likely()
        guess = "the items were recoded" if recoded else "the names are reused for other items"
        remedies = [
            "if the items were recoded, forecast items held out from the fit, or pass "
            "training_items=True to score the fit on its own data",
            "if these are other items, give them other names, or pass reused_names=True",
        ]
        first, second = remedies if recoded else remedies[::-1]
        raise DataError(
            f"{len(changed)} outcome(s) to be scored have names of training items, but other "
            f"meta-features: {some(changed)}; most likely {guess}, because {why}: {first}; "
            f"{second}"
        )
    if same:
        told = verdict.by_content
        raise trained_error(same, f" (recognised by their {told})" if told else "")
    twins, known = verdict.twins, asked.seen.names
    alone = bool((asked.names[twins.rows] == known[twins.others]).all())
    report(
        twins,
        asked.names,
        known,
        "have the meta-features and outcomes of training items "
        + ("in the same rows, which have no names" if alone else "under other names"),
        "if they are the same items, the scores are too good: leave them out",
        stacklevel=5,
    )


def trained_error(found: Sequence[str], how: str = "") -> DataError:
    """Return an error that names outcomes that were trained on."""
    return DataError(
        f"{len(found)} outcome(s) to be scored were trained on: {some(found)}{how}; "
        "forecast items held out from the fit, or pass training_items=True to score the fit on its "
        "own data"
    )


def cell_names(trials: pd.DataFrame, chosen: np.ndarray) -> list[str]:
    """Return the names of chosen cells that were attempted."""
    places = np.argwhere(chosen & (trials.to_numpy() > 0))
    return [f"{trials.columns[column]} ({trials.index[row]})" for row, column in places]


def report(
    found: Coincidences,
    names: Sequence[str] | pd.Index,
    others: Sequence[str] | pd.Index,
    what: str,
    remedy: str,
    *,
    stacklevel: int,
) -> None:
    """Warn of items that are likely the same as others, if there are any."""
    if not len(found.rows):
        return
    pairs = [
        f"{names[row]} (as {others[other]})"
        for row, other in zip(found.rows, found.others, strict=True)
    ]
    chance = f"{found.expected:.2g}" if found.expected >= 0.01 else "less than 0.01"
    warnings.warn(
        f"{many(len(pairs), 'item')} {what}: {some(pairs)}. Chance alone would give {chance}; "
        f"{remedy}",
        stacklevel=stacklevel,
    )


def report_twins(
    evaluation: Evaluation,
    columns: Sequence[str] | None,
    chances: np.ndarray,
    *,
    levels: Iterable[str] = (),
) -> None:
    """Warn of items of one evaluation whose properties and outcomes are equal.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    columns : sequence of str, optional
        Properties to compare (default: all).
    chances : ndarray, shape (subjects, rows)
        Predictions of success by methods that were not trained on the row's outcomes; NaN if there
        is none.
    levels : iterable of str
        Columns whose levels are declared.
    """
    table, rows = evaluation.item_table, evaluation.rows
    table = table.loc[:, ~table.columns.duplicated()]
    chosen = list(table.columns) if columns is None else list(columns)
    values, foreign = read_numbers(table[chosen])
    for column in np.flatnonzero(foreign.any(axis=0)):  # texts are levels
        values[:, column] = pd.factorize(table[chosen[column]].astype(str))[0]
    known = set(levels)
    coarse = np.array([name in known for name in chosen], dtype=bool) | foreign.any(axis=0)
    chances = _given_before(chances, rows)
    rates = evaluation.success_rates().to_numpy()[:, None]
    chances = np.where(np.isnan(chances), rates, chances)
    counts = [evaluation.successes.to_numpy(), evaluation.trials.to_numpy()]
    content = Content(values, coarse, *(by_item(part, len(table)) for part in counts))
    found = alike.by_outcomes(
        content, content, by_item(chances, len(table)), lambda rows, others: others <= rows[:, None]
    )
    report(
        found,
        table.index,
        table.index,
        "have the properties and outcomes of others under another name",
        "if they are the same, what is held out is not unseen: leave one of each out",
        stacklevel=4,
    )


def _given_before(means: np.ndarray, rows: Rows | None) -> np.ndarray:
    """Divide probabilities of reaching each step by those of the previous step."""
    if rows is None:
        return means
    begins = rows.first == np.arange(len(rows.first))
    before = np.concatenate([np.ones((len(means), 1)), means[:, :-1]], axis=1)
    return np.asarray(np.divide(means, before, out=means.copy(), where=~begins & (before > 0)))


def by_item(values: np.ndarray, items: int) -> np.ndarray:
    """Reshape (subjects, rows) or (subjects, items, steps) to a row for each item."""
    parts = values.reshape(len(values), items, -1)
    return np.asarray(parts.transpose(1, 0, 2).reshape(items, -1), dtype=float)
