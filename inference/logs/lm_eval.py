"""Logs of the lm-evaluation-harness: samples_*.jsonl, with results_*.json beside them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..errors import DataError
from ..wording import some
from .attempts import Attempt, assemble
from .choices import choose
from .files import Paths, given
from .imported import Imported
from .lm_eval_files import SampleFile, read_samples, sample_files
from .notes import Notes
from .properties import Properties
from .scores import ScoreReader
from .variants import tell_apart

_BESIDE = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"),
    *("doc_hash", "prompt_hash", "target_hash"),
)
_REMEDY = "choose a metric whose values are in [0, 1], such as exact_match or acc"


def read_lm_eval(
    logs: Paths,
    *,
    metric: str | Mapping[str, str] | None = None,
    filter: str | Mapping[str, str] | None = None,
    repeats: Literal["trials", "mean"] = "trials",
    features: Sequence[str] | None = None,
    subject: str | None = None,
) -> Imported:
    """Read samples that the lm-evaluation-harness logged (`--log_samples`).

    Subjects are models, as `results_*.json` beside the samples or else the folder names them;
    items are documents, named `task/doc_id`. The harness itself is not needed.

    Parameters
    ----------
    logs : path, or iterable of paths
        `samples_*.jsonl` files, or folders of them (searched with their subfolders).
    metric, filter : str, or mapping of str to str, optional
        Which metric of which filter's answers, or by task; needed where a task has several.
    repeats : {"trials", "mean"}
        Whether the values of a metric that has one per response are repeated attempts, or averaged
        to one outcome. Where the log has one value for several responses, it is one attempt.
    features : sequence of str, optional
        Fields of the documents that become meta-features; all by default. A field `b` within a
        field `a` is `a.b`.
    subject : str, optional
        The model's name, where the logs are of one model.

    Returns
    -------
    Imported
        Outcomes, items and notes.

    Raises
    ------
    DataError
        When a file or line is broken, a metric or filter must be chosen, a value is outside [0, 1],
        a document differs between files, or one attempt has several outcomes.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tiny-model"
    >>> folder.mkdir()
    >>> line = {"doc_id": 0, "doc": {"digits": 2}, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    >>> _ = (folder / "samples_sums.jsonl").write_text(json.dumps(line))
    >>> read_lm_eval(folder).outcomes
          subject    item  attempt  outcome
    0  tiny-model  sums/0        1      1.0
    """
    notes = Notes()
    files = sample_files(given(logs), notes)
    models = _subjects(files, subject, notes)
    tasks = tell_apart("task", [(file.task, file.task_settings) for file in files], notes)
    lines = [list(read_samples(file.path)) for file in files]
    grouped = _by_task(tasks, lines)
    filters = choose(
        "filter", filter, {task: map(_filter, each) for task, each in grouped.items()}, notes
    )
    kept = [
        [line for line in each if _filter(line) == filters[task]]
        for task, each in zip(tasks, lines, strict=True)
    ]
    dropped = sum(map(len, lines)) - sum(map(len, kept))
    if dropped:
        notes.add("dropped: lines of other filters", some(sorted(set(filters.values()))), dropped)
    metrics = choose("metric", metric, _metrics(_by_task(tasks, kept)), notes)
    readers = {
        name: ScoreReader(f"metric {name}", None, {}, notes, _REMEDY) for name in metrics.values()
    }
    properties, attempts = Properties(notes), []
    hashes: dict[str, tuple[object, str]] = {}
    for file, model, task, chosen in zip(files, models, tasks, kept, strict=True):
        for line in chosen:
            item = f"{task}/{line['doc_id']}"
            _refuse_other_document(item, line.get("doc_hash"), str(file.path), hashes)
            properties.add(item, _document(line))
            outcomes = _outcomes(line, metrics[task], readers[metrics[task]], item, notes)
            attempts += [
                Attempt(model, item, number, outcome, str(file.path))
                for number, outcome in enumerate(outcomes, 1)
            ]
    for reader in readers.values():
        reader.check()
    return assemble(
        attempts, properties, notes, several=repeats, option="repeats", features=features
    )


def _subjects(files: Sequence[SampleFile], subject: str | None, notes: Notes) -> list[str]:
    """Name each file's model."""
    if subject is None:
        return tell_apart("model", [(file.model, file.model_settings) for file in files], notes)
    models = sorted({file.model for file in files})
    if len(models) > 1:
        raise DataError(
            f"subject={subject!r} names one model, but the logs are of {some(models)}; read them "
            "apart, or leave subject out"
        )
    notes.add(f"renamed: model {models[0]}", subject)
    return [subject] * len(files)


def _by_task(
    tasks: Sequence[str], lines: Sequence[list[dict[str, Any]]]
) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for task, each in zip(tasks, lines, strict=True):
        found.setdefault(task, []).extend(each)
    return found


def _filter(line: Mapping[str, Any]) -> str:
    """Name the filter; logs of older versions have one, without a name."""
    return str(line.get("filter", "none"))


def _metrics(lines: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[str]]:
    return {
        task: [str(name) for line in each for name in _names(line)] for task, each in lines.items()
    }


def _names(line: Mapping[str, Any]) -> list[str]:
    """List a line's metrics; logs of older versions have them after everything else."""
    return list(line.get("metrics", [name for name in line if name not in _BESIDE]))


def _document(line: Mapping[str, Any]) -> Mapping[str, object]:
    document = line.get("doc")
    return document if isinstance(document, Mapping) else {}


def _outcomes(
    line: Mapping[str, Any], metric: str, reader: ScoreReader, item: str, notes: Notes
) -> list[float]:
    """Read a metric: one value, or one per response."""
    value = line.get(metric)
    if isinstance(value, list) and value:
        return [reader.read(each, item) for each in value]
    responses = line.get("resps")
    first = responses[0] if isinstance(responses, list) and responses else None
    if isinstance(first, list) and len(first) > 1:
        notes.add(f"one value of {metric} for {len(first)} responses: one attempt", item)
    return [reader.read(value, item)]


def _refuse_other_document(
    item: str, content: object, file: str, seen: dict[str, tuple[object, str]]
) -> None:
    """Refuse a document that differs between files."""
    first, where = seen.setdefault(item, (content, file))
    if first != content:
        raise DataError(
            f"{item}: its doc_hash in {file} is not the one in {where}: these are two documents "
            "under one name; read the files apart, or give logs of the same data"
        )
