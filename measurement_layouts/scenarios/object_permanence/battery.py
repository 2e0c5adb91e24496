"""The battery: 2,188 arenas of four paradigms, made by our own rules."""

import numpy as np
import pandas as pd

HIDING = ("cup", "grid", "chick")  # paradigms with tests of object permanence
PARADIGMS = (*HIDING, "basic")
COLOURS = ("Redness", "Greenness", "Blueness")
CANDIDATES = (  # properties that the published layout does not use
    *("rewardVisible", "transparentWalls", "paradigm", "similarPositions", "rewardDeflected"),
    *(f"occluder{colour}" for colour in COLOURS),
)
_SIZES = np.arange(0.5, 5.5, 0.5)
_SIZE_ODDS = (0.15,) * 5 + (0.05,) * 5  # small goals are more frequent
_VIVID = 200  # a channel of a colour above this stands out
_VIVID_ODDS = 0.31
_AHEAD = 71  # number of grid controls whose goal is straight ahead
_DEFLECTED = 24  # number of chick tests whose reward changes course in the dark

# Of each paradigm, hidden or not: how many arenas, other places the reward could be in, shortest
# and longest way, and how often there are a ramp, lava, a platform and a transparent wall.
_KINDS = {
    ("cup", 1): (359, (2,), (12, 40), (1, 0.4, 0, 0)),
    ("cup", 0): (239, (), (12, 40), (1, 0.4, 0, 0.5)),
    ("grid", 1): (191, (3, 7, 11), (8, 36), (1, 0, 1, 0)),
    ("grid", 0): (239, (), (8, 36), (0, 0, 1, 0)),
    ("chick", 1): (36, (1,), (10, 30), (0, 1, 1, 0)),
    ("chick", 0): (603, (), (10, 30), (0, 0.75, 0.8, 0.3)),
    ("basic", 0): (521, (), (0, 56), (0.165, 0.65, 0.2, 0.2)),
}


def battery(seed: int = 1) -> pd.DataFrame:
    """Make 2,188 arenas: tests of object permanence, their controls, and basic tasks.

    The counts of the paper add up to 2,780 arenas, of which 2,188 are distinct because controls are
    shared. The success rates of its agents show which are shared: 639 arenas belong only to the
    chick paradigm, so that 592 of its 1,195 controls belong to other paradigms; we take the 521
    basic ones and the 71 grid controls whose goal is straight ahead (`roles`).

    - *Cup*: always ramps, sometimes lava, no platforms; three places, two besides the right one.
    - *Grid*: holes in platforms, 4, 8 or 12 of them; the tests have ramps as well.
    - *Chick*: platforms and lava; the lights go out while the reward rolls, and in two of three
      tests it changes course then, so that it is not where it was last seen.
    - *Basic*: a mixture of all properties except occluders.

    The shares of lava (0.49), ramps (0.40), small goals and vividly green occluders (0.08 of all
    arenas) are those that the success rates of agents 6, 9, 11 and 8 imply.

    Parameters
    ----------
    seed : int
        Seed of all random properties.

    Returns
    -------
    DataFrame
        Indexed by arena. Table 4's dimensions: ``rewardVisible``, ``timeUnderOcc`` (s),
        ``numberOfPositions`` (other places), ``goalDistance``, ``rightLeftPosition`` (1 right),
        ``goalSize`` (0.5 to 5, the range of Table 5), ``occluderPresence``, ``lavaPresence``,
        ``platformPresence``, ``rampPresence``, ``transparentWalls``, ``occluderRedness``,
        ``occluderGreenness``, ``occluderBlueness`` (0 to 255). Further properties in the text of
        the paper: ``paradigm`` (and ``paradigm[cup]``, ``paradigm[grid]`` and ``paradigm[chick]``,
        which are 1 for that paradigm), ``similarPositions`` (1 if places look identical or like
        mirror images) and ``rewardDeflected``. Time, positions and colours are missing if nothing
        is hidden.

    References
    ----------
    Burden et al. (2023), Table 4 and appendix D.2.

    Examples
    --------
    >>> items = battery()
    >>> len(items), int(items["occluderPresence"].sum()), int(items["timeUnderOcc"].isna().sum())
    (2188, 586, 1602)
    >>> items["paradigm"].value_counts()[list(PARADIGMS)].tolist()
    [598, 430, 639, 521]
    """
    rng = np.random.default_rng(seed)
    return pd.concat(_arenas(paradigm, hidden, rng) for paradigm, hidden in _KINDS)


def roles(items: pd.DataFrame) -> pd.DataFrame:
    """Return the paradigms to which each arena belongs, as a test or as a control.

    Parameters
    ----------
    items : DataFrame
        Items of the battery.

    Returns
    -------
    DataFrame
        Boolean table with one row per arena and one column per role.

    Examples
    --------
    >>> roles(battery()).sum().to_dict()
    {'cup test': 359, 'cup control': 239, 'grid test': 191, 'grid control': 239, 'chick test': 36,
    'chick control': 1195, 'basic': 521}
    """
    hidden = items["occluderPresence"] == 1
    role = {}
    for name in HIDING:
        role[f"{name} test"] = (items["paradigm"] == name) & hidden
        role[f"{name} control"] = (items["paradigm"] == name) & ~hidden
    basic = items["paradigm"] == "basic"
    shared = role["grid control"] & (items["rightLeftPosition"] == 0)
    role["chick control"] = role["chick control"] | basic | shared
    return pd.DataFrame({**role, "basic": basic})


def _arenas(paradigm: str, hidden: int, rng: np.random.Generator) -> pd.DataFrame:
    count, places, (near, far), odds = _KINDS[paradigm, hidden]
    kind = "test" if hidden else ("task" if paradigm == "basic" else "control")
    names = pd.Index([f"{paradigm} {kind} {number}" for number in range(1, count + 1)])
    table = pd.DataFrame({"paradigm": paradigm, "occluderPresence": hidden}, names)
    table["rewardVisible"] = 1 - hidden
    flags = ["rampPresence", "lavaPresence", "platformPresence", "transparentWalls"]
    table[flags] = (rng.random((count, 4)) < odds).astype(int)
    table["goalDistance"] = rng.uniform(near, far, count).round(1)
    table["goalSize"] = rng.choice(_SIZES, count, p=_SIZE_ODDS)
    table["rightLeftPosition"] = _sides(paradigm, hidden, count, rng)
    has_similar = paradigm in ("cup", "grid")
    table["similarPositions"] = rng.integers(0, 2, count) if has_similar else 0
    table["rewardDeflected"] = 0
    colours = np.full((count, 3), np.nan)
    table[["timeUnderOcc", "numberOfPositions"]] = np.nan
    if hidden:
        table["timeUnderOcc"] = rng.uniform(0.5, 4, count).round(2)
        table["numberOfPositions"] = rng.choice(places, count).astype(float)
        dull = rng.integers(0, _VIVID + 1, (count, 3))
        vivid = rng.integers(_VIVID + 1, 256, (count, 3))
        colours = np.where(rng.random((count, 3)) < _VIVID_ODDS, vivid, dull).astype(float)
    if (paradigm, hidden) == ("chick", 1):
        table.loc[names[:_DEFLECTED], "rewardDeflected"] = 1
    table[[f"paradigm[{name}]" for name in HIDING]] = [int(name == paradigm) for name in HIDING]
    table[[f"occluder{channel}" for channel in COLOURS]] = colours
    return table


def _sides(paradigm: str, hidden: int, count: int, rng: np.random.Generator) -> np.ndarray:
    if (paradigm, hidden) != ("grid", 0):
        return rng.integers(-1, 2, count)
    beside = rng.permutation(np.resize([-1, 1], count - _AHEAD))
    return np.concatenate([np.zeros(_AHEAD, dtype=int), beside])
