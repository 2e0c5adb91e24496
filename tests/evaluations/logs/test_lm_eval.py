"""Logs of the lm-evaluation-harness, in the form that a slow test holds against the tool."""

import json

import pytest
from helpers.lm_eval_lines import line, results, write
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.logs.lm_eval import read_lm_eval


def notes_of(imported):
    return imported.notes.set_index("what")["count"].to_dict()


def test_a_folder_of_models_is_read(tmp_path):
    for model, right in (("org/tiny", [1.0, 0.0]), ("org/large", [1.0, 1.0])):
        lines = [line(number, {"acc": value}) for number, value in enumerate(right)]
        write(tmp_path / model.replace("/", "__"), lines, results=results(model))
    imported = read_lm_eval(tmp_path)
    evaluation = imported.evaluation()
    assert evaluation.success_rates().to_dict() == {"org/large": 1.0, "org/tiny": 0.5}
    assert imported.items["digits"].to_dict() == {"sums/0": 0, "sums/1": 1}
    assert set(notes_of(imported)) == {
        "filter used, the only one of its task: none",
        "metric used, the only one of its task: acc",
        "long table: a row per outcome",
    }


def test_filters_and_metrics_are_chosen_not_guessed(tmp_path):
    lines = [
        line(number, {"exact_match": value, "bleu": 40.0}, filter=name)
        for name, value in (("first", 0.0), ("digits", 1.0))
        for number in range(3)
    ]
    path = write(tmp_path, lines, results=results())
    with pytest.raises(DataError, match="task sums has several filters: digits, first; choose one"):
        read_lm_eval(path)
    with pytest.raises(DataError, match="several metrics: bleu, exact_match"):
        read_lm_eval(path, filter="first")
    imported = read_lm_eval(path, filter="digits", metric={"sums": "exact_match"})
    assert imported.outcomes["outcome"].tolist() == [1, 1, 1]
    assert notes_of(imported)["dropped: lines of other filters"] == 3
    with pytest.raises(
        DataError, match=r"metric bleu: 3 value\(s\) are neither numbers in \[0, 1\] .*: sums/0"
    ):
        read_lm_eval(path, filter="digits", metric="bleu")
    with pytest.raises(DataError, match="no filter 'last'; it has digits, first"):
        read_lm_eval(path, filter="last")


def test_repeats(tmp_path):
    listed = [line(0, {"acc": [1.0, 0.0, 1.0]}, responses=3), line(1, {"acc": 1.0}, responses=3)]
    path = write(tmp_path, listed, results=results())
    trials = read_lm_eval(path)
    assert trials.outcomes[["item", "attempt", "outcome"]].values.tolist() == [
        ["sums/0", 1, 1.0],
        ["sums/0", 2, 0.0],
        ["sums/0", 3, 1.0],
        ["sums/1", 1, 1.0],
    ]
    assert notes_of(trials)["one value of acc for 3 responses: one attempt"] == 1
    mean = read_lm_eval(path, repeats="mean")
    assert mean.outcomes["outcome"].tolist() == [pytest.approx(2 / 3), 1]
    assert notes_of(mean)["averaged: attempts of one subject at one item"] == 1
    with pytest.raises(DataError, match="repeats='best'; give 'trials' or 'mean'"):
        read_lm_eval(path, repeats="best")


def test_documents_fields_become_meta_features(tmp_path):
    inner = {"meta": {"carry": 1, "tags": ["a"]}, "level": "3", "mixed": 2}
    lines = [line(0, {"acc": 1.0}, doc=inner), line(1, {"acc": 0.0}, doc=inner | {"mixed": "b"})]
    imported = read_lm_eval(write(tmp_path, lines, results=results()))
    assert imported.items.loc["sums/0"].to_dict() == {
        **{"question": "0 + 1", "digits": 0, "meta.carry": 1, "level": 3, "mixed": "2"}
    }
    assert {
        "dropped: field meta.tags contains lists": 1,
        "mapped: texts of level read as numbers": 2,
        "mapped: mixed has several kinds of values, read as texts": 1,
    }.items() <= notes_of(imported).items()


def test_the_model_is_named_by_results_folder_or_hand(tmp_path):
    path = write(tmp_path / "org__tiny", [line(0, {"acc": 1.0})])
    imported = read_lm_eval(path)
    assert imported.evaluation().subjects == ["org__tiny"]
    assert "model named by its folder, since no results are beside the samples" in notes_of(
        imported
    )
    assert read_lm_eval(path, subject="Tiny").evaluation().subjects == ["Tiny"]
    write(tmp_path / "large", [line(0, {"acc": 1.0})])
    with pytest.raises(DataError, match="the logs are of large, org__tiny; read them apart"):
        read_lm_eval(tmp_path, subject="Tiny")


def test_configurations_and_shots_are_told_apart(tmp_path):
    for place, (shots, dtype) in enumerate(((0, "float16"), (5, "float16"), (0, "float32"))):
        write(
            tmp_path / str(place),
            [line(0, {"acc": 1.0})],
            results=results(shots=shots, dtype=dtype),
        )
    rows = read_lm_eval(tmp_path).outcomes
    assert rows[["subject", "item"]].values.tolist() == [
        ["org/tiny (dtype=float16)", "sums (n-shot=0)/0"],
        ["org/tiny (dtype=float16)", "sums (n-shot=5)/0"],
        ["org/tiny (dtype=float32)", "sums (n-shot=0)/0"],
    ]


def test_a_second_run_and_another_document_are_refused(tmp_path):
    write(tmp_path, [line(0, {"acc": 1.0})], results=results())
    later = {"date": "2026-11-23T00-00-00.000001", "results": results()}
    write(tmp_path, [line(0, {"acc": 0.0})], **later)
    with pytest.raises(DataError, match=r"org/tiny on sums/0, attempt 1; they are in .*22T.*23T"):
        read_lm_eval(tmp_path)
    write(tmp_path, [line(0, {"acc": 0.0}, doc_hash="other")], **later)
    with pytest.raises(DataError, match=r"sums/0 has another doc_hash in .*23T.* than in .*22T"):
        read_lm_eval(tmp_path)


def test_lines_of_older_versions_are_read(tmp_path):
    old = line(0, {"acc": 1.0})
    del old["filter"], old["metrics"]
    assert read_lm_eval(write(tmp_path, [old])).outcomes["outcome"].tolist() == [1]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b'{"doc_id": 0}\n{"doc_id"', "line 2:"),
        (b"[1]", "line 1:"),
        (b'{"a": 1}', "line 1:"),
        (b'{"doc_id": 0, "metrics": "acc"}', "line 1:"),
        (b'{"doc_id": 0, "doc": {"x": "\\ud800"}}', "line 1:"),
        (b'{"doc_id": 0}\n{"x": "\xff"}', "line 2:"),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path, content, told):
    path = tmp_path / "samples_sums.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"{path.name}.*{told}"):
        read_lm_eval(path)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "samples_none.jsonl").write_text('{"doc_id": 0}')
    with pytest.raises(DataError, match="task none has no metric; give logs"):
        read_lm_eval(tmp_path)
    (tmp_path / "samples_none.jsonl").unlink()
    with pytest.raises(DataError, match="the folder has no samples_"):
        read_lm_eval(tmp_path)
    (tmp_path / "rows.jsonl").write_text("{}")
    with pytest.raises(DataError, match=r"names its files samples_TASK_DATE\.jsonl"):
        read_lm_eval(tmp_path / "rows.jsonl")
    path = write(tmp_path, [line(0, {"acc": 1.0})], results=[])
    with pytest.raises(DataError, match="this is a list; the harness writes an object"):
        read_lm_eval(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 2), VALUES, VALUES, VALUES), min_size=1, max_size=4))
def test_odd_lines_are_read_or_refused(tmp_path_factory, rows):
    """Whatever a line holds: outcomes in [0, 1], or a DataError."""
    lines = [
        line(number, {"acc": value}, filter="none", doc={"odd": field}, resps=resps)
        for number, value, field, resps in rows
    ]
    folder = tmp_path_factory.mktemp("odd")
    path = folder / "samples_sums.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    try:
        imported = read_lm_eval(path)
    except DataError:
        return
    assert imported.outcomes["outcome"].between(0, 1).all()
    assert not imported.outcomes.duplicated(["subject", "item", "attempt"]).any()


@pytest.mark.parametrize(
    ("lacking", "changed"),
    [
        (("doc_hash",), {"doc": {"question": "57 * 13"}}),
        ((), {"doc": {"question": "57 * 13"}}),
        (("doc_hash", "doc"), {"target": "741"}),
    ],
)
def test_documents_are_compared_by_what_lines_have_of_them(tmp_path, lacking, changed):
    """Older versions of the harness write no hash."""
    for model, fields in (("a", {}), ("b", {}), ("c", changed)):
        own = line(0, {"acc": 1.0}, **fields)
        kept = {key: value for key, value in own.items() if key not in lacking}
        write(tmp_path / model, [kept])
    assert len(read_lm_eval([tmp_path / "a", tmp_path / "b"]).outcomes) == 2
    with pytest.raises(DataError, match=r"sums/0 has another (doc|target) in .*c.samples"):
        read_lm_eval(tmp_path)


def test_linked_files_are_known_by_the_names_of_their_links(tmp_path):
    path = write(tmp_path, [line(0, {"acc": 1.0})], results=results())
    model = tmp_path / "snapshots" / "m"
    model.mkdir(parents=True)
    blob = path.rename(tmp_path / "0a1b2c")
    (model / path.name).symlink_to(blob)
    (model / "loop").symlink_to(model.parent)
    (model / "README.md").write_text("")
    read = read_lm_eval(model.parent)
    assert read.outcomes[["subject", "item"]].values.tolist() == [["m", "sums/0"]]
    assert notes_of(read)["dropped: files of the folder that are no logs of this kind"] == 1
