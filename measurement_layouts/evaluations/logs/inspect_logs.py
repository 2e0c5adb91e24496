"""Logs of Inspect (.eval and .json): scores become outcomes, sample metadata meta-features.

What is needed of a log is unpacked here, up to a limit, and read by Inspect's own classes.
"""

import hashlib
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...common.errors import DataError
from ...common.optional import need
from ...linking.errors import short
from . import files
from .attempts import Attempt, Properties, assemble, choose, tell_apart
from .files import Paths, bounded, files_among, files_below, parsed
from .imported import Imported, Notes
from .values import GRADES, ScoreReader

if TYPE_CHECKING:
    from inspect_ai.log import EvalPlan, EvalSpec

type Raw = dict[str, Any]
"""An object as a log has it."""

_HEAVY = {"messages", "events", "events_data", "store", "attachments", "output", "timelines"}
_SAMPLE = {"id", "epoch", "input"}
_PARTS = ("version", "status", "eval", "plan", "results", "stats", "samples", "invalidated")
_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"(' + "|".join(_PARTS).encode() + rb')"\s*:')
_ZIP, _HEADERS = b"PK\x03\x04", ("header.json", "_journal/start.json")
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93)  # as the tool packs; 93 is Zstandard
_REMOVED, _SHORTENED = "Key removed from summary (> 1k)", "..."  # what the tool writes instead
_CUT = "...\n(content truncated)"  # the end of a text that the tool has shortened


@dataclass(frozen=True)
class Sample:
    """What is read of a sample.

    Parameters
    ----------
    name : str
        Identifier in its log.
    epoch : int
        Number of the epoch, from 1.
    text : tuple of str
        Input, as the summary has it.
    metadata, scores : mapping
        Metadata, and values of scores: by scorer, or by `scorer/key` if a score has several.
    error, limit, uuid : str, optional
        Error or limit that stopped it, and its identifier in all logs.
    """

    name: str
    epoch: int
    text: tuple[str, ...]
    metadata: Mapping[str, object]
    scores: Mapping[str, object]
    error: str | None
    limit: str | None
    uuid: str | None

    @property
    def is_cut(self) -> bool:
        """Whether the summary has only the beginning of the input."""
        return any(text.endswith(_CUT) for text in self.text)


@dataclass(frozen=True)
class Run:
    """One log.

    Parameters
    ----------
    path : Path
        File of the log.
    task, model : str
        Names of the task and the model.
    task_settings, model_settings : mapping
        Settings that distinguish runs of the task, or of the model.
    samples : list of Sample
        Samples that may count.
    """

    path: Path
    task: str
    model: str
    task_settings: Mapping[str, object]
    model_settings: Mapping[str, object]
    samples: list[Sample]

    @cached_property
    def whole_texts(self) -> Mapping[tuple[str, int], str]:
        """Hash of the whole input of each sample, by its name and epoch."""
        found = {}
        with _opened(self.path) as content:
            for raw in content.summaries:
                whole = content.whole(raw) or raw
                text = json.dumps(_texts(whole["input"])).encode()
                found[str(raw["id"]), raw["epoch"]] = hashlib.sha256(text).hexdigest()
        return found


@dataclass(frozen=True)
class _Content:
    """Header of a log, summaries of its samples, and a function that reads a whole sample."""

    header: Raw
    summaries: list[Raw]
    whole: Callable[[Raw], Raw | None]


def read_run(path: Path, notes: Notes) -> Run:
    """Read one log.

    Raises
    ------
    DataError
        When it cannot be read, or is too large.
    """
    tool = _tool()
    try:
        with _opened(path) as content:
            header = content.header
            spec = tool.EvalSpec.model_validate(header["eval"])
            plan = tool.EvalPlan.model_validate(header.get("plan") or {})
            kept = _valid(content, spec, notes)
            samples = [_sample(raw, content, f"{spec.task}/{raw['id']}", notes) for raw in kept]
    except files.OverLimitError:
        raise
    except Exception as error:  # its parsers have no error in common
        reason = short(" ".join(str(error).split()), 200)
        raise DataError(f"{path}: Inspect cannot read this log ({reason})") from error
    if header.get("status") != "success":
        status = header.get("status", "started")
        notes.add(f"log with status {status}: its finished samples count", path)
    planned = len(spec.dataset.sample_ids or ()) * (spec.config.epochs or 1)
    if planned > len(content.summaries):
        notes.add("dropped: samples that were not run", path, planned - len(content.summaries))
    settings = _settings(spec, plan)
    return Run(path, spec.task, spec.model, spec.task_args, settings, samples)


@contextmanager
def _opened(path: Path) -> Iterator[_Content]:
    """Open a log, whose format is known by its first bytes."""
    with path.open("rb") as file:
        packed = file.read(len(_ZIP)) == _ZIP
        file.seek(0)
        if packed:
            with zipfile.ZipFile(file) as archive:
                yield _unpacked(archive, str(path))
            return
        remedy = "write it as .eval, by `inspect log convert --to eval`"
        log = parsed(bounded(file, str(path), remedy), path.name, _light)
        if not isinstance(log, dict) or "eval" not in log:
            raise ValueError("it has no eval")
        samples = log.pop("samples", None) or []
        yield _Content(log, [_of_sample(raw, log) for raw in samples], _finder(samples))


def _unpacked(archive: zipfile.ZipFile, log: str) -> _Content:
    """Unpack the header and the summaries of a log."""
    names = set(archive.namelist())

    def read(name: str) -> Any:
        if archive.getinfo(name).compress_type not in _PACKED:
            raise ValueError(f"{name} is packed in a way that Inspect does not use")
        where, remedy = f"{log}, {name}", "give logs of fewer samples each"
        if archive.getinfo(name).file_size > files.MOST_BYTES:
            raise files.too_large(where, remedy)
        with archive.open(name) as file:
            return parsed(bounded(file, where, remedy), name, _light)

    def whole(raw: Raw) -> Raw | None:
        name = f"samples/{raw['id']}_epoch_{raw['epoch']}.json"
        found: Raw | None = read(name) if name in names else None
        return found

    header = read(next((name for name in _HEADERS if name in names), _HEADERS[0]))
    if "summaries.json" in names:
        summaries = read("summaries.json")
    elif journal := [name for name in names if re.fullmatch(r"_journal/summaries/\d+\.json", name)]:
        journal.sort(key=lambda name: int(Path(name).stem))
        summaries = [raw for name in journal for raw in read(name)]
    else:
        written = sorted(name for name in names if re.fullmatch(r"samples/.+\.json", name))
        summaries = [_of_sample(read(name), header) for name in written]
    latest = {(str(raw["id"]), raw["epoch"]): raw for raw in summaries}
    return _Content(header, list(latest.values()), whole)


def _light(record: Raw) -> Raw:
    """Leave out of a sample what no reader needs, as soon as it is parsed."""
    if record.keys() >= _SAMPLE:
        return {key: value for key, value in record.items() if key not in _HEAVY}
    return record


def _finder(samples: Sequence[Raw]) -> Callable[[Raw], Raw | None]:
    by_name = {(str(raw["id"]), raw["epoch"]): raw for raw in samples}
    return lambda raw: by_name.get((str(raw["id"]), raw["epoch"]))


def _of_sample(raw: Raw, header: Raw) -> Raw:
    """Make the summary of a whole sample; logs of version 1 have one score without a name."""
    scores, error, limit = raw.get("scores"), raw.get("error"), raw.get("limit")
    if "score" in raw and scores is None:
        results = header.get("results") or {}
        first: Raw = results.get("scorer") or next(iter(results.get("scores") or ()), {})
        scores = {first.get("name", "score"): raw["score"]}
    return {
        **{key: raw.get(key) for key in ("id", "epoch", "input", "uuid")},
        "target": "",
        "metadata": raw.get("metadata") or {},
        "scores": scores,
        "error": error.get("message") if isinstance(error, dict) else error,
        "limit": limit.get("type") if isinstance(limit, dict) else limit,
    }


def _sample(raw: Raw, content: _Content, item: str, notes: Notes) -> Sample:
    """Read a sample; in logs from before April 2025, only whole samples have metadata."""
    kept = {key: raw.get(key) for key in ("id", "epoch", "input", "scores", "uuid")}
    kept |= {key: raw.get(key) for key in ("error", "limit")}
    metadata = raw.get("metadata")
    if metadata is None:
        whole = content.whole(raw)
        metadata = {} if whole is None else whole.get("metadata") or {}
        if whole is None:
            notes.add("dropped: metadata of samples that are not in the log", item)
    found = _tool().EvalSampleSummary.model_validate(kept | {"target": "", "metadata": metadata})
    scores: dict[str, object] = {}
    for name, score in (found.scores or {}).items():
        if isinstance(score.value, Mapping):
            scores |= {f"{name}/{key}": value for key, value in score.value.items()}
        else:
            scores[name] = score.value
    text = found.input
    messages = [] if isinstance(text, str) else [f"{each.role}: {each.text}" for each in text]
    return Sample(
        str(found.id),
        found.epoch,
        (text,) if isinstance(text, str) else tuple(messages),
        _metadata(found.metadata, item, notes),
        scores,
        found.error,
        found.limit,
        found.uuid,
    )


def _texts(text: str | Sequence[Raw]) -> list[str]:
    """Take the texts of an input, a text or messages, from a log."""
    if isinstance(text, str):
        return [text]
    found = []
    for message in text:
        parts = message["content"]
        parts = [{"text": parts}] if isinstance(parts, str) else parts
        found.append(f"{message['role']}: " + "\n".join(str(part.get("text")) for part in parts))
    return found


def _metadata(metadata: Mapping[str, object], item: str, notes: Notes) -> dict[str, object]:
    """Leave out fields that the summary omits for their size."""
    found = dict(metadata)
    for name, value in metadata.items():
        if value == _REMOVED:
            notes.add(f"dropped: field {name} is over 1 kB, left out of Inspect's summary", item)
            del found[name]
        elif isinstance(value, str) and value.endswith(_SHORTENED):
            notes.add(f"texts of {name} end in '...': Inspect's summary may shorten them", item)
    return found


def _valid(content: _Content, spec: "EvalSpec", notes: Notes) -> list[Raw]:
    """Leave out samples that were declared invalid, which summaries do not state."""
    if not content.header.get("invalidated"):
        return content.summaries
    kept = []
    for raw in content.summaries:
        whole = content.whole(raw)
        if whole is not None and whole.get("invalidation") is not None:
            notes.add("dropped: samples declared invalid", f"{spec.task}/{raw['id']}")
        else:
            kept.append(raw)
    return kept


def _settings(spec: "EvalSpec", plan: "EvalPlan") -> dict[str, object]:
    """Collect the settings of the model that the log states."""
    solver = {f"solver.{key}": value for key, value in (spec.solver_args or {}).items()}
    return {
        **spec.model_args,
        **spec.model_generate_config.model_dump(exclude_none=True),
        **plan.config.model_dump(exclude_none=True),
        "base_url": spec.model_base_url,
        "solver": spec.solver,
        **solver,
    }


def _is_log(path: Path) -> bool:
    """Whether a file is a log, by its content; its name may be any."""
    if path.suffix == ".eval":
        return True
    with path.open("rb") as file:
        beginning = file.read(2**16)
        if beginning.startswith(_ZIP):
            with suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
                return not set(_HEADERS).isdisjoint(archive.namelist())
    return (
        _BEGINNING.match(beginning) is not None
        and re.search(rb'"eval"\s*:\s*\{', beginning) is not None
    )


def _tool() -> Any:
    return need("inspect_ai.log", "inspect-ai")


_REMEDY = "state their outcomes, as in values={score: outcome}, or choose another scorer"


def read_inspect(
    logs: Paths,
    *,
    scorer: str | Mapping[str, str] | None = None,
    values: Mapping[str | float, float] | None = None,
    epochs: Literal["trials", "mean"] = "trials",
    features: Sequence[str] | None = None,
    subject: Literal["model", "model name"] = "model",
) -> Imported:
    """Read logs of Inspect.

    Subjects are models; items are samples, named `task/sample id`. What was dropped or mapped is
    listed only in `notes`, which should be read.

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
    epochs : {"trials", "mean"}
        Whether several epochs are repeated attempts, or averaged to one outcome.
    features : sequence of str, optional
        Fields of the metadata of samples that become meta-features (default: all). A field `b`
        within a field `a` is named `a.b`. Long texts are shortened in the summaries of Inspect,
        which are read.
    subject : {"model", "model name"}
        Whether a model that ran with several configurations (arguments, generation options,
        solver) becomes several subjects, named with the settings that differ, or one subject.

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
        When inspect-ai is not installed, with the command that installs it.

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
    0   scorer used, the only one of its task: match      1
    1              mapped: scorer match, 'C' is 1      1
    """
    if subject not in ("model", "model name"):
        raise DataError(f"subject={subject!r}; give 'model' or 'model name'")
    notes = Notes()
    paths = files_among(
        logs,
        lambda folder: files_below(folder, _is_log, notes),
        ".eval or .json logs of Inspect",
        notes,
    )
    runs = [read_run(path, notes) for path in paths]
    tasks = tell_apart("task", [(run.task, run.task_settings) for run in runs], notes)
    settings = [run.model_settings if subject == "model" else {} for run in runs]
    named = [(run.model, own) for run, own in zip(runs, settings, strict=True)]
    models = tell_apart("model", named, notes)
    scorers = choose("scorer", scorer, _scorers(runs, tasks), notes)
    readers = {
        name: ScoreReader(f"scorer {name}", values, GRADES, notes, _REMEDY)
        for name in scorers.values()
    }
    properties, attempts = Properties(notes), []
    met: dict[str, tuple[Run, Sample]] = {}
    for run, task, model in zip(runs, tasks, models, strict=True):
        for sample in run.samples:
            item = notes.name(f"{task}/{sample.name}")
            first, other = met.setdefault(item, (run, sample))
            if not _same_text(run, sample, first, other):
                raise DataError(
                    f"{item} has another input in {run.path} than in {first.path}: these are two "
                    "items under one name; give the task or its samples another name in one of "
                    "them, or read them apart"
                )
            properties.add(item, model, sample.metadata)
            outcome = math.nan
            if _counts(sample, scorers.get(task), item, notes):
                name = scorers[task]
                outcome = readers[name].read(sample.scores[name], item)
            log = str(run.path)
            attempts.append(Attempt(model, item, sample.epoch, outcome, log, sample.uuid))
    return assemble(
        attempts, properties, readers.values(), several=epochs, option="epochs", features=features
    )


def _scorers(runs: Sequence[Run], tasks: Sequence[str]) -> dict[str, set[str]]:
    """Collect the names of each task's scores; tasks without scores are left out."""
    found: dict[str, set[str]] = {}
    for run, task in zip(runs, tasks, strict=True):
        for sample in run.samples:
            if sample.scores:
                found.setdefault(task, set()).update(sample.scores)
    return found


def _same_text(run: Run, sample: Sample, other: Run, its: Sample) -> bool:
    """Compare the inputs of two samples, by their whole texts where a summary has only a part."""
    if run.path == other.path or not (sample.is_cut or its.is_cut):
        return sample.text == its.text
    here, there = run.whole_texts, other.whole_texts
    return here[sample.name, sample.epoch] == there[its.name, its.epoch]


def _counts(sample: Sample, scorer: str | None, item: str, notes: Notes) -> bool:
    """Whether a sample has a score that counts; the reason is added to the notes."""
    if sample.error is not None:
        notes.add("dropped: samples stopped by an error", item)
        return False
    if scorer is None or scorer not in sample.scores:
        why = f" stopped by a limit ({sample.limit})," if sample.limit else ""
        notes.add(f"dropped: samples{why} without a score by {scorer or 'any scorer'}", item)
        return False
    if sample.limit:
        notes.add(f"kept: samples stopped by a limit ({sample.limit}), as they were scored", item)
    return True
