"""Logs of Inspect (.eval and .json): scores become outcomes, sample metadata meta-features.

Logs are read as they are written, so that logs of all versions are read by any, and without
Inspect. Of a packed log only the header and the summaries of samples are unpacked, up to a limit.
"""

import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...common.errors import AnnotationError, DataError
from ...common.messages import some
from ...common.optional import need
from ...linking.errors import short
from ..ungraded import Treatment
from ..words import Values
from . import files
from .attempts import Attempt, Settings, Texts, assemble, choose, tell_apart
from .files import Paths, bounded, files_among, files_below, parsed
from .imported import Imported, Notes

type Raw = dict[str, Any]
"""An object as a log has it."""

_HEAVY = {"messages", "events", "events_data", "store", "attachments", "output", "timelines"}
_PARTS = ("version", "status", "eval", "plan", "results", "stats", "samples", "invalidated")
_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"(' + "|".join(_PARTS).encode() + rb')"\s*:')
_ZIP, _HEADERS = b"PK\x03\x04", ("header.json", "_journal/start.json")
_ZSTANDARD = 93
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)  # as the tool packs
_REMOVED = "Key removed from summary (> 1k)"  # what the tool writes instead
_CUT = "...\n(content truncated)"  # the end of a text that the tool has shortened


class _Log(NamedTuple):
    """Header of a log, summaries of its samples, and a function that reads a whole sample."""

    header: Raw
    summaries: list[Raw]
    sample: Callable[[Raw], Raw | None]


class _Sample(NamedTuple):
    """What counts of a sample."""

    name: str
    epoch: int
    texts: list[str]
    metadata: Raw
    scores: Raw
    error: object
    limit: str | None
    identity: str | None


class _Run(NamedTuple):
    """What is read of a log: its `eval`, settings of the model, and samples that may count."""

    path: Path
    spec: Raw
    settings: Settings
    samples: list[_Sample]


def _read(path: Path, notes: Notes) -> _Run:
    """Read one log.

    Raises
    ------
    DataError
        When it cannot be read, or is too large.
    """
    try:
        with _opened(path) as log:
            spec = {**log.header["eval"]}
            task = spec["task"]
            valid = [
                raw for raw in log.summaries if _is_valid(raw, log, f"{task}/{raw['id']}", notes)
            ]
            samples = [_sample(raw, log, f"{task}/{raw['id']}", notes) for raw in valid]
            settings = _settings(spec, log.header.get("plan") or {})
            planned = len(spec["dataset"].get("sample_ids") or ())
            planned *= spec.get("config", {}).get("epochs") or 1
    except (files.OverLimitError, AnnotationError):
        raise
    except Exception as error:  # what is no log may have any form
        reason = short(" ".join(str(error).split()), 200)
        raise DataError(f"{path}: this is no log of Inspect that can be read ({reason})") from error
    status = log.header.get("status", "started")
    if status != "success":
        notes.add(f"log with status {status}: its finished samples count", path)
    if planned > len(log.summaries):
        notes.add("dropped: samples that were not run", path, planned - len(log.summaries))
    return _Run(path, spec, settings, samples)


@contextmanager
def _opened(path: Path) -> Iterator[_Log]:
    """Open a log, whose format is known by its first bytes."""
    with path.open("rb") as file:
        packed = file.read(len(_ZIP)) == _ZIP
        file.seek(0)
        if packed:
            with zipfile.ZipFile(file) as archive:
                yield _unpacked(archive, str(path))
            return
        remedy = "write it as .eval, by `inspect log convert --to eval`"
        header = parsed(bounded(file, str(path), remedy), path.name, _light)
        if not isinstance(header, dict) or "eval" not in header:
            raise ValueError("it has no eval")
        samples = header.pop("samples", None) or []
        by_name = {_name(raw): raw for raw in samples}
        yield _Log(header, samples, lambda raw: by_name.get(_name(raw)))


def _name(raw: Raw) -> tuple[str, int]:
    return str(raw["id"]), raw["epoch"]


def _unpacked(archive: zipfile.ZipFile, path: str) -> _Log:
    """Unpack the header and the summaries of a log."""
    names = set(archive.namelist())

    def read(name: str) -> Any:
        kind = archive.getinfo(name).compress_type
        if kind not in _PACKED:
            raise ValueError(f"{name} is packed in a way that Inspect does not use")
        if kind == _ZSTANDARD and sys.version_info < (3, 14):
            need("zipfile_zstd", "inspect-ai")
        where, remedy = f"{path}, {name}", "give logs of fewer samples each"
        if archive.getinfo(name).file_size > files.MOST_BYTES:
            raise files.too_large(where, remedy)
        with archive.open(name) as file:
            return parsed(bounded(file, where, remedy), name, _light)

    def read_sample(raw: Raw) -> Raw | None:
        name = f"samples/{raw['id']}_epoch_{raw['epoch']}.json"
        sample: Raw | None = read(name) if name in names else None
        return sample

    header = read(next((name for name in _HEADERS if name in names), _HEADERS[0]))
    if "summaries.json" in names:
        summaries = read("summaries.json")
    elif journal := [name for name in names if re.fullmatch(r"_journal/summaries/\d+\.json", name)]:
        journal.sort(key=lambda name: int(Path(name).stem))
        summaries = [raw for name in journal for raw in read(name)]
    else:
        written = sorted(name for name in names if re.fullmatch(r"samples/.+\.json", name))
        summaries = [read(name) for name in written]
    latest = {_name(raw): raw for raw in summaries}
    return _Log(header, list(latest.values()), read_sample)


def _light(record: Raw) -> Raw:
    """Leave out of a sample what no reader needs, as soon as it is parsed."""
    if record.keys() >= {"id", "epoch", "input"}:
        return {key: value for key, value in record.items() if key not in _HEAVY}
    return record


def _sample(raw: Raw, log: _Log, item: str, notes: Notes) -> _Sample:
    """Take what counts of a summary, or of the whole sample where the summary lacks it.

    Before April 2025, only whole samples have metadata; long inputs are shortened in summaries.
    """
    metadata, texts = raw.get("metadata"), _texts(raw["input"])
    if metadata is None or any(text.endswith(_CUT) for text in texts):
        sample = log.sample(raw)
        if sample is None:
            notes.add("dropped: metadata or texts of samples that are not in the log", item)
        else:
            metadata = sample.get("metadata") if metadata is None else metadata
            texts = _texts(sample["input"])
    metadata = metadata or {}
    large = [name for name, value in metadata.items() if value == _REMOVED]
    for name in large:
        notes.add(f"dropped: field {name} is over 1 kB, left out of Inspect's summary", item)
    scores: Raw = {}
    for name, score in (raw.get("scores") or {}).items():
        value = score["value"]
        several = value if isinstance(value, Mapping) else {}
        scores |= {f"{name}/{key}": several[key] for key in several} or {name: value}
    limit = raw.get("limit")
    return _Sample(
        *_name(raw),
        texts,
        {name: value for name, value in metadata.items() if name not in large},
        scores,
        raw.get("error"),
        limit.get("type") if isinstance(limit, dict) else limit,
        raw.get("uuid"),
    )


def _texts(text: str | Sequence[Raw]) -> list[str]:
    """Take the texts of an input, a text or messages."""
    if isinstance(text, str):
        return [text]
    texts = []
    for message in text:
        content = message["content"]
        content = [{"text": content}] if isinstance(content, str) else content
        lines = "\n".join(str(element.get("text")) for element in content)
        texts.append(f"{message['role']}: {lines}")
    return texts


def _is_valid(raw: Raw, log: _Log, item: str, notes: Notes) -> bool:
    """Whether a sample was not declared invalid, which only whole samples state."""
    sample = log.sample(raw) if log.header.get("invalidated") else None
    invalid = sample is not None and sample.get("invalidation") is not None
    if invalid:
        notes.add("dropped: samples declared invalid", item)
    return not invalid


def _settings(spec: Raw, plan: Raw) -> Settings:
    """Collect the settings of the model that the log states."""
    solver = {f"solver.{key}": value for key, value in (spec.get("solver_args") or {}).items()}
    return {
        **(spec.get("model_args") or {}),
        **(spec.get("model_generate_config") or {}),
        **(plan.get("config") or {}),
        "base_url": spec.get("model_base_url"),
        "solver": spec.get("solver"),
        **solver,
    }


def _is_log(path: Path) -> bool:
    """Whether a file is a log: packed, or a JSON text that begins as logs do."""
    if path.suffix == ".eval":
        return True
    with path.open("rb") as file:
        beginning = file.read(2**16)
        if beginning.startswith(_ZIP):
            with suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
                return not set(_HEADERS).isdisjoint(archive.namelist())
    has_eval = re.search(rb'"eval"\s*:\s*\{', beginning) is not None
    return has_eval and _BEGINNING.match(beginning) is not None


def read_inspect(
    logs: Paths,
    *,
    scorer: str | Mapping[str, str] | None = None,
    values: Values | None = None,
    epochs: Literal["trials", "mean"] = "trials",
    features: Sequence[str] | None = None,
    subject: str | Iterable[str] = "model",
    ungraded: Treatment = "bounds",
) -> Imported:
    """Read logs of Inspect, of all versions since 0.3.40.

    Subjects are models; items are samples, named `task/sample id`. What was dropped or mapped is
    listed only in `notes`, which should be read. Inspect need not be installed, except for logs
    that are packed by Zstandard before Python 3.14.

    Parameters
    ----------
    logs : path, or iterable of paths
        Logs (`.eval` or `.json`), or folders of logs, which are searched with their subfolders.
        Logs are known by their content, so that they may have other names, and links are followed.
        Of a log that stopped early, the finished samples are read.
    scorer : str, or mapping of str to str, optional
        Name of the scorer, for all tasks or by task; required when a task has several. One value of
        a score that is a dictionary is named `name/key`.
    values : mapping, optional
        Outcomes in [0, 1] by score, such as `{"P": 1.0}`. Other scores are read as Inspect reads
        them: C, I, P, N are 1, 0, 0.5, 0; yes, true, no, false are 1, 1, 0, 0; numbers are kept.
        None is for a score that is no grade, such as `{"N": None}`, so that the attempt is
        ungraded.
    epochs : {"trials", "mean"}
        Whether several epochs are repeated attempts, or averaged to one outcome.
    features : sequence of str, optional
        Fields of the metadata of samples that become meta-features (default: all). A field `b`
        within a field `a` is named `a.b`. Long texts are shortened in the summaries of Inspect,
        which are read.
    subject : str or iterable of str
        ``model``: a model that ran with several configurations (arguments, generation options,
        solver), or did one task with several task metadata, such as prompts, becomes several
        subjects, named with what differs. ``model name``: it is one subject. Otherwise, names of
        fields of the task's metadata, with which all subjects are named.
    ungraded : {"drop", "fail", "bounds"}
        Attempts that ended in an error, or in a limit without a score, and those whose score is
        missing, are left out, are failures, or are kept without an outcome, with the reason in a
        column `ungraded` of the outcomes. Attempts that a limit stopped and a scorer graded count
        as they were graded.

    Returns
    -------
    Imported
        Outcomes, items and notes.

    Raises
    ------
    DataError
        When a log cannot be read, has more than 256 MiB or ten million values of text to be read
        at once, a scorer must be chosen, a score is no outcome, an item has another input in
        another log, or one attempt has several outcomes.
    AnnotationError
        When a log is packed by Zstandard and inspect-ai is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec
    >>> from inspect_ai.log import write_eval_log
    >>> from inspect_ai.scorer import Score
    >>> spec = EvalSpec(created="2026-01-31T12:00:00+00:00", task="sums", model="tiny",
    ...                 dataset=EvalDataset(), config=EvalConfig())
    >>> sample = EvalSample(id=1, epoch=1, input="1 + 1 =", target="2", metadata={"digits": 1},
    ...                     scores={"match": Score(value="C")})
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sums.eval"
    >>> _ = write_eval_log(EvalLog(eval=spec, status="success", samples=[sample]), path)
    >>> imported = read_inspect(path)
    >>> imported.outcomes
      subject    item  attempt  outcome
    0    tiny  sums/1        1      1.0
    >>> imported.notes[["what", "count"]]
                                            what  count
    0  scorer used, the only one of its task: match      1
    1                mapped: scorer match, 'C' is 1      1
    2                 long table: a row per outcome      1
    """
    notes = Notes()
    paths = files_among(
        logs,
        lambda folder: files_below(folder, _is_log, notes),
        ".eval or .json logs of Inspect",
        notes,
    )
    runs = [_read(path, notes) for path in paths]
    tasks = tell_apart(
        "task",
        [run.spec["task"] for run in runs],
        [run.spec.get("task_args") or {} for run in runs],
        notes,
    )
    models = _subjects(runs, tasks, subject, notes)
    available: dict[str, list[str]] = {}
    for run, task in zip(runs, tasks, strict=True):
        for sample in run.samples:
            if sample.scores:
                available.setdefault(task, []).extend(sample.scores)
    scorers = choose("scorer", scorer, available, notes)
    texts, attempts = Texts(), []
    for run, task, model in zip(runs, tasks, models, strict=True):
        wanted = scorers.get(task)
        for sample in run.samples:
            item, limit = notes.name(f"{task}/{sample.name}"), sample.limit
            texts.add(item, "input", sample.texts, run.path)
            score, reason = sample.scores.get(wanted or ""), "no score"
            if sample.error is not None:
                score, reason = None, "error"
            elif limit and score is not None:
                notes.add(f"kept: samples stopped by a limit ({limit}), as they were scored", item)
            elif limit:
                reason = f"limit: {limit}"
            of_sample = sample.epoch, score, wanted, reason, str(run.path), sample.identity
            attempts.append(Attempt(model, item, *of_sample, sample.metadata))
    return assemble(
        attempts,
        "scorer",
        notes,
        remedy="state their outcomes, as in values={score: outcome}, or choose another scorer",
        values=values,
        several=epochs,
        option="epochs",
        features=features,
        ungraded=ungraded,
    )


def _subjects(
    runs: Sequence[_Run], tasks: Sequence[str], subject: str | Iterable[str], notes: Notes
) -> list[str]:
    """Name the subject of each run."""
    names = [run.spec["model"] for run in runs]
    metadata: list[Settings] = [run.spec.get("metadata") or {} for run in runs]
    if subject == "model":
        names = tell_apart("model", names, [run.settings for run in runs], notes)
        return tell_apart("model", names, metadata, notes, within=tasks)
    if subject == "model name":
        return [notes.name(name) for name in names]
    wanted = [subject] if isinstance(subject, str) else list(subject)
    fields = list(dict.fromkeys(key for of_task in metadata for key in of_task))
    unknown = [name for name in wanted if name not in fields]
    if unknown:
        raise DataError(
            f"subject={subject!r}: the logs' task metadata have no {some(unknown)}; give 'model', "
            f"'model name', or some of {some(fields, 12) or 'no fields: there are none'}"
        )
    return [
        notes.name(f"{name} ({some((f'{key}={of_task.get(key)}' for key in wanted), len(wanted))})")
        for name, of_task in zip(names, metadata, strict=True)
    ]
