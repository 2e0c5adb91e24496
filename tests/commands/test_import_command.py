"""`measurement-layouts import`: which reader is called with what, and what is written."""

import json

import pandas as pd
import pytest

from measurement_layouts.command import main, parser
from measurement_layouts.evaluations.logs.table import read_table

FILES = ["items.csv", "notes.csv", "outcomes.csv", "subjects.csv"]


@pytest.fixture
def asked(monkeypatch):
    """What the readers of logs are asked for, without any logs."""
    calls = []

    def reader(logs, **options):
        calls.append((list(map(str, logs)), options))
        rows = pd.DataFrame({"subject": ["Ann"], "item": ["a"], "outcome": [1], "size": [2.0]})
        return read_table(rows)

    logs = "measurement_layouts.evaluations.logs"
    monkeypatch.setattr(f"{logs}.inspect_logs.read_inspect", reader)
    monkeypatch.setattr(f"{logs}.lm_eval.read_lm_eval", reader)
    return calls


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        (["inspect", "a.eval"], {"scorer": None, "values": None, "features": None}),
        (
            ["inspect", "a.eval", "--value", "P=1", "a=b=0.5", "--features", "size", "age"],
            {"scorer": None, "values": {"P": 1.0, "a=b": 0.5}, "features": ["size", "age"]},
        ),
        (
            ["inspect", "a.eval", "--scorer", "match"],
            {"scorer": "match", "values": None, "features": None},
        ),
        (
            ["lm-eval", "a.eval", "--metric", "sums=acc", "facts=em", "--filter", "none"],
            {
                "metric": {"sums": "acc", "facts": "em"},
                "filter": "none",
                "features": None,
                "subject": None,
            },
        ),
    ],
)
def test_the_reader_gets_what_is_typed(typed, options, asked, tmp_path, capsys):
    assert main(["import", *typed, "--out", str(tmp_path)]) == 0
    assert asked == [(["a.eval"], options)]
    printed = capsys.readouterr()
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    assert sorted(printed.out.split()) == [str(tmp_path / name) for name in FILES]
    files = f"--items {tmp_path / 'items.csv'} --outcomes {tmp_path / 'outcomes.csv'}"
    assert printed.err.endswith(f"; give them to `check` and `fit` as {files}\n")
    assert "long table" in printed.err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--value", "P"], "'P'; write SCORE=NUMBER"),
        (["--value", "P=one"], "'P=one'; write SCORE=NUMBER"),
        (["--scorer", "match", "choice"], "give one NAME, or TASK=NAME for each task"),
    ],
)
def test_wrong_arguments(typed, message, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["import", "inspect", "a.eval", "--out", "data", *typed])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_wide_table_becomes_what_fit_reads(tmp_path, capsys):
    wide = tmp_path / "wide.csv"
    wide.write_text("model,001,002\nAnn,1,0\nBob,,1\n", encoding="utf-8")
    items = tmp_path / "properties.csv"
    items.write_text("item,size\n001,1.5\n002,2\n", encoding="utf-8")
    command = ["import", "table", str(wide), "--items", str(items), "--subject", "model"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "dropped: outcome is missing" in told
    assert ": 1 (such as Bob on 001)" in told
    again = read_table(tmp_path / "outcomes.csv", tmp_path / "items.csv")
    assert again.evaluation().trials.to_numpy().tolist() == [[1, 1], [0, 1]]
    assert again.items["size"].tolist() == [1.5, 2.0]

    assert main([*command, "--out", str(tmp_path)]) == 2
    assert f"{tmp_path / 'items.csv'} exists already" in capsys.readouterr().err
    assert main([*command, "--out", str(tmp_path), "--overwrite"]) == 0


def test_samples_of_the_harness(tmp_path):
    folder = tmp_path / "tiny-model"
    folder.mkdir()
    line = {"doc_id": 0, "doc": {"digits": 2}, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    (folder / "samples_sums.jsonl").write_text(json.dumps(line), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["import", "lm-eval", str(folder), "--out", str(out), "--subject", "Ann"]) == 0
    rows = pd.read_csv(out / "outcomes.csv")
    assert rows[["subject", "item", "outcome"]].to_numpy().tolist() == [["Ann", "sums/0", 1.0]]


@pytest.mark.parametrize("kind", ["inspect", "lm-eval", "table"])
def test_there_is_no_log(kind, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["import", kind, str(tmp_path / "no.log"), "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert "no.log" in printed.err
    assert printed.err.count("\n") == 1
    assert not out.exists()
