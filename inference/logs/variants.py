"""Names that stand for several things: told apart by the settings in which they differ."""

from collections.abc import Mapping, Sequence

from ..wording import some
from .notes import Notes

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
