"""Logs of the lm-evaluation-harness: samples_*.jsonl, with results_*.json beside them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...common.errors import DataError
from ...common.given import kind_of
from ...common.messages import some
from .attempts import Attempt, Properties, assemble, choose, name_models, tell_apart
from .files import Paths, files_among, files_below, json_lines, parsed, text_of
from .imported import Imported, Notes
from .values import ScoreReader

_RESULTS = re.compile(r"samples_.+\.jsonl|results_.+\.json")
_TEXTS = ("doc_hash", "doc")
_UNREAD = ("arguments", "filtered_resps")  # by far the longest fields
_NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")


@dataclass(frozen=True)
class SampleFile:
    """One file of samples.

    Parameters
    ----------
    path : Path
        The file.
    task, model : str
        Names of the task and the model.
    task_settings, model_settings : mapping
        Settings that distinguish runs of the task, or of the model.
    """

    path: Path
    task: str
    model: str
    task_settings: Mapping[str, object]
    model_settings: Mapping[str, object]


def read_samples(path: Path) -> Iterator[dict[str, Any]]:
    """Read the lines of a file.

    Raises
    ------
    DataError
        When a line is not a sample; the error names file and line.
    """
    for number, line in json_lines(path):
        if "doc_id" not in line or not isinstance(line.get("metrics", []), list):
            raise DataError(
                f"{path}, line {number}: this is no sample of the harness, which has doc_id and "
                f"metrics; it has {some(line, 8) or 'nothing'}"
            )
        yield {key: line[key] for key in line if key not in _UNREAD}


def _described(path: Path, notes: Notes) -> SampleFile:
    """Find a file's task in its name, and its model in the results or the folder."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise DataError(
            f"{path}: the harness names its files samples_TASK_DATE.jsonl; give such a file"
        )
    task = match["task"]
    results = path.with_name(f"results_{match['date']}.json")
    if match["date"] is None or not results.exists():
        notes.add("model named by its folder, since no results are beside the samples", path)
        return SampleFile(path, task, path.parent.name, {}, {})
    run = _results(results)
    shots = run.get("n-shot")
    model = run.get("model_name") or path.parent.name
    shot = shots.get(task) if isinstance(shots, Mapping) else None
    return SampleFile(path, task, str(model), {"n-shot": shot}, _settings(run))


def _settings(run: Mapping[str, Any]) -> dict[str, object]:
    """Collect the settings of the model."""
    config = run.get("config")
    config = config if isinstance(config, Mapping) else {}
    told: dict[str, object] = {}
    for name in ("model_args", "gen_kwargs"):
        value = config.get(name)
        told |= value if isinstance(value, Mapping) else {name: value}
    names = ("system_instruction_sha", "chat_template_sha", "fewshot_as_multiturn")
    return told | {name: run.get(name) for name in names}


def _results(path: Path) -> Mapping[str, Any]:
    found = parsed(text_of(path), str(path))
    if not isinstance(found, Mapping):
        raise DataError(f"{path}: this is {kind_of(found)}; the harness writes an object")
    return found


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

    Subjects are models, named as in `results_*.json` in the same folder, or else as the folder.
    Items are documents, named `task/doc_id`. The harness need not be installed.

    Parameters
    ----------
    logs : path, or iterable of paths
        Files `samples_*.jsonl`, or folders of them, which are searched with their subfolders.
        Links are followed.
    metric, filter : str, or mapping of str to str, optional
        Name of the metric, and of the filter of answers, for all tasks or by task; required when a
        task has several.
    repeats : {"trials", "mean"}
        Whether the values of a metric with one value per response are repeated attempts, or are
        averaged to one outcome. One value for several responses is one attempt.
    features : sequence of str, optional
        Fields of the documents that become meta-features (default: all). A field `b` within a field
        `a` is named `a.b`.
    subject : str, optional
        Name of the model, when all logs are of one model.

    Returns
    -------
    Imported
        Outcomes, items and notes.

    Raises
    ------
    DataError
        When a file or line is broken, a metric or filter must be chosen, a value is outside [0, 1],
        a document differs between files (by its hash or its text, or else by its target), or one
        attempt has several outcomes.

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
    lacking = "samples_*.jsonl; run the harness with --log_samples"
    paths = files_among(logs, lambda folder: _samples_in(folder, notes), lacking, notes)
    files = [_described(path, notes) for path in paths]
    named = [(file.model, file.model_settings) for file in files]
    models = name_models(named, subject, notes)
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
    identities: dict[str, dict[str, tuple[str, Path]]] = {}
    for file, model, task, chosen in zip(files, models, tasks, kept, strict=True):
        for line in chosen:
            item = notes.name(f"{task}/{line['doc_id']}")
            for key, text in _identities(line, item).items():
                first, log = identities.setdefault(item, {}).setdefault(key, (text, file.path))
                if first != text:
                    raise DataError(
                        f"{item}: its {key} in {file.path} is not the one in {log}: these are two "
                        "documents under one name; read the files apart, or give logs of the same "
                        "data"
                    )
            if identities.get(item, {}).keys().isdisjoint(_TEXTS):
                notes.add("not compared: documents that lines do not have, known by doc_id", item)
            properties.add(item, model, _document(line, item, notes))
            outcomes = _outcomes(line, metrics[task], readers[metrics[task]], item, notes)
            attempts += [
                Attempt(model, item, number, outcome, str(file.path))
                for number, outcome in enumerate(outcomes, 1)
            ]
    return assemble(
        attempts, properties, readers.values(), several=repeats, option="repeats", features=features
    )


def _samples_in(folder: Path, notes: Notes) -> Iterator[Path]:
    """List files of samples; those of results, which are read beside them, are no others."""
    for path in files_below(folder, lambda path: _RESULTS.fullmatch(path.name) is not None, notes):
        if _NAME.fullmatch(path.name):
            yield path


def _identities(line: Mapping[str, Any], where: str) -> dict[str, str]:
    """Hash what a line has of its document: the harness's own hash and the document."""
    found = {key: line[key] for key in _TEXTS if line.get(key) is not None}
    if not found and line.get("target") is not None:
        found = {"target": line["target"]}
    try:
        texts = {
            key: json.dumps(value, sort_keys=True, default=repr) for key, value in found.items()
        }
    except RecursionError:
        raise DataError(f"{where}: its document is nested too deeply; leave it out") from None
    return {key: hashlib.sha256(text.encode()).hexdigest() for key, text in texts.items()}


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


def _document(line: Mapping[str, Any], item: str, notes: Notes) -> Mapping[str, object]:
    document = line.get("doc")
    if isinstance(document, Mapping):
        return document
    if document is not None:
        notes.add("dropped: documents without fields", item)
    return {}


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
