"""What Inspect's own readers tell of a log: its run, and a summary of each sample."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from ..optional import need
from .notes import Notes

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
        Its file.
    task, model : str
        Names.
    task_settings, model_settings : mapping
        What else tells a run of the task, or of the model, from another.
    samples : list of EvalSampleSummary
        Those that may count.
    """

    log: str
    task: str
    model: str
    task_settings: Mapping[str, object]
    model_settings: Mapping[str, object]
    samples: list["EvalSampleSummary"]


def logs_among(paths: Iterable[Path]) -> list[Path]:
    """List files, and the logs that the tool finds in folders; each once.

    Raises
    ------
    DataError
        When a folder has none.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            listed = _tool().list_eval_logs(str(path), recursive=True, descending=False)
            if not listed:
                raise DataError(f"{path}: the folder has no .eval or .json logs of Inspect")
            inside = sorted(Path(log.name.removeprefix("file://")) for log in listed)
        else:
            inside = [path]
        found |= dict.fromkeys(log.resolve() for log in inside)
    return list(found)


def read_run(path: Path, notes: Notes) -> Run:
    """Read one log.

    Raises
    ------
    DataError
        When the tool cannot read it.
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
    """Flatten a sample's scores: by scorer, and by `scorer/key` where one has several values."""
    found: dict[str, object] = {}
    for name, score in (sample.scores or {}).items():
        if isinstance(score.value, Mapping):
            found |= {f"{name}/{key}": value for key, value in score.value.items()}
        else:
            found[name] = score.value
    return found


def content_of(sample: "EvalSampleSummary") -> tuple[str, ...]:
    """Take the text that a sample asks with."""
    if isinstance(sample.input, str):
        return (sample.input,)
    return tuple(f"{message.role}: {message.text}" for message in sample.input)


def metadata_of(sample: "EvalSampleSummary", item: str, notes: Notes) -> dict[str, object]:
    """Take a sample's metadata, without what the tool left out of the summary for its size."""
    found = dict(sample.metadata)
    for name, value in sample.metadata.items():
        if value == _REMOVED:
            notes.add(f"dropped: field {name} is over 1 kB, left out of Inspect's summary", item)
            del found[name]
        elif isinstance(value, str) and value.endswith(_SHORTENED):
            notes.add(f"texts of {name} end in '...': Inspect's summary may shorten them", item)
    return found


def _settings(header: "EvalLog") -> dict[str, object]:
    """Collect how the model was run, as far as the one who ran it said."""
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
    """Find the samples that somebody declared invalid; summaries do not tell."""
    if not header.invalidated:
        return set()
    log = _tool().read_eval_log(str(path), exclude_fields=_HEAVY)
    return {(each.id, each.epoch) for each in log.samples or () if each.invalidation is not None}


def _tool() -> Any:
    return need("inspect_ai.log", "inspect-ai")
