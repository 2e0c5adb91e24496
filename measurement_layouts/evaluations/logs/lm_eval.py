"""Logs of the lm-evaluation-harness: samples_*.jsonl, with results_*.json beside them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...common.errors import DataError
from ...common.given import kind_of
from ...common.messages import some
from ..ungraded import Treatment
from .attempts import Attempt, Settings, Texts, assemble, choose, tell_apart
from .files import Paths, files_among, files_below, json_lines, parsed, text_of
from .imported import Imported, Notes

type Line = dict[str, Any]
"""A sample as a log has it."""

_TEXTS = ("doc_hash", "doc")
_NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")
_RESULTS = re.compile(r"samples_.+\.jsonl|results_.+\.json")


class _Run(NamedTuple):
    """A file of samples: task and model, and the settings that distinguish runs of each."""

    path: Path
    task: str
    model: str
    task_settings: Settings
    model_settings: Settings


def _described(path: Path, notes: Notes) -> _Run:
    """Find a file's task in its name, and its model in the results or the folder."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise DataError(
            f"{path}: the harness names its files samples_TASK_DATE.jsonl; give such a file"
        )
    task, date = match["task"], match["date"]
    results = path.with_name(f"results_{date}.json")
    if date is None or not results.exists():
        notes.add("model named by its folder, since no results are beside the samples", path)
        return _Run(path, task, path.parent.name, {}, {})
    run = parsed(text_of(results), str(results))
    if not isinstance(run, Mapping):
        raise DataError(f"{results}: this is {kind_of(run)}; the harness writes an object")
    config, shots = (
        value if isinstance(value := run.get(name), Mapping) else {}
        for name in ("config", "n-shot")
    )
    names = ("system_instruction_sha", "chat_template_sha", "fewshot_as_multiturn")
    settings = {name: run.get(name) for name in names}
    for name in ("model_args", "gen_kwargs"):
        value = config.get(name)
        settings |= value if isinstance(value, Mapping) else {name: value}
    model = str(run.get("model_name") or path.parent.name)
    return _Run(path, task, model, {"n-shot": shots.get(task)}, settings)


def _lines(path: Path) -> list[Line]:
    """Read the samples of a file, without the longest fields."""
    lines = []
    for number, line in json_lines(path):
        if "doc_id" not in line or not isinstance(line.get("metrics", []), list):
            raise DataError(
                f"{path}, line {number}: this is no sample of the harness, which has doc_id and "
                f"metrics; it has {some(line, 8) or 'nothing'}"
            )
        lines.append({key: line[key] for key in line if key not in ("arguments", "filtered_resps")})
    return lines


_BESIDE = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"),
    *("doc_hash", "prompt_hash", "target_hash"),
)


def read_lm_eval(
    logs: Paths,
    *,
    metric: str | Mapping[str, str] | None = None,
    filter: str | Mapping[str, str] | None = None,
    repeats: Literal["trials", "mean"] = "trials",
    features: Sequence[str] | None = None,
    subject: str | None = None,
    ungraded: Treatment = "bounds",
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
    ungraded : {"drop", "fail", "bounds"}
        Attempts without a value of the metric are left out, are failures, or are kept without an
        outcome, with the reason in a column `ungraded` of the outcomes.

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
    runs = [_described(path, notes) for path in paths]
    names = [run.model for run in runs]
    models = tell_apart("model", names, [run.model_settings for run in runs], notes)
    if subject is not None and len(set(names)) > 1:
        raise DataError(
            f"subject={subject!r} names one model, but the logs are of {some(sorted(set(names)))}; "
            "read them apart, or leave subject out"
        )
    models = models if subject is None else [subject] * len(runs)
    tasks = tell_apart(
        "task", [run.task for run in runs], [run.task_settings for run in runs], notes
    )
    lines = [_lines(run.path) for run in runs]
    available = _by_task(tasks, [[_filter(line) for line in sample] for sample in lines])
    filters = choose("filter", filter, available, notes)
    kept = [
        [line for line in sample if _filter(line) == filters[task]]
        for task, sample in zip(tasks, lines, strict=True)
    ]
    dropped = sum(map(len, lines)) - sum(map(len, kept))
    if dropped:
        notes.add("dropped: lines of other filters", some(sorted(set(filters.values()))), dropped)
    available = _by_task(tasks, [[name for line in run for name in _names(line)] for run in kept])
    metrics = choose("metric", metric, available, notes)
    texts, attempts = Texts(), []
    for run, model, task, run_lines in zip(runs, models, tasks, kept, strict=True):
        of_run = metrics[task], f"no {metrics[task]}", str(run.path), None
        for line in run_lines:
            item = notes.name(f"{task}/{line['doc_id']}")
            stated = [key for key in _TEXTS if line.get(key) is not None]
            if not stated:
                notes.add("not compared: documents that lines do not have, known by doc_id", item)
                stated = ["target"] if line.get("target") is not None else []
            for key in stated:
                texts.add(item, key, line[key], run.path)
            document = line.get("doc")
            if document is not None and not isinstance(document, Mapping):
                notes.add("dropped: documents without fields", item)
            fields = document if isinstance(document, Mapping) else {}
            for number, value in enumerate(_values(line, metrics[task], item, notes), 1):
                attempts.append(Attempt(model, item, number, value, *of_run, fields))
    return assemble(
        attempts,
        "metric",
        notes,
        remedy="choose a metric whose values are in [0, 1], such as exact_match or acc",
        words={},
        several=repeats,
        option="repeats",
        features=features,
        ungraded=ungraded,
    )


def _samples_in(folder: Path, notes: Notes) -> Iterator[Path]:
    """List files of samples; those of results, which are read beside them, are no others."""
    for path in files_below(folder, lambda path: _RESULTS.fullmatch(path.name) is not None, notes):
        if _NAME.fullmatch(path.name):
            yield path


def _by_task(tasks: Sequence[str], names: Sequence[list[str]]) -> dict[str, list[str]]:
    by_task: dict[str, list[str]] = {}
    for task, names_of_run in zip(tasks, names, strict=True):
        by_task.setdefault(task, []).extend(names_of_run)
    return by_task


def _filter(line: Line) -> str:
    """Name the filter; logs of older versions have one, without a name."""
    return str(line.get("filter", "none"))


def _names(line: Line) -> list[str]:
    """List a line's metrics; logs of older versions have them after everything else."""
    return [str(name) for name in line.get("metrics", [key for key in line if key not in _BESIDE])]


def _values(line: Line, metric: str, item: str, notes: Notes) -> list[object]:
    """Take the values of a metric: one, or one per response."""
    value = line.get(metric)
    if isinstance(value, list) and value:
        return value
    responses = line.get("resps")
    first = responses[0] if isinstance(responses, list) and responses else None
    if isinstance(first, list) and len(first) > 1:
        notes.add(f"one value of {metric} for {len(first)} responses: one attempt", item)
    return [value]
