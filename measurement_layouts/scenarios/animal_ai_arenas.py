"""Meta-features of arenas of the Animal-AI environment, from their configuration files."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.optional import need

_TAGS = ("!Arena", "!ArenaConfig", "!Item", "!RGB", "!Vector3")
_PLAIN = tuple(
    f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null")
)
_LARGEST = 4_000_000  # largest number of bytes of a file; one with 10,000 arenas has 3 MB
_GOALS = ("GoodGoal", "GoodGoalBounce", "GoodGoalMulti", "GoodGoalMultiBounce")
_OPAQUE = ("Wall", "Cardbox1", "Cardbox2", "LObject", "LObject2", "UObject")
_TRANSPARENT = ("WallTransparent", "CylinderTunnelTransparent")
_EYE = 0.5  # height of an agent's eyes, in arena units
_AHEAD, _BEHIND = 22.5, 157.5  # borders between directions, in degrees
_SIDES = {"straight": (0.0, 0), "left": (0.5, -1), "right": (0.5, 1), "behind": (1.0, 0)}
_COLOURS = ("Redness", "Greenness", "Blueness")


@dataclass(frozen=True)
class _Placed:
    """One object of an arena; values that the environment draws at random are NaN."""

    name: str
    position: np.ndarray
    size: np.ndarray
    rotation: float
    colour: np.ndarray


def read_arenas(paths: str | Path | Iterable[str | Path]) -> pd.DataFrame:
    r"""Read Animal-AI configuration files, and compute meta-features of every arena.

    The reward is the largest good goal of an arena. Its direction is the angle between the agent's
    line of sight and the reward, clockwise from above:

    .. math:: \alpha = \operatorname{atan2}(\Delta x, \Delta z) - \rho

    with the agent's rotation :math:`\rho`. The reward is straight ahead up to 22.5 degrees, behind
    from 157.5 degrees on, and otherwise left or right. An object hides the reward if it crosses the
    line from the agent's eyes, 0.5 above its feet, to the middle of the reward; walls, boxes and L-
    and U-shaped objects count, by their outer edges, and ramps and tunnels do not.

    Parameters
    ----------
    paths : str, Path, or iterable of these
        Files, or folders, whose files that end in ``.yml`` or ``.yaml`` are read, including those
        in inner folders.

    Returns
    -------
    DataFrame
        Indexed by arena: the name of the file without its ending, followed by ``:`` and the arena's
        key if a file has several. The unit of lengths is 1/40 of an arena's side.

        - ``size``: diameter of the reward; ``distance``, Euclidean, and ``goalDistance``,
          Manhattan, from agent to reward along the floor; ``angle`` in degrees in (-180, 180].
        - ``side``: straight, left, right or behind, with ``rewardBehind`` and ``XPos`` as in
          Table 2 of the paper, and ``rightLeftPosition`` as in its Table 4.
        - ``goals``, ``badGoals``, ``lava``, ``ramps``, ``transparent``: their numbers; and
          ``lavaPresence``, ``rampPresence`` and ``transparentWalls``: 1 if there is any.
        - ``occluderPresence``: 1 if an opaque object hides the reward from the agent's place; and
          the colour of the nearest such object, ``occluderRedness``, ``occluderGreenness`` and
          ``occluderBlueness``, in 0 to 255.
        - ``timeLimit`` in steps, ``passMark``, ``lights``: on, alternating or off.

        Values that are drawn at random when the arena starts are missing, with all values that
        depend on them.

    Raises
    ------
    DataError
        When a file does not exist, is too large, is not YAML, or has a tag other than the
        environment's, an anchor, or no arenas; or when two arenas have the same name, or PyYAML is
        not installed.

    Notes
    -----
    Files are read as data: tags never create objects. Platforms are ordinary walls, the time for
    which a reward is hidden depends on movement, and the number of possible places depends on which
    places look alike. These cannot be computed from a file, so that you have to add
    ``platformPresence``, ``timeUnderOcc`` and ``numberOfPositions``.

    References
    ----------
    Beyret et al. (2019), The Animal-AI Environment; Burden et al. (2023), Tables 2 and 4.

    Examples
    --------
    >>> import tempfile
    >>> text = '''!ArenaConfig
    ... arenas:
    ...   0: !Arena
    ...     t: 250
    ...     items:
    ...     - !Item {name: Agent, positions: [!Vector3 {x: 20, y: 0, z: 5}], rotations: [0]}
    ...     - !Item {name: GoodGoal, positions: [!Vector3 {x: 20, y: 0, z: 35}],
    ...              sizes: [!Vector3 {x: 2, y: 2, z: 2}]}
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "far.yml"
    ...     _ = path.write_text(text)
    ...     read_arenas(path)[["size", "distance", "side", "occluderPresence"]]
          size  distance      side  occluderPresence
    item
    far    2.0      30.0  straight               0.0
    """
    rows: dict[str, dict[str, object]] = {}
    for path in _files(paths):
        arenas = _arenas(path)
        for key, arena in arenas.items():
            name = path.stem if len(arenas) == 1 else f"{path.stem}:{key}"
            if name in rows:
                raise DataError(
                    f"two arenas have the name {name!r}, one of them in {path}; rename one"
                )
            rows[name] = _features(arena, f"{path}, arena {key}")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("item")


def _files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """List the given files, and the files of folders in the order of their names."""
    found: list[Path] = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        place = Path(path)
        inside = sorted(each for each in place.rglob("*") if each.suffix in (".yml", ".yaml"))
        if place.is_file() or inside:
            found += [place] if place.is_file() else inside
        else:
            raise DataError(f"there is no arena in {place}; give a .yml or .yaml file, or a folder")
    return found


def _arenas(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Read a file's arenas as plain values."""
    need("yaml", "PyYAML", extra="arenas", raises=DataError)
    import yaml  # type: ignore[import-untyped]

    if path.stat().st_size > _LARGEST:
        raise DataError(f"{path} has more than {_LARGEST:,} bytes; split it into several files")
    try:
        text = path.read_text(encoding="utf-8")
        if any(isinstance(token, yaml.AnchorToken) for token in yaml.scan(text, yaml.SafeLoader)):
            raise DataError(f"{path} has an anchor (&); write the arenas out")
        whole = _plain(yaml.compose(text, yaml.SafeLoader), str(path))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(
            f"{path} is not YAML ({type(error).__name__}: {error}); correct it"
        ) from None
    arenas = whole.get("arenas") if isinstance(whole, dict) else None
    if not isinstance(arenas, dict) or not all(isinstance(one, dict) for one in arenas.values()):
        raise DataError(f"{path} has no 'arenas:' with '!Arena' entries; give an Animal-AI file")
    return arenas


def _plain(node: Any, where: str) -> Any:
    """Turn nodes of a file into dictionaries, lists, and texts."""
    if node is None:
        return None
    tag = node.tag
    if tag not in (*_TAGS, *_PLAIN):
        raise DataError(f"{where} has the tag {tag!r}; arenas have {some(_TAGS)} and no other")
    if isinstance(node.value, str):
        return node.value
    if node.id == "mapping":
        return {str(_plain(key, where)): _plain(value, where) for key, value in node.value}
    return [_plain(each, where) for each in node.value]


def _number(text: object, where: str) -> float:
    """Read a number; -1 means that the environment draws it at random."""
    try:
        value = float(str(text))
    except ValueError:
        raise DataError(f"{where} has {text!r} where a number is needed; correct it") from None
    return math.nan if value == -1 else value


def _vector(value: object, names: str, where: str) -> np.ndarray:
    """Read a vector or a colour by its parts' names."""
    if not isinstance(value, dict) or not set(names) <= set(value):
        raise DataError(f"{where} has {value!r} where {', '.join(names)} are needed; correct it")
    return np.array([_number(value[name], where) for name in names])


def _placed(arena: Mapping[str, Any], where: str) -> Iterator[_Placed]:
    """List an arena's objects, one for each position or, where these are random, size."""
    for item in arena.get("items") or ():
        if not isinstance(item, dict) or "name" not in item:
            raise DataError(f"{where} has an item without a name; give each a 'name:'")
        name = str(item["name"])
        lists = {
            part: item.get(part) or [] for part in ("positions", "sizes", "colors", "rotations")
        }
        if not all(isinstance(each, list) for each in lists.values()):
            raise DataError(
                f"{where}: {name} has a property that is not a list; write '-' before each"
            )
        nothing = np.full(3, math.nan)
        for at in range(max(1, *map(len, lists.values()))):
            own = {part: each[at] if at < len(each) else None for part, each in lists.items()}
            spot, size, colour = (
                nothing if own[part] is None else _vector(own[part], letters, f"{where}: {name}")
                for part, letters in (("positions", "xyz"), ("sizes", "xyz"), ("colors", "rgb"))
            )
            turned = own["rotations"]
            rotation = math.nan if turned is None else _number(turned, f"{where}: {name}")
            yield _Placed(name, spot, size, rotation, colour)


def _features(arena: Mapping[str, Any], where: str) -> dict[str, object]:
    """Compute the meta-features of an arena."""
    placed = list(_placed(arena, where))
    agents = [one for one in placed if one.name == "Agent"]
    goals = [one for one in placed if one.name in _GOALS]
    nowhere = _Placed(
        "", np.full(3, math.nan), np.full(3, math.nan), math.nan, np.full(3, math.nan)
    )
    agent = agents[0] if agents else nowhere
    goal = max(goals, key=lambda one: np.nan_to_num(one.size[0], nan=0), default=nowhere)
    across, _, along = goal.position - agent.position
    angle = math.degrees(math.atan2(across, along)) - agent.rotation
    angle = 180 - (180 - angle) % 360
    side = _side(angle)
    behind, x_pos = (math.nan, math.nan) if side is None else _SIDES[side]
    counts = {
        "goals": len(goals),
        "badGoals": sum(one.name.startswith("BadGoal") for one in placed),
        "lava": sum(one.name == "DeathZone" for one in placed),
        "ramps": sum(one.name == "Ramp" for one in placed),
        "transparent": sum(one.name in _TRANSPARENT for one in placed),
    }
    present = {"lavaPresence": "lava", "rampPresence": "ramps", "transparentWalls": "transparent"}
    return {
        "size": float(goal.size[0]),
        "distance": math.hypot(across, along),
        "goalDistance": abs(across) + abs(along),
        "angle": angle,
        "side": side,
        "rewardBehind": behind,
        "XPos": x_pos,
        "rightLeftPosition": x_pos,
        **counts,
        **{name: int(counts[of] > 0) for name, of in present.items()},
        **_hidden(agent, goal, placed),
        "timeLimit": _number(arena.get("timeLimit", arena.get("t", "nan")), where),
        "passMark": _number(arena.get("passMark", arena.get("pass_mark", "nan")), where),
        "lights": _lights(arena.get("blackouts")),
    }


def _side(angle: float) -> str | None:
    """Name the direction of an angle; None if the angle is unknown."""
    if math.isnan(angle):
        return None
    if abs(angle) <= _AHEAD:
        return "straight"
    return "behind" if abs(angle) >= _BEHIND else ("right" if angle > 0 else "left")


def _lights(blackouts: object) -> str:
    """Describe when the lights are on; negative numbers of steps alternate."""
    if not blackouts:
        return "on"
    first = str(blackouts[0]) if isinstance(blackouts, list) and len(blackouts) == 1 else ""
    return "alternating" if first.startswith("-") else "off"


def _up(height: float) -> np.ndarray:
    """Return the vertical direction."""
    return np.array([0.0, height, 0.0])


def _hidden(agent: _Placed, goal: _Placed, placed: Iterable[_Placed]) -> dict[str, float]:
    """Find the nearest opaque object between the agent's eyes and the middle of the reward."""
    eyes = agent.position + _up(_EYE)
    middle = goal.position + _up(goal.size[1] / 2)
    if np.isnan([*eyes, *middle]).any():
        return dict.fromkeys(("occluderPresence", *map("occluder{}".format, _COLOURS)), math.nan)
    opaque = [one for one in placed if one.name in _OPAQUE]
    met = [(_entry(one, eyes, middle), number) for number, one in enumerate(opaque)]
    nearest = min((pair for pair in met if not math.isnan(pair[0])), default=None)
    colour = np.full(3, math.nan) if nearest is None else opaque[nearest[1]].colour
    return {
        "occluderPresence": float(nearest is not None),
        **{f"occluder{name}": float(c) for name, c in zip(_COLOURS, colour, strict=True)},
    }


def _entry(one: _Placed, start: np.ndarray, end: np.ndarray) -> float:
    """Return the share of a line before it enters a rotated upright box; NaN if it does not."""
    turn = math.radians(0.0 if math.isnan(one.rotation) else one.rotation)
    sine, cosine = math.sin(turn), math.cos(turn)
    own = np.array([[cosine, 0, -sine], [0, 1, 0], [sine, 0, cosine]])
    centre = one.position + _up(one.size[1] / 2)
    first, last = own @ (start - centre), own @ (end - centre)
    half = one.size / 2
    if np.isnan([*first, *half]).any():
        return math.nan
    enter, leave = 0.0, 1.0
    for place, step, reach in zip(first, last - first, half, strict=True):
        if step == 0:
            if abs(place) >= reach:
                return math.nan
            continue
        near, far = sorted(((-reach - place) / step, (reach - place) / step))
        enter, leave = max(enter, near), min(leave, far)
    return enter if enter < leave else math.nan
