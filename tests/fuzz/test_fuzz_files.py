"""Logs and tables in files, mutated: refused in one line that names the file, or read."""

import contextlib
import functools
import io
import json
import pathlib
import random
from collections.abc import Iterator

import pandas as pd
import pytest
from helpers.odd_values import NUMBERS
from helpers.trying import counts, need, try_many

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.command import main
from measurement_layouts.common.errors import AnnotationError

LONG = "subject,item,outcome,size\nAnn,a,1,1.0\nAnn,b,0,2.0\nBob,a,0,1.0\nBob,b,,2.0\n"
WIDE = "subject,a,b\nAnn,1,0\nBob,0,\n"
ITEMS = "item,size,kind\na,1.0,red\nb,2.0,blue\n"
TABLES = {"long.csv": LONG, "wide.csv": WIDE, "items.csv": ITEMS}
JUNK = [
    None,
    True,
    -1,
    0,
    1.5,
    1e400,
    "",
    "x",
    "acc",
    [],
    [1],
    ["acc"],
    {},
    {"a": 1},
    [[]],
    10**400,
]
LINES = [
    {
        "doc_id": 0,
        "doc": {"digits": 2, "deep": {"x": 1}},
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
        "resps": [["1"]],
        "doc_hash": "h0",
    },
    {
        "doc_id": 1,
        "doc": {"digits": 3},
        "filter": "none",
        "metrics": ["acc"],
        "acc": [0.0, 1.0],
        "resps": [["2", "3"]],
        "doc_hash": "h1",
    },
]
FOLDER = pathlib.Path("fuzzed")  # in the folder that a test works in
RESULTS = {"model_name": "tiny", "config": {"model_args": "a=1"}, "n-shot": {"sums": 5}}


def inspect_log() -> dict[str, object]:
    """Write a log of Inspect, and read it as JSON."""
    from helpers.inspect_logs import write_inspect
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

    samples = [
        EvalSample(
            id=number,
            epoch=1,
            input="1 + 1 =",
            target="2",
            metadata={"digits": number},
            scores={"match": Score(value="C")},
        )
        for number in (1, 2)
    ]
    FOLDER.mkdir(exist_ok=True)
    return json.loads(write_inspect(FOLDER / "whole.json", samples).read_text())


def mutated(content: bytes, choice: random.Random) -> bytes:
    """Change bytes, cut, double, or put in what breaks readers."""
    made = bytearray(content)
    for _ in range(choice.choice([0, 1, 1, 2, 4])):
        place = choice.randrange(len(made) + 1)
        way = choice.randrange(7)
        if way == 0:
            made[place : place + 1] = bytes([choice.randrange(256)])
        elif way == 1:
            made[place:place] = choice.choice(
                [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b";", b"'", b"1", b"{"]
            )
        elif way == 2:
            del made[place : place + choice.randrange(1, 20)]
        elif way == 3:
            made[place:place] = made[: choice.randrange(1, 40)]
        elif way == 4:
            made = made[:place]
        elif way == 5:
            made[place:place] = str(choice.choice(NUMBERS)).encode()
        else:
            encoded = bytes(made).decode("utf-8", "replace")
            made = bytearray(encoded.encode(choice.choice(["utf-16", "utf-8-sig", "utf-32"])))
    return bytes(made)


def _places(data: object, path: tuple = ()) -> Iterator[tuple]:
    inside = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inside:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*path, key))


def damaged_json(data: object, choice: random.Random) -> str:
    """Delete or replace values anywhere in JSON, or change its bytes."""
    copy = json.loads(json.dumps(data))
    for _ in range(choice.choice([0, 1, 1, 2])):
        found = list(_places(copy))
        if not found:
            break
        *path, last = choice.choice(found)
        holder = functools.reduce(lambda held, key: held[key], path, copy)
        if choice.random() < 0.3:
            del holder[last]
        else:
            holder[last] = choice.choice(JUNK)
    return json.dumps(copy)


def _write(name: str, content: bytes) -> pathlib.Path:
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def lm_eval(choice: random.Random) -> None:
    lines = [damaged_json(line, choice) for line in LINES]
    content = "\n".join(lines).encode()
    content = mutated(content, choice) if choice.random() < 0.3 else content
    day = "2026-01-31T12-00-00.000000"
    path = _write(f"tiny/samples_sums_{day}.jsonl", content)
    _write(f"tiny/results_{day}.json", damaged_json(RESULTS, choice).encode())
    _holds(ml.evaluations.read_lm_eval(path))


def inspect(choice: random.Random) -> None:
    content = damaged_json(inspect_log(), choice).encode()
    content = mutated(content, choice) if choice.random() < 0.3 else content
    _holds(ml.evaluations.read_inspect(_write("log.json", content)))


def table(choice: random.Random) -> None:
    name, items = choice.choice(["long.csv", "wide.csv"]), TABLES["items.csv"].encode()
    outcomes = TABLES[name].encode()
    if choice.random() < 0.7:
        outcomes = mutated(outcomes, choice)
    else:
        items = mutated(items, choice)
    paths = [_write(name, outcomes), _write("items.csv", items)]
    _holds(ml.evaluations.read_table(*paths[: choice.choice([1, 2, 2])]))


def _holds(imported: ml.evaluations.Imported) -> None:
    """Hold what was read to its own promises: outcomes in [0, 1], every item known, each once."""
    rows = imported.outcomes
    ungraded = rows["ungraded"].notna() if "ungraded" in rows else False
    need(len(rows) > 0, "no outcomes")
    need(bool((rows["outcome"].between(0, 1) | ungraded).all()), "outcomes")
    need(rows["item"].isin(imported.items.index).all(), "an item without a row")
    need(not rows.duplicated(["subject", "item", "attempt"]).any(), "an attempt twice")
    need(imported.items.index.is_unique, "an item twice")
    imported.write(FOLDER / "out")
    again = ml.evaluations.read_table(FOLDER / "out" / "outcomes.csv", FOLDER / "out" / "items.csv")
    pd.testing.assert_frame_equal(again.outcomes, rows)


def command(choice: random.Random) -> None:
    """Run `import table`; what is refused is one line, and status 2."""
    paths = [_write(name, mutated(content.encode(), choice)) for name, content in TABLES.items()]
    outcomes = choice.choice(paths[:2])
    given = ["import", "table", str(outcomes), "--out", str(FOLDER / "made"), "--overwrite"]
    given += ["--items", str(paths[2])] if choice.random() < 0.7 else []
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        status = main(given)
    if status == 2:
        line = told.getvalue()
        need(line.startswith("measurement-layouts: ") and line.count("\n") == 1, f"said {line!r}")
        raise DataError(line)
    need(status == 0, f"status {status}")
    need("Traceback" not in told.getvalue(), "a traceback")


@pytest.mark.parametrize(
    ("name", "count"),
    counts(
        lm_eval=(40, 150),
        table=(40, 150),
        command=(40, 150),
        inspect=(20, 50),
    ),
)
def test_odd_files_are_refused_or_read(name, count, more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = try_many(globals()[name], count * more, (DataError, AnnotationError))
    tried.hold(accepted=0.1, refused=0.2)
