"""The 18 demands and unguessability, and the 15 language models of the study."""

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


_TABLES = tomllib.loads((files(__package__) / "scales.toml").read_text(encoding="utf-8"))
DIMENSIONS = {row["code"]: Dimension(**row) for row in _TABLES["dimensions"]}
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


@dataclass(frozen=True)
class Subject:
    """A language model that answered the battery.

    Attributes
    ----------
    family : {"OpenAI", "LLaMA", "DeepSeek"}
        Family of the model; those of DeepSeek are distilled.
    accuracy : float
        Published mean success on the whole battery, in [0, 1].
    parameters : float or None
        Number of parameters in thousands of millions; None if it is not public.
    reasons : bool
        Whether it was trained to reason before it answers.
    """

    family: str
    accuracy: float
    parameters: float | None = None
    reasons: bool = False

    @property
    def distilled(self) -> bool:
        """Whether a smaller model was taught by a larger one."""
        return self.family == "DeepSeek"


SUBJECTS = {name: Subject(**row) for name, row in _TABLES["subjects"].items()}
"""Subjects by name in the paper's Table 3; accuracies are from there, sizes from Table 2."""
BENCHMARKS, MODELS = _TABLES["benchmarks"], _TABLES["models"]
"""Labelled benchmarks and models: names in their files, and names in the paper's tables."""
