"""What a name of a log stands for: the chosen scorer, metric or filter, and which run."""

from collections.abc import Iterable, Mapping, Sequence

from ...common.errors import DataError
from ...common.messages import some
from .notes import Notes


def choose(
    kind: str,
    wanted: str | Mapping[str, str] | None,
    found: Mapping[str, Iterable[str]],
    notes: Notes,
) -> dict[str, str]:
    """Pick one name for each task; without a wish, only where there is no other.

    Parameters
    ----------
    kind : str
        What is chosen, which is also the reader's argument.
    wanted : str, or mapping of str to str, optional
        One name for all tasks, or by task.
    found : mapping of str to iterable of str
        Names that each task has.
    notes : Notes
        Told of what was the only one.

    Returns
    -------
    dict of str to str
        By task.

    Raises
    ------
    DataError
        When a task has several and none is wanted, lacks the one that is, or has none.

    Examples
    --------
    >>> choose("metric", None, {"sums": ["acc", "acc_norm"]}, Notes())
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: task sums has several metrics: ...
    """
    if isinstance(wanted, Mapping):
        unknown = [task for task in wanted if task not in found]
        if unknown:
            raise DataError(f"{kind}: no task {some(unknown)}; the logs have {some(found)}")
    chosen = {}
    for task, names in found.items():
        has = sorted(set(names))
        if not has:
            raise DataError(f"task {task} has no {kind} at all; give logs that have one")
        name = wanted.get(task) if isinstance(wanted, Mapping) else wanted
        if name is None and len(has) == 1:
            name = has[0]
            notes.add(f"{kind} taken, the only one of its task: {name}", task)
        if name is None:
            raise DataError(
                f"task {task} has several {kind}s: {some(has, 12)}; choose one with "
                f"{kind}={has[0]!r}, or by task with {kind}={{{task!r}: {has[0]!r}}}"
            )
        if name not in has:
            raise DataError(
                f"task {task} has no {kind} {name!r}; it has {some(has, 12)}. Choose by task where "
                f"tasks differ, such as {kind}={{{task!r}: {has[0]!r}}}"
            )
        chosen[task] = name
    return chosen


type Settings = Mapping[str, object]


def tell_apart(kind: str, runs: Sequence[tuple[str, Settings]], notes: Notes) -> list[str]:
    """Name each run, by its settings too where runs of one name differ in them.

    Parameters
    ----------
    kind : str
        What is named.
    runs : sequence of (str, mapping)
        Name and settings of each run.
    notes : Notes
        Told of the names that were extended.

    Returns
    -------
    list of str
        In order.

    Examples
    --------
    >>> runs = [("gpt", {"temperature": 0}), ("gpt", {"temperature": 1}), ("llama", {})]
    >>> tell_apart("model", runs, Notes())
    ['gpt (temperature=0)', 'gpt (temperature=1)', 'llama']
    """
    settings_of: dict[str, list[dict[str, str]]] = {}
    for name, settings in runs:
        told = {key: str(value) for key, value in settings.items() if value is not None}
        settings_of.setdefault(name, []).append(told)
    differing = {name: _differing(each) for name, each in settings_of.items()}
    found = []
    for name, settings in runs:
        keys = differing[name]
        shown = (f"{key}={_shown(settings.get(key))}" for key in keys)
        label = f"{name} ({some(shown, len(keys))})" if keys else name
        if keys:
            notes.add(f"renamed: {kind} {name} ran with several configurations", label)
        found.append(label)
    return found


def _differing(settings: Sequence[Mapping[str, str]]) -> list[str]:
    keys = sorted({key for each in settings for key in each})
    return [key for key in keys if len({each.get(key) for each in settings}) > 1]


def _shown(value: object) -> str:
    return "unset" if value is None else str(value)
