"""Tables as people bring them: each is read with the right counts, or refused in two lines."""

import tracemalloc
from dataclasses import dataclass, field

import pandas as pd
import pytest

from measurement_layouts import DataError, Evaluation
from measurement_layouts.evaluations import read_table, table_files


@dataclass
class Case:
    """A file as text, how it is read, and its counts as item: successes/trials, by subject."""

    text: str
    counts: dict[str, str] | None = None
    options: dict[str, object] = field(default_factory=dict)
    items: str | None = None
    subjects: dict[str, dict[str, object]] = field(default_factory=dict)
    properties: dict[str, list[object]] = field(default_factory=dict)
    word: str = ""
    suffix: str = ".csv"
    encoding: str = "utf-8"


ANN = {"Ann": "a 1/1 b 0/1", "Bob": "a 0/1 b 1/1"}
LONG = "subject,item,outcome\nAnn,a,{}\nAnn,b,{}\nBob,a,{}\nBob,b,{}\n"
SIZES = "item,size\na,1.5\nb,2.5\nc,4\n"
BIRDS = (
    "subject,item,outcome,species\nA,x,1,jay\nA,y,0,{}\nB,x,1,jay\nB,y,1,jay\nC,x,0,crow\n"
    "C,y,1,crow\n"
)

READ = {
    "long": Case(LONG.format(1, 0, 0, 1), ANN),
    "long, true and false": Case(LONG.format("TRUE", "FALSE", "false", "True"), ANN),
    "long, Y and N": Case(LONG.format("Y", "N", "n", "y"), ANN),
    "long, pass and fail with blanks": Case(LONG.format(" pass", "FAIL ", "fail", "Pass"), ANN),
    "long, numbers with decimals": Case(LONG.format("1.0", "0.0", "0", "1"), ANN),
    "long, NA where there was no attempt": Case(
        LONG.format(1, "NA", "", 1), {"Ann": "a 1/1 b 0/0", "Bob": "a 0/0 b 1/1"}
    ),
    "long, other names of columns": Case(
        LONG.format(1, 0, 0, 1).replace("subject,item,outcome", "model,task id,is correct"),
        ANN,
        {"subject": "model", "item": "task id", "outcome": "is correct"},
    ),
    "long, capitals in the names of columns": Case(
        LONG.format(1, 0, 0, 1).replace("subject,item,outcome", "Subject,Item,OUTCOME"), ANN
    ),
    "long, blanks around the names of columns": Case(
        LONG.format(1, 0, 0, 1).replace("subject,item,outcome", " subject, item ,outcome"), ANN
    ),
    "long, repeated rows": Case(
        LONG.format(1, 0, 0, 1) + "Ann,a,0\nAnn,a,1\n", {"Ann": "a 2/3 b 0/1", "Bob": ANN["Bob"]}
    ),
    "long, numbered attempts": Case(
        "subject,item,attempt,outcome\nAnn,a,1,1\nAnn,a,2,0\n", {"Ann": "a 1/2"}
    ),
    "long, names that are numbers": Case(
        "subject,item,outcome\n7,001,1\n7,1,0\n", {"7": "001 1/1 1 0/1"}
    ),
    "long, properties of items and of subjects": Case(
        "subject,item,outcome,size,age,seconds\nAnn,a,1,1.5,30,9\nAnn,b,0,2.5,30,8\nBob,a,0,1.5,40,7\n"
        "Bob,b,1,2.5,40,6\n",
        ANN,
        subjects={"age": {"Ann": 30, "Bob": 40}},
        properties={"size": [1.5, 2.5]},
    ),
    "long, a property that some rows lack": Case(
        BIRDS.format(""),
        {"A": "x 1/1 y 0/1", "B": "x 1/1 y 1/1", "C": "x 0/1 y 1/1"},
        subjects={"species": {"A": "jay", "B": "jay", "C": "crow"}},
    ),
    "long, a property with blanks": Case(
        BIRDS.format("jay "),
        {"A": "x 1/1 y 0/1", "B": "x 1/1 y 1/1", "C": "x 0/1 y 1/1"},
        subjects={"species": {"A": "jay", "B": "jay", "C": "crow"}},
    ),
    "long, two outcomes in words of their own": Case(
        LONG.format("moderate or severe", "none or mild", "none or mild", "Moderate or severe"),
        ANN,
        {"values": {"moderate or severe": 1}},
    ),
    "long, words of their own, one of which is no attempt": Case(
        LONG.format("solved", "gave up", "not shown", "solved"),
        {"Ann": "a 1/1 b 0/1", "Bob": "a 0/0 b 1/1"},
        {"values": {"solved": 1, "gave up": 0, "not shown": None}},
    ),
    "long, counts": Case(
        "Bird,item,Correct,Trials,delay\nRome,5 s,9,10,5\nRome,30 s,6,12,30\nRoy 2,5 s,8,10,5\n"
        "Roy 2,30 s,5,10,30\n",
        {"Rome": "5 s 9/10 30 s 6/12", "Roy 2": "5 s 8/10 30 s 5/10"},
        {"subject": "Bird", "outcome": "Correct", "trials": "Trials"},
        properties={"delay": [5, 30]},
    ),
    "long, columns successes and trials": Case(
        "subject,item,successes,trials\nAnn,a,9,12\nAnn,b,0,0\n", {"Ann": "a 9/12 b 0/0"}
    ),
    "long, counts without a number of trials": Case(
        "subject,item,successes,trials\nAnn,a,9,12\nAnn,b,,\n", {"Ann": "a 9/12 b 0/0"}
    ),
    "long, counts in one column": Case(
        "subject,item,outcome\nAnn,a,9/12\nAnn,b,0 of 3\n", {"Ann": "a 9/12 b 0/3"}
    ),
    "long, one number of trials for all": Case(
        LONG.format(9, 3, 0, 10), {"Ann": "a 9/10 b 3/10", "Bob": "a 0/10 b 10/10"}, {"trials": 10}
    ),
    "long, longer table of items": Case(
        LONG.format(1, 0, 0, 1),
        {"Ann": "a 1/1 b 0/1 c 0/0", "Bob": "a 0/1 b 1/1 c 0/0"},
        items=SIZES,
        properties={"size": [1.5, 2.5, 4.0]},
    ),
    "semicolons with decimal commas": Case(
        "subject;item;outcome;size\nAnn;a;1;1,5\nAnn;b;0;2,5\nBob;a;0;1,5\nBob;b;1;2,5\n",
        ANN,
        properties={"size": [1.5, 2.5]},
    ),
    "semicolons, and commas within texts": Case(
        'subject;item;outcome\nAnn;"1,5 m, far";1\nAnn;b;0\n', {"Ann": "1,5 m, far 1/1 b 0/1"}
    ),
    "tabs": Case(LONG.format(1, 0, 0, 1).replace(",", "\t"), ANN, suffix=".tsv"),
    "a byte order mark and CRLF": Case(
        LONG.format(1, 0, 0, 1).replace("\n", "\r\n"), ANN, encoding="utf-8-sig"
    ),
    "blank lines and quoted cells": Case(
        '\n"subject","item","outcome"\n\n"Ann","a","1"\n"Ann","b","0"\n\n', {"Ann": ANN["Ann"]}
    ),
    "JSON lines": Case(
        '{"subject": "Ann", "item": "a", "outcome": true}\n\n'
        '{"subject": "Ann", "item": "b", "outcome": 0, "note": null}\n',
        {"Ann": ANN["Ann"]},
        suffix=".jsonl",
    ),
    "wide": Case("subject,a,b\nAnn,1,0\nBob,0,1\n", ANN),
    "wide, names without a header": Case(",a,b\nAnn,1,0\nBob,0,1\n", ANN),
    "wide, names in a first column of another name": Case("who,a,b\nAnn,1,0\nBob,0,1\n", ANN),
    "wide, an index written by pandas": Case(",subject,a,b\n0,Ann,1,0\n1,Bob,0,1\n", ANN),
    "wide, rows numbered by R": Case(",a,b\n1,1,0\n2,0,1\n", {"1": ANN["Ann"], "2": ANN["Bob"]}),
    "wide, items as rows": Case("item,Ann,Bob\na,1,0\nb,0,1\n", ANN),
    "wide, items as rows, known by their table": Case(
        "task,Ann,Bob\na,1,0\nb,0,1\nc,1,1\n",
        {"Ann": "a 1/1 b 0/1 c 1/1", "Bob": "a 0/1 b 1/1 c 1/1"},
        items=SIZES,
    ),
    "wide, words and empty cells": Case(
        "subject,a,b\nAnn,right,\nBob,Wrong,right\n", {"Ann": "a 1/1 b 0/0", "Bob": ANN["Bob"]}
    ),
    "wide, counts in cells": Case(
        "Bird,5 s,30 s\nRome,9/10,6/12\nRoy 2,8 / 10,\n",
        {"Rome": "5 s 9/10 30 s 6/12", "Roy 2": "5 s 8/10 30 s 0/0"},
        {"subject": "Bird"},
    ),
    "wide, counts of one number of trials": Case(
        "subject,a,b\nAnn,9,3\nBob,0,10\n",
        {"Ann": "a 9/10 b 3/10", "Bob": "a 0/10 b 10/10"},
        {"trials": 10},
    ),
    "wide, counts with a column of trials": Case(
        "subject,a,b,shown\nAnn,9,3,10\nBob,0,1,2\n",
        {"Ann": "a 9/10 b 3/10", "Bob": "a 0/2 b 1/2"},
        {"trials": "shown"},
    ),
    "wide, a column of the subjects": Case(
        "subject,female,a,b\nAnn,1,1,0\nBob,0,0,1\n",
        ANN,
        {"subjects": ["female"]},
        subjects={"female": {"Ann": 1, "Bob": 0}},
    ),
    "eight answers and a longer table of items": Case(
        "subject,b,a\nAnn,0,1\n",
        {"Ann": "a 1/1 b 0/1 c 0/0"},
        items=SIZES,
        properties={"size": [1.5, 2.5, 4.0]},
    ),
    "patterns with frequencies": Case(
        "q1,q2,Freq\n0,0,1\n1,0,2\n1,1,0\n",
        {"1": "q1 0/1 q2 0/1", "2": "q1 1/1 q2 0/1", "3": "q1 1/1 q2 0/1"},
    ),
    "patterns with frequencies, of another name": Case(
        "q1,q2,pupils\n0,0,1\n1,0,2\n",
        {"1": "q1 0/1 q2 0/1", "2": "q1 1/1 q2 0/1", "3": "q1 1/1 q2 0/1"},
        {"trials": "pupils"},
    ),
    "items with a first column of another name": Case(
        "subject,a,b\nAnn,1,0\nBob,0,1\n",
        {"Ann": "a 1/1 b 0/1 c 0/0", "Bob": "a 0/1 b 1/1 c 0/0"},
        items=SIZES.replace("item", "task").replace(",", ";").replace(".", ","),
        properties={"size": [1.5, 2.5, 4.0]},
    ),
}

REFUSED = {
    "one Jay among jay": Case(BIRDS.format("Jay"), word="'jay' in row 0, 'Jay' in row 1"),
    "a slip in a property of an item": Case(
        "subject,item,outcome,size\nAnn,a,1,1\nAnn,b,0,2\nAnn,c,0,3\nBob,a,0,1\nBob,b,1,22\nBob,c,0,3\n",
        word="item b: 2 in row 1, 22 in row 4",
    ),
    "two questions of one item": Case(
        "subject,item,outcome,question\nAnn,a,1,1+1\nBob,a,0,9+9\n", word="question"
    ),
    "counts without the number of trials": Case(LONG.format(9, 6, 8, 5), word="trials="),
    "more successes than trials": Case("subject,a,b\nAnn,12/9,1/2\n", word="Ann on a: '12/9'"),
    "a column of trials that are none": Case(
        "subject,item,successes,trials\nAnn,a,9,many\n", word="'trials'.*many"
    ),
    "an unknown word": Case(LONG.format("pass", "maybe", 1, 0), word="Ann on b: 'maybe'"),
    "three words, one of them known": Case(
        LONG.format("solved", "gave up", "not shown", "solved"),
        options={"values": {"solved": 1}},
        word="'gave up', Bob on a: 'not shown'",
    ),
    "a value that is no outcome": Case(
        LONG.format(1, 0, 0, 1), options={"values": {"1": 7}}, word="'1' is to be 7"
    ),
    "partial credit": Case(LONG.format(1, 0.5, 0, 1), word=r"Ann on b: '0\.5'"),
    "a day instead of 9/12": Case("subject,a,b\nAnn,09-Dec,1\n", word="09-Dec"),
    "a column of the subjects among the items": Case(
        "subject,school,a\nAnn,x,1\nBob,y,0\n", word=r"subjects=\[\.\.\.\]"
    ),
    "long, without the column of outcomes": Case(
        LONG.format(1, 0, 0, 1).replace("outcome", "score"), word="no column outcome"
    ),
    "long, a subject without a name": Case(LONG.format(1, 0, 0, 1) + ",a,1\n", word="row.*4"),
    "long, an attempt twice": Case(
        "subject,item,attempt,outcome\nAnn,a,1,1\nAnn,a,1,0\n", word="Ann on a, attempt 1"
    ),
    "outcomes of an unknown item": Case(
        "subject,a,z\nAnn,1,0\n", items=SIZES, word="does not have: z"
    ),
    "wide, a subject twice": Case("subject,a\nAnn,1\nAnn,0\n", word="Ann occur more than once"),
    "wide, an item twice": Case("subject,a,a\nAnn,1,0\n", word="a occur more than once"),
    "no outcome at all": Case("subject,a,b\nAnn,,\n", word="every cell is missing"),
    "no rows": Case("subject,item,outcome\n", word="no rows"),
    "an empty file": Case("", word="empty"),
    "a row that is too short": Case(LONG.format(1, 0, 0, 1) + "Cy,a\n", word="line 6: 2 cells"),
    "decimal commas without quotation marks": Case(
        "subject,item,outcome\nAnn,a,0,5\n", word="line 2: 4 cells"
    ),
    "an unclosed quotation mark": Case('subject,item,outcome\n"Ann,a,1\n', word="line 2"),
    "Latin-1": Case(
        LONG.format(1, 0, 0, 1) + "Zoë,a,1\n", word="line 6: .*UTF-8", encoding="latin-1"
    ),
    "UTF-16": Case(LONG.format(1, 0, 0, 1), word="UTF-16", encoding="utf-16"),
    "JSON that is none": Case('{"subject": "Ann"}\n{"subject": \n', word="line 2", suffix=".jsonl"),
    "JSON of numbers": Case("1\n2\n", word="line 1.*int", suffix=".jsonl"),
    "an unknown kind of file": Case("x", word=r"\.parquet", suffix=".xlsx"),
    "a Parquet file that is none": Case("PAR1", word="no Parquet", suffix=".parquet"),
}


def evaluation_of(case, folder):
    path = folder / f"table{case.suffix}"
    path.write_bytes(case.text.encode(case.encoding))
    options = dict(case.options)
    if case.items is not None:
        options["items"] = folder / "items.csv"
        options["items"].write_text(case.items)
    return Evaluation.from_table(path, **options), path, options


@pytest.mark.filterwarnings("ignore:renamed")
@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in READ.items()])
def test_it_is_read(case, tmp_path):
    evaluation, path, options = evaluation_of(case, tmp_path)
    cells = evaluation.successes.astype(str) + "/" + evaluation.trials.astype(str)
    counts = {
        subject: " ".join(f"{item} {cell}" for item, cell in row.items())
        for subject, row in cells.iterrows()
    }
    assert counts == case.counts
    properties = {name: evaluation.items[name].tolist() for name in evaluation.items}
    assert {name: properties[name] for name in case.properties} == case.properties
    assert evaluation.subject_table.to_dict() == case.subjects
    assert all(what in repr(evaluation) for what in evaluation.notes["what"])
    imported = read_table(path, **options).evaluation()  # the other names read the same
    pd.testing.assert_frame_equal(imported.cells, evaluation.cells)


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in REFUSED.items()])
def test_it_is_refused_by_name(case, tmp_path):
    with pytest.raises(DataError, match=case.word):
        evaluation_of(case, tmp_path)


def test_a_frame_is_read_as_its_file(tmp_path):
    """Whatever pandas made of the cells, the names of the rows included."""
    for name in (
        "wide",
        "wide, names in a first column of another name",
        "long, capitals in the names of columns",
    ):
        evaluation, path, _ = evaluation_of(READ[name], tmp_path)
        frame = Evaluation.from_table(pd.read_csv(path))
        pd.testing.assert_frame_equal(frame.cells, evaluation.cells)


def test_a_file_that_memory_may_not_hold_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(LONG)
    with path.open("r+b") as file:
        file.truncate(2**30)  # takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"rows\.csv: the file has 1,024 MiB"):
            Evaluation.from_table(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**22


def test_what_a_parquet_file_unpacks_to_is_limited(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    rows = pd.DataFrame({"subject": "Ann", "item": "a", "outcome": [1] * 10**5})
    rows.to_parquet(path)
    assert Evaluation.from_table(path).trials.to_numpy().tolist() == [[10**5]]
    assert path.stat().st_size < 10**4
    monkeypatch.setattr(table_files, "_MOST_PARQUET", 10**6)
    with pytest.raises(DataError, match=r"rows\.parquet: there are more than 0\.95.* MiB"):
        Evaluation.from_table(path)
