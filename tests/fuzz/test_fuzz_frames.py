"""Data frames with cells, names, kinds and shapes that nobody means: refused, or read right."""

import math
import numbers
import random

import numpy as np
import pandas as pd
import pytest
from helpers.odd_frames import damaged
from helpers.odd_values import odd
from helpers.trying import counts, need, try_many

from measurement_layouts import (
    Capability,
    DataError,
    Evaluation,
    Graded,
    Layout,
    MetaFeature,
    Score,
    Success,
)
from measurement_layouts.linking import logistic

SUBJECTS, ITEMS = ["Ann", "Bob", "Cy"], ["a", "b", "c", "d"]


def items_of(choice: random.Random) -> pd.DataFrame:
    columns = {
        "size": [choice.choice([0.5, 1, 1.5, 2]) for _ in ITEMS],
        "there": [choice.choice([0, 1]) for _ in ITEMS],
        "demand[x]": [choice.uniform(0, 3) for _ in ITEMS],
        "demand[y]": [choice.uniform(0, 3) for _ in ITEMS],
        "colour": [choice.choice(["red", "blue"]) for _ in ITEMS],
    }
    return pd.DataFrame(columns, index=ITEMS)


def wide_of(choice: random.Random) -> pd.DataFrame:
    cells = [[choice.choice([0, 1, 1, 0, None]) for _ in ITEMS] for _ in SUBJECTS]
    return pd.DataFrame(cells, SUBJECTS, ITEMS)


def outcome(cell: object) -> float | None:
    """Read a cell in plain Python: 0, 1, or None where it is missing; anything else raises."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, str):  # one of the texts among the odd cells, or of a number
        if cell.strip().lower() in ("", "na", "n/a", "nan", "null", "none"):
            return None
        cell = {"yes": 1.0}.get(cell) or float(cell)
        need(not math.isnan(cell), "a text was read as missing")
    number = isinstance(cell, numbers.Real | np.bool) and not isinstance(cell, np.timedelta64)
    need(number, f"{cell!r} was read as an outcome")
    if math.isnan(cell):
        return None
    need(cell in (0, 1), f"{cell!r} was read as an outcome")
    return float(cell)


def is_as_read(evaluation: Evaluation, expected: dict[tuple[str, str], tuple[int, int]]) -> None:
    """Hold an evaluation against counts read in plain Python: (successes, trials) by names."""
    can_be_written(evaluation)
    for subject in evaluation.subjects:
        for item in evaluation.items.index:
            have = tuple(
                int(table.at[subject, item]) for table in (evaluation.successes, evaluation.trials)
            )
            want = expected.pop((subject, item), (0, 0))
            need(have == want, f"{subject} on {item}: {have} read, {want} meant")
    need(not any(trials for _, trials in expected.values()), f"lost: {expected}")


def can_be_written(evaluation: Evaluation) -> None:
    """Hold that no name and no cell has half a character, which no file holds."""
    items = evaluation.items
    cells = [
        cell for column in range(items.shape[1]) for cell in items.iloc[:, column].astype(object)
    ]
    names = [*items.index, *map(str, items.columns), *evaluation.subjects]
    " ".join([*names, *(cell for cell in cells if isinstance(cell, str))]).encode()


def cells_of(table: pd.DataFrame) -> dict[tuple[str, str], object]:
    return {
        (str(row), str(column)): table.iat[place, own]
        for place, row in enumerate(table.index)
        for own, column in enumerate(table.columns)
    }


def read_wide(choice: random.Random) -> None:
    table, items = wide_of(choice), items_of(choice)
    table = damaged(table, choice)
    items = damaged(items, choice) if choice.random() < 0.2 else items
    evaluation = Evaluation.from_wide(table, items)
    if "index" in table.columns[:1]:  # names of the rows, in a first column
        table = table.set_index("index")
    nameless = [name is None or name != name or name == "" for name in table.columns]
    cells = {
        name: outcome(cell) for name, cell in cells_of(table.loc[:, ~np.array(nameless)]).items()
    }
    if set(map(str, table.index)) & set(evaluation.items.index):
        cells = {(subject, item): cell for (item, subject), cell in cells.items()}
    is_as_read(
        evaluation,
        {name: (int(cell or 0), int(cell is not None)) for name, cell in cells.items()},
    )


def read_counts(choice: random.Random) -> None:
    trials = pd.DataFrame(
        [[choice.randint(0, 5) for _ in ITEMS] for _ in SUBJECTS], SUBJECTS, ITEMS
    )
    successes = trials.map(lambda count: choice.randint(0, count))
    tables = [items_of(choice), successes, trials]
    place = choice.randrange(3)
    tables[place] = damaged(tables[place], choice)
    evaluation = Evaluation(*tables)
    passed, tried = (cells_of(table) for table in tables[1:])
    is_as_read(evaluation, {name: (int(passed[name]), int(tried[name])) for name in tried})


def read_long(choice: random.Random) -> None:
    names = ("subject", "item", "outcome")
    rows = [
        (choice.choice(SUBJECTS), choice.choice(ITEMS), choice.choice([0, 1, None]))
        for _ in range(8)
    ]
    table = pd.DataFrame(rows, columns=names)
    items = items_of(choice)
    beside = choice.random() < 0.4
    if beside:
        table = table.join(items, on="item")
    table = damaged(table, choice)
    items = damaged(items, choice) if choice.random() < 0.2 else items
    repeats = choice.choice(["trials", "trials", "trials", "refuse", "x", None])
    odd_name = {choice.choice(names): odd(choice)} if choice.random() < 0.03 else {}
    evaluation = Evaluation.from_long(table, None if beside else items, repeats=repeats, **odd_name)
    need(not odd_name, f"columns named {odd_name}")
    expected: dict[tuple[str, str], tuple[int, int]] = {}
    for subject, item, cell in zip(*(table[name] for name in names), strict=True):
        name, read = (str(subject), str(item)), outcome(cell)
        passed, tried = expected.get(name, (0, 0))
        expected[name] = (passed + int(read or 0), tried + int(read is not None))
    is_as_read(evaluation, expected)


def read_outcomes(choice: random.Random) -> None:
    skill = Capability("skill", low=0, high=3)
    p = logistic(skill - MetaFeature("size", low=0, high=3))
    leaves = [Success("y", p), Graded("grade", p), Score("credit", p, precision=1, places=4)]
    leaves = choice.sample(leaves, choice.randint(1, 3))
    layout = Layout("several", *leaves)
    grades = ["wrong", "partly", "right", 0, 1, 2, None]
    values = {"y": [0, 1, None], "grade": grades, "credit": [0, 0.25, 0.3, 0.5, 1.0, None]}
    tables = {}
    for leaf in leaves:
        own = values[leaf.name]
        tables[leaf.name] = (
            wide_of(choice).astype(object).map(lambda _, own=own: choice.choice(own))
        )
    broken = choice.choice(leaves).name
    tables[broken] = damaged(tables[broken], choice)
    if choice.random() < 0.1:
        tables = choice.choice(
            [None, [], {}, {"x": tables[broken]}, tables | {3: None}, tables[broken]]
        )
    items = items_of(choice)
    items = damaged(items, choice) if choice.random() < 0.1 else items
    evaluation = Evaluation.of_outcomes(layout, tables, items)
    can_be_written(evaluation)
    need(bool((evaluation.successes <= evaluation.trials).to_numpy().all()), "more than tried")


@pytest.mark.filterwarnings("ignore:left out, without any outcome", "ignore:.* is dropped")
@pytest.mark.parametrize(
    ("name", "count"),
    counts(
        read_wide=(60, 500), read_counts=(60, 500), read_long=(60, 500), read_outcomes=(60, 500)
    ),
)
def test_odd_frames_are_refused_or_read_right(name, count, more):
    tried = try_many(globals()[name], count * more, DataError)
    tried.hold(accepted=0.1, refused=0.2)
