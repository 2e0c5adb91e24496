"""Union of two evaluations: all their subjects and items, and the outcomes of both."""

import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from .cells import Cells
from .properties import joined
from .steps import Rows
from .ungraded import Ungraded


def united(one: Ungraded, other: Ungraded) -> tuple[pd.DataFrame, pd.DataFrame, Cells, Cells]:
    """Join items, subjects, cells and ungraded cells; see `Evaluation.__add__`."""
    _same_steps(one, other)
    items = joined(one.items, other.items, "item")
    people = joined(one.subject_table, other.subject_table, "subject")
    names = items.index if one.rows is None else Rows.read(items.index).item
    shape = len(people), len(items)

    def moved(evaluation: Ungraded, cells: Cells) -> pd.DataFrame:
        """Write cells with the positions of subjects and rows in the union."""
        subject = people.index.get_indexer(evaluation.subject_table.index)[cells.subject]
        item = items.index.get_indexer(evaluation.items.index)[cells.item]
        columns = {"subject": subject, "item": item}
        return pd.DataFrame(columns | {"successes": cells.successes, "trials": cells.trials})

    first, second = (moved(evaluation, evaluation.coded) for evaluation in (one, other))
    number, _ = pd.factorize(names)
    for table in (first, second):
        table["pair"] = table["subject"] * len(items) + number[table["item"]]
    again = second["pair"].isin(first["pair"])
    both = pd.concat([first[first["pair"].isin(second["pair"])], second[again]])
    differ = both.drop_duplicates(keep=False).sort_values(["subject", "item"])
    if len(differ):
        differ = differ.drop_duplicates("pair")
        subjects, tried = people.index[differ["subject"]], names[differ["item"]]
        pairs = [f"{subject} on {name}" for subject, name in zip(subjects, tried, strict=True)]
        raise DataError(
            f"{len(pairs)} cell(s) have other outcomes in one evaluation than in the other: "
            f"{some(pairs)}; "
            "keep those of one of the two (select), or, if they are further attempts, count them "
            "together as trials: Evaluation(items, successes, trials)"
        )
    graded = pd.concat([first, second[~again]]).drop(columns="pair")
    ungraded = pd.concat(moved(counts, counts.ungraded_cells) for counts in (one, other))
    ungraded = ungraded.groupby(["subject", "item"], as_index=False).max()
    counts = [Cells.of(*table.to_numpy().T, shape=shape) for table in (graded, ungraded)]
    return items, people, counts[0], counts[1]


def _same_steps(one: Ungraded, other: Ungraded) -> None:
    """Refuse to join rows of steps with items, or with rows of other steps."""
    kinds = []
    for evaluation in (one, other):
        rows = evaluation.rows
        steps = [] if rows is None else zip(rows.outcome, rows.step, strict=True)
        kinds.append([f"{outcome} ≥ {step}" for outcome, step in dict.fromkeys(steps)])
    if kinds[0] != kinds[1]:
        outcomes = (some(kind) if kind else "0/1 outcomes of items" for kind in kinds)
        raise DataError(
            f"the evaluations have different outcomes: {' and '.join(outcomes)}; make both with "
            "Evaluation.of_outcomes(layout, ...) of one layout"
        )
