"""Files of Inspect logs: old ones, renamed ones, linked ones, and ones that unpack to too much."""

import json
import subprocess
import sys
import zipfile

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.scorer import Score

from measurement_layouts.common.errors import DataError
from measurement_layouts.evaluations.logs import files
from measurement_layouts.evaluations.logs.inspect_logs import read_inspect


def sample(number=1, value="C", **fields):
    given = {"id": number, "epoch": 1, "input": f"{number} + 1 =", "target": "2"}
    return EvalSample(**given | {"scores": {"match": Score(value=value)}} | fields)


def write(path, *samples, model="tiny"):
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = EvalSpec(
        created="2025-02-11T15:17:00+00:00",
        task="sums",
        model=model,
        dataset=EvalDataset(),
        config=EvalConfig(),
    )
    made = EvalLog(eval=spec, status="success", samples=list(samples) or [sample()])
    write_eval_log(made, path, format="eval" if path.suffix == ".eval" else "json")
    return path


def rewritten(source, path, change):
    """Pack a log again, with each of its files as `change` returns it; None leaves it out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return path


def without_metadata(name, content):
    """Write the summaries of Inspect 0.3.41 to 0.3.58."""
    if name != "summaries.json":
        return content
    return json.dumps(
        [
            {key: one[key] for key in one if key not in ("metadata", "uuid")}
            for one in json.loads(content)
        ]
    )


def without_summaries(name, content):
    return None if name == "summaries.json" or name.startswith("_journal/summ") else content


@pytest.mark.parametrize("change", [without_metadata, without_summaries])
def test_metadata_are_read_from_samples_whose_summary_has_none(tmp_path, change):
    samples = [
        sample(number, "CI"[number % 2], metadata={"digits": number, "inner": {"carry": 1}})
        for number in range(4)
    ]
    same = read_inspect(write(tmp_path / "same.json", *samples))
    new = write(tmp_path / "new.eval", *samples)
    old = read_inspect(rewritten(new, tmp_path / "old.eval", change), features=["digits"])
    assert old.items["digits"].tolist() == same.items["digits"].tolist() == [0, 1, 2, 3]
    assert old.outcomes["outcome"].tolist() == same.outcomes["outcome"].tolist() == [1, 0, 1, 0]


def test_a_log_may_have_any_name_and_other_files_are_listed(tmp_path):
    folder = tmp_path / "logs"
    for name in ("gpt4.json", "deep/2025-02-11T15-17-00_sums_a.json", "b.eval"):
        write(folder / name, model=name)
    (folder / "b.eval").rename(folder / "c.zip")
    (folder / "logs.json").write_text(json.dumps({"a.json": {"eval": {"task": "sums"}}}))
    (folder / "notes.txt").write_text("mine")
    read = read_inspect(folder)
    assert set(read.outcomes["subject"]) == {
        "gpt4.json",
        "deep/2025-02-11T15-17-00_sums_a.json",
        "b.eval",
    }
    dropped = read.notes.set_index("what")["count"].to_dict()
    assert dropped["dropped: files of the folder that are no logs of this kind"] == 2


def test_links_are_followed_each_file_once(tmp_path):
    write(tmp_path / "blobs" / "0a1b.json").rename(tmp_path / "blobs" / "0a1b")
    folder = tmp_path / "snapshots"
    folder.mkdir()
    (folder / "x.json").symlink_to("../blobs/0a1b")
    (folder / "y.json").symlink_to("../blobs/0a1b")
    (folder / "loop").symlink_to(".")
    (folder / "all").symlink_to("../blobs")
    (folder / "lost.json").symlink_to("nowhere")
    read = read_inspect([folder, tmp_path / "blobs"])
    assert len(read.outcomes) == 1
    counts = read.notes.set_index("what")["count"]
    assert counts["dropped: further names of a file, which is read once"] == 3
    assert counts["dropped: links that lead to no file"] == 1


@pytest.mark.parametrize("suffix", ["json", "eval"])
def test_inputs_are_compared_beyond_what_summaries_have(tmp_path, suffix):
    long = "x" * 6000
    for model, end in (("a", "1"), ("b", "1"), ("c", "2")):
        write(tmp_path / f"{model}.{suffix}", sample(input=long + end), model=model)
    assert len(read_inspect([tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"]).outcomes) == 2
    with pytest.raises(DataError, match=r"sums/1 has another input in .*c\..* than in .*a\."):
        read_inspect(tmp_path)


@pytest.mark.parametrize("stated", [None, 100])
def test_what_a_log_unpacks_to_is_limited(tmp_path, monkeypatch, stated):
    """The limit holds for what is unpacked, also where the file states another size."""

    def grow(name, content):
        return b'{"a": "' + b"x" * 10**7 + b'"}' if name == "header.json" else content

    path = rewritten(write(tmp_path / "log.eval"), tmp_path / "bomb.eval", grow)
    assert path.stat().st_size < 10**5
    if stated is not None:
        size = (10**7 + 9).to_bytes(4, "little")
        path.write_bytes(path.read_bytes().replace(size, stated.to_bytes(4, "little")))
    monkeypatch.setattr(files, "MOST_BYTES", 10**6)
    with pytest.raises(DataError, match=r"bomb\.eval.*(more than 0\.95.* MiB|cannot read)"):
        read_inspect(path)


def test_nested_lists_take_little_memory(tmp_path):
    path = tmp_path / "log.json"
    path.write_text("[" * 200_000)
    code = f"""
import resource
from measurement_layouts.evaluations import read_inspect
import inspect_ai.log, pandas, measurement_layouts
from measurement_layouts import DataError
try:
    read_inspect({str(tmp_path / "none.json")!r})
except DataError:
    pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_inspect({str(path)!r})
except DataError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""
    told, more = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "nested too deeply" in told
    assert int(more) < 50


def test_the_number_of_values_is_limited(tmp_path, monkeypatch):
    path = write(tmp_path / "log.json", sample(metadata={"many": [0] * 2000}))
    read_inspect(path)
    monkeypatch.setattr(files, "MOST_VALUES", 1000)
    with pytest.raises(DataError, match=r"log\.json: there are more than 1,000 values"):
        read_inspect(path)
