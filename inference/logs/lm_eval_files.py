"""Files of the lm-evaluation-harness: which there are, of which task and model."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..wording import some
from .files import json_lines, text_of
from .notes import Notes

_NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")


@dataclass(frozen=True)
class SampleFile:
    """One file of samples.

    Parameters
    ----------
    path : Path
        The file.
    task, model : str
        Names.
    task_settings, model_settings : mapping
        What else tells a run of the task, or of the model, from another.
    """

    path: Path
    task: str
    model: str
    task_settings: Mapping[str, object]
    model_settings: Mapping[str, object]


def sample_files(paths: Iterable[Path], notes: Notes) -> list[SampleFile]:
    """Find files of samples, and the results beside them; each file once.

    Raises
    ------
    DataError
        When a folder has none, a file is not named as the harness does, or results are broken.
    """
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise DataError(
                f"{path}: the folder has no samples_*.jsonl; run the harness with --log_samples"
            )
        found |= dict.fromkeys(file.resolve() for file in inside)
    return [_described(path, notes) for path in found]


def read_samples(path: Path) -> Iterator[dict[str, Any]]:
    """Read the lines of a file.

    Raises
    ------
    DataError
        When a line is no sample; file and line are named.
    """
    for number, line in json_lines(path):
        if "doc_id" not in line or not isinstance(line.get("metrics", []), list):
            raise DataError(
                f"{path}, line {number}: this is no sample of the harness, which has doc_id and "
                f"metrics; it has {some(line, 8) or 'nothing'}"
            )
        yield line


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
    """Collect how the model was run."""
    config = run.get("config")
    config = config if isinstance(config, Mapping) else {}
    told: dict[str, object] = {}
    for name in ("model_args", "gen_kwargs"):
        value = config.get(name)
        told |= value if isinstance(value, Mapping) else {name: value}
    names = ("system_instruction_sha", "chat_template_sha", "fewshot_as_multiturn")
    return told | {name: run.get(name) for name in names}


def _results(path: Path) -> Mapping[str, Any]:
    content = text_of(path)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: this is no JSON ({error})") from None
    if not isinstance(found, Mapping):
        raise DataError(f"{path}: this is a {type(found).__name__}; the harness writes an object")
    return found
