"""Messages: names of any length are bearable, and what an option may be is said on both sides."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation, FitError, LayoutError
from measurement_layouts.command import main
from measurement_layouts.evaluations.logs.table import read_table
from measurement_layouts.linking import logistic

LONG = "x" * 3_000_000
MOST = 3_000  # characters of a message

size = ml.MetaFeature("size", low=0, high=10)
layout = ml.Layout("looking", ml.Success("found", logistic(ml.Capability("s", 0, 10) - size)))
items = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
wide = pd.DataFrame([[1, 0], [0, 1]], ["Ann", "Bob"], ["a", "b"])
rows = wide.stack().rename_axis(["subject", "item"]).rename("outcome").reset_index()
somebody = wide.rename(index={"Ann": LONG})
something, of_something = wide.rename(columns={"a": LONG}), items.rename(index={"a": LONG})
evaluation = Evaluation.from_wide(something, of_something)

FAULTS = [
    lambda: Evaluation.from_wide(somebody * 7, items),
    lambda: Evaluation.from_wide(something, items),
    lambda: Evaluation.from_wide(wide.astype(object).replace(1, LONG), items),
    lambda: Evaluation.from_wide(pd.concat([somebody] * 2), items),
    lambda: Evaluation.from_wide(somebody.rename(index={LONG: LONG + "\0"}), items),
    lambda: Evaluation.from_wide(
        wide, items.assign(**{LONG: pd.Series("\ud800", items.index, object)})
    ),
    lambda: Evaluation.from_wide(rows.rename(columns={"subject": LONG}), items),
    lambda: Evaluation.from_long(rows.rename(columns={"subject": LONG}), items),
    lambda: Evaluation.from_long(rows.assign(subject=LONG)[::2], items, item="outcome"),
    lambda: Evaluation.from_long(rows, items, repeats=LONG),
    lambda: Evaluation.from_table(rows, trials=LONG),
    lambda: Evaluation(items, somebody * 2, somebody),
    lambda: evaluation.select(items=["nothing"]),
    lambda: evaluation.select(subjects=[LONG]),
    lambda: ml.fit(layout, Evaluation.from_wide(something, of_something.assign(size=99))),
    lambda: ml.fit(layout, Evaluation.from_wide(something, of_something.assign(size=LONG))),
    lambda: ml.fit(layout, Evaluation.from_wide(something, of_something.assign(size=np.nan))),
    lambda: ml.check(layout, Evaluation.from_wide(something, of_something.assign(size=LONG))),
    lambda: ml.fit(layout, evaluation, subjects=[LONG]),
    lambda: ml.fit(layout, evaluation, method=LONG),
    lambda: ml.fit(layout, evaluation, draws=LONG),
    lambda: ml.fit(layout, evaluation, target_accept=LONG),
    lambda: read_table(somebody * 7),
    lambda: read_table(rows.assign(subject=LONG, attempt=1)),
    lambda: read_table(rows.rename(columns={"outcome": LONG})),
    lambda: ml.Capability(LONG, low=1, high=0),
    lambda: ml.MetaFeature("size", levels=(LONG,)),
    lambda: ml.Success(LONG, logistic(size) * 2),
]


@pytest.mark.parametrize("fault", FAULTS, ids=range(len(FAULTS)))
def test_names_of_three_million_characters_are_shortened(fault):
    with pytest.raises((DataError, FitError, LayoutError)) as raised:
        fault()
    said = str(raised.value)
    assert len(said) < MOST
    assert not said.startswith("x" * 301)


def test_what_is_told_apart_at_its_ends_still_is():
    """Beginning and end stay, and texts that a message can bear stay whole."""
    names = [f"run-{place}-{'x' * 1000}-{place}" for place in (1, 2)]
    for given in (DataError, FitError, LayoutError):
        first, second = (str(given(f"unknown subject {name}; known: Bob")) for name in names)
        assert first.startswith("unknown subject run-1-x")
        assert first.endswith("x-1; known: Bob")
        assert second.endswith("x-2; known: Bob")
        path = "/".join(["folder"] * 40)
        assert str(given(f"{path}: no such file")) == f"{path}: no such file"


def test_commands_say_both_limits(capsys):
    assert main(["run", "adele", "--seed", str(2**63)]) == 2
    assert "of at least 0, at most 2**63 - 1" in capsys.readouterr().err
