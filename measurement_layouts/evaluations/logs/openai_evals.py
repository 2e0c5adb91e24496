"""Logs of OpenAI evals (`oaieval`): one JSONL file per run, a spec first and then events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...common.errors import DataError
from ...common.messages import some
from ...linking.errors import short
from .attempts import Attempt, Properties, assemble, choose, name_models
from .files import Paths, files_among, files_below, json_lines
from .imported import Imported, Notes
from .values import ScoreReader

MATCH = "match"
"""Metric of an eval that compares answers: whether the answer was `correct`."""

_EVENT = ("sample_id", "type", "data")
_CALLED = {"prompt": "prompt", "expected": "expected answer"}
_ROLES = {"system": "", "user": "User: ", "assistant": "Assistant: "}
_REMEDY = "choose a metric whose values are in [0, 1], such as match or accuracy"


@dataclass
class _Sample:
    """Outcomes and fields of one sample in a run."""

    told: dict[str, object] = field(default_factory=dict)
    outcomes: list[tuple[str, object, object]] = field(default_factory=list)
    """Metric, value, and the event's number in its run."""
    error: bool = False


@dataclass(frozen=True)
class _Run:
    """One log: its model, and its samples by name."""

    path: Path
    eval: str
    model: str
    settings: Mapping[str, object]
    scorer: str
    name: str
    samples: Mapping[str, _Sample]


def read_openai_evals(
    logs: Paths,
    *,
    metric: str | Mapping[str, str] | None = None,
    repeats: Literal["trials", "mean"] = "trials",
    features: Sequence[str] | None = None,
    subject: str | None = None,
) -> Imported:
    r"""Read logs that OpenAI evals recorded (`oaieval MODEL EVAL --record_path FILE`).

    Subjects are models, named as in `completion_fns` of the spec of the log. Items are samples,
    named by their `sample_id`, such as `addition.test.7`. OpenAI evals need not be installed.

    Parameters
    ----------
    logs : path, or iterable of paths
        Files, or folders of `.jsonl` files, which are searched with their subfolders. Of a run that
        stopped early, the finished samples are read.
    metric : str, or mapping of str to str, optional
        Name of the outcome, for all evals or by eval (`base_eval` of the spec): `match`, or the
        name of a number that the eval records as one of its `metrics`; required when an eval has
        several.
    repeats : {"trials", "mean"}
        Whether several outcomes of a sample in one run are repeated attempts, or are averaged to
        one outcome.
    features : sequence of str, optional
        Properties of the items to keep, out of `prompt` and `expected` (default: both). A chat is
        written as one text, as OpenAI evals does for models that complete texts.
    subject : str, optional
        Name of the model, when all logs are of one model.

    Returns
    -------
    Imported
        Outcomes, items and notes.

    Raises
    ------
    DataError
        When a file or line is broken or of another kind, a metric must be chosen, a value is
        outside [0, 1], a sample has another prompt or expects another answer than in another log,
        or one attempt has several outcomes.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> spec = {"completion_fns": ["tiny"], "base_eval": "sums", "run_id": "1"}
    >>> event = {"run_id": "1", "event_id": 0, "sample_id": "sums.test.0", "type": "match",
    ...          "data": {"correct": True, "expected": "2", "sampled": "2"}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.jsonl"
    >>> _ = path.write_text("\n".join(map(json.dumps, ({"spec": spec}, event))))
    >>> read_openai_evals(path).outcomes
      subject         item  attempt  outcome
    0    tiny  sums.test.0        1      1.0
    """
    notes = Notes()
    paths = files_among(
        logs,
        lambda folder: files_below(folder, lambda path: path.suffix == ".jsonl", notes),
        ".jsonl logs of OpenAI evals",
        notes,
    )
    runs = [_read(path, notes) for path in paths]
    models = name_models([(run.model, run.settings) for run in runs], subject, notes)
    metrics = choose("metric", metric, _metrics(runs), notes)
    readers = {
        name: ScoreReader(f"metric {name}", None, {}, notes, _REMEDY) for name in metrics.values()
    }
    properties, attempts = Properties(notes), []
    texts: dict[tuple[str, str], tuple[object, Path]] = {}
    scorers: dict[str, str] = {}
    for run, model in zip(runs, models, strict=True):
        if scorers.setdefault(run.eval, run.scorer) != run.scorer:
            notes.add(
                f"eval {run.eval} scored by {scorers[run.eval]} and by {run.scorer}", run.path
            )
        for name, sample in run.samples.items():
            item = notes.name(name)
            for key, text in sample.told.items():
                first, log = texts.setdefault((item, key), (text, run.path))
                if first != text:
                    raise DataError(
                        f"{item} has another {_CALLED[key]} in {run.path} ({short(repr(text))}) "
                        f"than in {log} ({short(repr(first))}): these are two samples under one "
                        "name; read the logs apart, or give runs of the same samples"
                    )
            properties.add(item, model, sample.told)
            attempts += _attempts(run, sample, model, item, metrics.get(run.eval), readers, notes)
    return assemble(
        attempts, properties, readers.values(), several=repeats, option="repeats", features=features
    )


def is_log(columns: Iterable[object]) -> bool:
    """Whether JSON lines with these fields are a log of OpenAI evals."""
    return {"spec", *_EVENT} <= set(columns)


def _read(path: Path, notes: Notes) -> _Run:
    """Read one log."""
    spec: Mapping[str, Any] | None = None
    finished, samples = False, dict[str, _Sample]()
    for number, line in json_lines(path):
        if spec is None:
            spec = line.get("spec")
            if not isinstance(spec, Mapping):
                raise DataError(
                    f"{path}, line {number}: this is no log of OpenAI evals, which begins with "
                    f"spec; it has {some(line, 8) or 'nothing'}"
                )
        elif "final_report" in line:
            finished = True
        elif all(key in line for key in _EVENT) and isinstance(line["data"], Mapping):
            _take(samples.setdefault(str(line["sample_id"]), _Sample()), line, line["data"])
        else:
            raise DataError(
                f"{path}, line {number}: this is no event of OpenAI evals, which has "
                f"{some(_EVENT)}; it has {some(line, 8) or 'nothing'}"
            )
    if spec is None or not isinstance(models := spec.get("completion_fns"), list) or not models:
        raise DataError(f"{path}: its spec names no model as completion_fns; give a whole log")
    if not finished:
        notes.add("log without a final report: its finished samples count", path)
    config = spec.get("run_config")
    config = config if isinstance(config, Mapping) else {}
    of = config.get("eval_spec")
    scorer = str(of.get("cls")) if isinstance(of, Mapping) else "None"
    return _Run(
        path,
        str(spec.get("base_eval") or spec.get("eval_name")),
        " + ".join(map(str, models)),
        {"completion_args": config.get("completion_args")},
        scorer.rpartition(":")[2],
        str(spec.get("run_id")),
        samples,
    )


def _take(sample: _Sample, event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Add one event to its sample; the first prompt is the question."""
    match event["type"]:
        case "sampling":
            sample.told.setdefault("prompt", _text(data.get("prompt")))
        case "match":
            if data.get("expected") is not None:
                sample.told.setdefault("expected", data["expected"])
            correct = data.get("correct")
            value = int(correct) if isinstance(correct, bool) else correct
            sample.outcomes.append((MATCH, value, event.get("event_id")))
        case "metrics":
            sample.outcomes += [
                (key, value, event.get("event_id"))
                for key, value in data.items()
                if isinstance(value, int | float | None)
            ]
        case "error":
            sample.error = True


def _text(prompt: object) -> object:
    """Write a chat as one text, as OpenAI evals does for models that complete texts."""
    if not isinstance(prompt, list) or not all(isinstance(each, Mapping) for each in prompt):
        return prompt
    if len(prompt) == 1:
        return prompt[0].get("content")
    told = ((each.get("name") or each.get("role"), each.get("content")) for each in prompt)
    lines = (f"{_ROLES.get(str(who), f'{str(who).title()}: ')}{text}\n" for who, text in told)
    return f"{''.join(lines)}Assistant: "


def _metrics(runs: Sequence[_Run]) -> dict[str, set[str]]:
    """Collect the names of each eval's outcomes; evals without outcomes are left out."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for sample in run.samples.values():
            if sample.outcomes:
                names = {name for name, _, _ in sample.outcomes}
                found.setdefault(run.eval, set()).update(names)
    return found


def _attempts(
    run: _Run,
    sample: _Sample,
    model: str,
    item: str,
    metric: str | None,
    readers: Mapping[str, ScoreReader],
    notes: Notes,
) -> list[Attempt]:
    """Read a sample's outcomes; one attempt without outcome if there are none."""
    values = [(value, event) for name, value, event in sample.outcomes if name == metric]
    if not values or metric is None:
        why = "stopped by an error" if sample.error else f"without {metric or 'any outcome'}"
        notes.add(f"dropped: samples {why}", item)
        return [Attempt(model, item, 1, float("nan"), str(run.path))]
    return [
        Attempt(
            model,
            item,
            number,
            readers[metric].read(value, item),
            str(run.path),
            f"{run.name}/{event}",
        )
        for number, (value, event) in enumerate(values, 1)
    ]
