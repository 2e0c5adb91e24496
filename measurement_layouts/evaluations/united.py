"""Union of two evaluations: all their subjects and items, and the outcomes of both."""

import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from .cells import Cells
from .counts import Counts
from .properties import joined
from .steps import Rows


def united(one: Counts, other: Counts) -> tuple[pd.DataFrame, Cells, pd.DataFrame]:
    """Join items, cells and subjects; see `Evaluation.__add__`."""
    _same_steps(one, other)
    items = joined(one.items, other.items, "item")
    people = joined(one.subject_table, other.subject_table, "subject")
    names = items.index if one.rows is None else Rows.read(items.index).item
    number, _ = pd.factorize(names)
    tables = []
    for counts in (one, other):
        subject = people.index.get_indexer(counts.subject_table.index)[counts.coded.subject]
        item = items.index.get_indexer(counts.items.index)[counts.coded.item]
        columns = {"pair": subject * len(items) + number[item], "subject": subject, "item": item}
        columns |= {"successes": counts.coded.successes, "trials": counts.coded.trials}
        tables.append(pd.DataFrame(columns))
    ours, theirs = tables
    again = theirs["pair"].isin(ours["pair"])
    both = pd.concat([ours[ours["pair"].isin(theirs["pair"])], theirs[again]])
    differ = both.drop_duplicates(keep=False).sort_values(["subject", "item"])
    if len(differ):
        differ = differ.drop_duplicates("pair")
        rows = zip(
            people.index[differ["subject"].to_numpy()],
            names[differ["item"].to_numpy()],
            strict=True,
        )
        pairs = [f"{subject} on {name}" for subject, name in rows]
        raise DataError(
            f"{len(pairs)} cell(s) have other outcomes in one evaluation than in the other: "
            f"{some(pairs)}; "
            "keep those of one of the two (select), or, if they are further attempts, count them "
            "together as trials: Evaluation(items, successes, trials)"
        )
    cells = pd.concat([ours, theirs[~again]]).drop(columns="pair")
    arrays = cells.to_numpy().T
    return items, Cells.of(*arrays, shape=(len(people), len(items))), people


def _same_steps(one: Counts, other: Counts) -> None:
    """Refuse to join rows of steps with items, or with rows of other steps."""
    kinds = []
    for each in (one, other):
        rows = each.rows
        steps = [] if rows is None else zip(rows.outcome, rows.step, strict=True)
        kinds.append([f"{outcome} ≥ {step}" for outcome, step in dict.fromkeys(steps)])
    if kinds[0] != kinds[1]:
        told = (some(kind) if kind else "0/1 outcomes of items" for kind in kinds)
        raise DataError(
            f"the evaluations have different outcomes: {' and '.join(told)}; make both with "
            "Evaluation.of_outcomes(layout, ...) of one layout"
        )
