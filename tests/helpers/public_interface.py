"""The public interface as plain data, and what of it a later version has broken."""

import argparse
import inspect

import measurement_layouts as ml
from measurement_layouts import linking
from measurement_layouts.command import parser

ROOMS = {
    "ml": ml,
    "linking": linking,
    "annotation": ml.annotation,
    "batteries": ml.batteries,
    "decisions": ml.decisions,
    "estimation": ml.estimation,
    "evaluations": ml.evaluations,
    "reports": ml.reports,
    "validation": ml.validation,
    "dispositions": ml.dispositions,
    "plots": ml.plots,
}


def interface():
    """Every public name: its parameters, or what it has; and every command with its options."""
    names = {
        f"{prefix}.{name}": _of(getattr(room, name))
        for prefix, room in ROOMS.items()
        for name in room.__all__
    }
    commands = {
        f"measurement-layouts {' '.join(path)}".strip(): _options(command)
        for path, command in _commands(parser())
    }
    return {"names": names, "commands": commands}


def _of(value):
    if inspect.isclass(value):
        members = {name: member for name, member in inspect.getmembers(value) if name[0] != "_"}
        own = {name: _parameters(part) for name, part in members.items() if callable(part)}
        return {"made": _parameters(value), "members": sorted(members), "methods": own}
    return {"called": _parameters(value)} if callable(value) else {}


def _parameters(function):
    """Name, kind and default of each parameter; None where Python cannot say."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    empty = inspect.Parameter.empty
    return [
        [one.name, one.kind.name, None if one.default is empty else _plain(one.default)]
        for one in signature.parameters.values()
    ]


def _plain(default):
    """Write a default; an object by its type, since its address changes."""
    parts = default if isinstance(default, tuple) else (default,)
    plain = all(isinstance(part, str | float | int | None) for part in parts)
    return repr(default) if plain else f"<{type(default).__name__}>"


def _commands(command, path=()):
    yield path, command
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _commands(inner, (*path, name))


def _options(command):
    return sorted(
        name
        for action in command._actions
        for name in (action.option_strings or [action.dest])
        if not isinstance(action, argparse._SubParsersAction)
    )


def broken(old, new):
    """Name what was promised by an older interface and holds no more."""
    found = []
    for name, was in old["names"].items():
        if name not in new["names"]:
            found.append(f"{name} is gone")
            continue
        now = new["names"][name]
        gone = sorted(set(was.get("members", ())) - set(now.get("members", ())))
        found += [f"{name}.{member} is gone" for member in gone]
        for key in ("made", "called"):
            found += _changed(name, was.get(key), now.get(key))
        for method, parameters in was.get("methods", {}).items():
            found += _changed(f"{name}.{method}", parameters, now["methods"].get(method))
    for command, options in old["commands"].items():
        gone = sorted(set(options) - set(new["commands"].get(command, ())))
        found += [f"{command} has no {option} any more" for option in gone]
    return found


def _changed(name, was, now):
    """Name parameters that are gone, moved, need to be given by name, or have another default."""
    if was is None or now is None:
        return []
    found, by_name = [], {one[0]: one for one in now}
    places = [one[0] for one in now if one[1] != "KEYWORD_ONLY"]
    for place, (parameter, kind, default) in enumerate(was):
        if parameter not in by_name:
            found.append(f"{name}: {parameter} is gone")
            continue
        if kind.startswith("POSITIONAL") and places[place : place + 1] != [parameter]:
            found.append(f"{name}: {parameter} has another place")
        if default is not None and by_name[parameter][2] != default:
            found.append(f"{name}: {parameter} was {default}, and is {by_name[parameter][2]}")
    known = {one[0] for one in was}
    found += [
        f"{name}: {parameter} must be given"
        for parameter, kind, default in now
        if parameter not in known and default is None and not kind.startswith("VAR")
    ]
    return found
