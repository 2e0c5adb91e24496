"""The general scales: 18 demands in levels from 0 to 5 and above, and unguessability in percent."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Dimension:
    """One scale on which items are placed.

    Attributes
    ----------
    code : str
        Short name, which is also the column of the items.
    name : str
        Name in figures.
    meaning : str
        Description of the demand, in one sentence.
    broad : str
        Code of the broad dimension to which it belongs.
    group : {"primordial", "knowledge", "extraneous"}
        Cognitive capability, knowledge of a field, or a property that makes an item harder without
        demanding either.
    """

    code: str
    name: str
    meaning: str
    broad: str
    group: str


_ROWS = tomllib.loads((files(__package__) / "scales.toml").read_text(encoding="utf-8"))

DIMENSIONS = {row["code"]: Dimension(**row) for row in _ROWS["dimensions"]}
"""Scales by code, in the order of the study's Table 1; unguessability is last."""

UNGUESSABILITY = "UG"
"""The only dimension that is a percentage."""

DEMANDS = tuple(code for code in DIMENSIONS if code != UNGUESSABILITY)
"""The 18 dimensions with levels."""

EXTRANEOUS = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "extraneous")
"""Dimensions that are neither capability nor knowledge; unguessability is another."""

BROAD = {
    broad: tuple(code for code, dimension in DIMENSIONS.items() if dimension.broad == broad)
    for broad in dict.fromkeys(dimension.broad for dimension in DIMENSIONS.values())
}
"""The 11 broad dimensions, and the parts of each."""
