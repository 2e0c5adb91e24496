"""Logs of Inspect (.eval and .json): scores become outcomes, sample metadata meta-features."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...common.errors import DataError
from ...common.optional import need
from .attempts import Attempt, Properties, assemble, choose, tell_apart
from .files import Paths, files_among
from .imported import Imported, Notes
from .values import GRADES, ScoreReader

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSampleSummary


_HEAVY = {"messages", "events", "store", "attachments", "output"}
_REMOVED, _SHORTENED = "Key removed from summary (> 1k)", "..."  # what the tool writes instead


@dataclass(frozen=True)
class Run:
    """One log.

    Parameters
    ----------
    log : str
        File of the log.
    task, model : str
        Names of the task and the model.
    task_settings, model_settings : mapping
        Settings that distinguish runs of the task, or of the model.
    samples : list of EvalSampleSummary
        Samples that may count.
    """

    log: str
    task: str
    model: str
    task_settings: Mapping[str, object]
    model_settings: Mapping[str, object]
    samples: list["EvalSampleSummary"]


def read_run(path: Path, notes: Notes) -> Run:
    """Read one log.

    Raises
    ------
    DataError
        When Inspect cannot read it.
    """
    tool = _tool()
    try:
        header = tool.read_eval_log(str(path), header_only=True)
        samples = tool.read_eval_log_sample_summaries(str(path))
        invalid = _invalid(header, path)
    except Exception as error:  # its parsers have no error in common
        raise DataError(f"{path}: Inspect cannot read this log ({error})") from error
    spec = header.eval
    if header.status != "success":
        notes.add(f"log with status {header.status}: its finished samples count", path)
    planned = len(spec.dataset.sample_ids or ()) * (spec.config.epochs or 1)
    if planned > len(samples):
        notes.add("dropped: samples that were not run", path, planned - len(samples))
    for sample in samples:
        if (sample.id, sample.epoch) in invalid:
            notes.add("dropped: samples declared invalid", f"{spec.task}/{sample.id}")
    return Run(
        str(path),
        spec.task,
        spec.model,
        spec.task_args,
        _settings(header),
        [sample for sample in samples if (sample.id, sample.epoch) not in invalid],
    )


def scores_of(sample: "EvalSampleSummary") -> dict[str, object]:
    """Flatten a sample's scores: by scorer, or by `scorer/key` if a score has several values."""
    found: dict[str, object] = {}
    for name, score in (sample.scores or {}).items():
        if isinstance(score.value, Mapping):
            found |= {f"{name}/{key}": value for key, value in score.value.items()}
        else:
            found[name] = score.value
    return found


def content_of(sample: "EvalSampleSummary") -> tuple[str, ...]:
    """Take the input text of a sample."""
    if isinstance(sample.input, str):
        return (sample.input,)
    return tuple(f"{message.role}: {message.text}" for message in sample.input)


def metadata_of(sample: "EvalSampleSummary", item: str, notes: Notes) -> dict[str, object]:
    """Take a sample's metadata, without fields that the summary omits for their size."""
    found = dict(sample.metadata)
    for name, value in sample.metadata.items():
        if value == _REMOVED:
            notes.add(f"dropped: field {name} is over 1 kB, left out of Inspect's summary", item)
            del found[name]
        elif isinstance(value, str) and value.endswith(_SHORTENED):
            notes.add(f"texts of {name} end in '...': Inspect's summary may shorten them", item)
    return found


def _settings(header: "EvalLog") -> dict[str, object]:
    """Collect the settings of the model that the log states."""
    spec = header.eval
    solver = {f"solver.{key}": value for key, value in (spec.solver_args or {}).items()}
    return {
        **spec.model_args,
        **spec.model_generate_config.model_dump(exclude_none=True),
        **header.plan.config.model_dump(exclude_none=True),
        "base_url": spec.model_base_url,
        "solver": spec.solver,
        **solver,
    }


def _invalid(header: "EvalLog", path: Path) -> set[tuple[int | str, int]]:
    """Find the samples that were declared invalid, which summaries do not contain."""
    if not header.invalidated:
        return set()
    log = _tool().read_eval_log(str(path), exclude_fields=_HEAVY)
    return {(each.id, each.epoch) for each in log.samples or () if each.invalidation is not None}


def _logs_in(folder: Path) -> Iterator[Path]:
    """List the logs that Inspect finds in a folder."""
    for log in _tool().list_eval_logs(str(folder), recursive=True, descending=False):
        yield Path(log.name.removeprefix("file://"))


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
        Logs (`.eval` or `.json`), or folders of logs, which are searched with their subfolders. Of
        a log that stopped early, the finished samples are read.
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
        When a log cannot be read, a scorer must be chosen, a score is no outcome, an item differs
        between logs, or one attempt has several outcomes.
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
    lacking = ".eval or .json logs of Inspect"
    runs = [read_run(path, notes) for path in files_among(logs, _logs_in, lacking)]
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
    contents: dict[str, tuple[tuple[str, ...], str]] = {}
    for run, task, model in zip(runs, tasks, models, strict=True):
        for sample in run.samples:
            item = f"{task}/{sample.id}"
            first, log = contents.setdefault(item, (content_of(sample), run.log))
            if first != content_of(sample):
                raise DataError(
                    f"{item} has another input in {run.log} than in {log}: these are two items "
                    "under one name; give the task or its samples another name in one of them, or "
                    "read them apart"
                )
            properties.add(item, model, metadata_of(sample, item, notes))
            outcome = math.nan
            if _counts(sample, scorers.get(task), item, notes):
                name = scorers[task]
                outcome = readers[name].read(scores_of(sample)[name], item)
            attempts.append(Attempt(model, item, sample.epoch, outcome, run.log, sample.uuid))
    return assemble(
        attempts, properties, readers.values(), several=epochs, option="epochs", features=features
    )


def _scorers(runs: Sequence[Run], tasks: Sequence[str]) -> dict[str, set[str]]:
    """Collect the names of each task's scores; tasks without scores are left out."""
    found: dict[str, set[str]] = {}
    for run, task in zip(runs, tasks, strict=True):
        for sample in run.samples:
            if names := set(scores_of(sample)):
                found.setdefault(task, set()).update(names)
    return found


def _counts(sample: "EvalSampleSummary", scorer: str | None, item: str, notes: Notes) -> bool:
    """Whether a sample has a score that counts; the reason is added to the notes."""
    if sample.error is not None:
        notes.add("dropped: samples stopped by an error", item)
        return False
    if scorer is None or scorer not in scores_of(sample):
        why = f" stopped by a limit ({sample.limit})," if sample.limit else ""
        notes.add(f"dropped: samples{why} without a score by {scorer or 'any scorer'}", item)
        return False
    if sample.limit:
        notes.add(f"kept: samples stopped by a limit ({sample.limit}), as they were scored", item)
    return True
