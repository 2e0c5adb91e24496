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


SUBJECTS = {
    "Babbage-002": Subject("OpenAI", 0.102, 1.3),
    "Davinci-002": Subject("OpenAI", 0.157, 175),
    "GPT-3.5-Turbo": Subject("OpenAI", 0.414),
    "GPT-4o": Subject("OpenAI", 0.713),
    "OpenAI o1-mini": Subject("OpenAI", 0.770, reasons=True),
    "OpenAI o1": Subject("OpenAI", 0.843, reasons=True),
    "LLaMA-3.2-1B-Instruct": Subject("LLaMA", 0.216, 1),
    "LLaMA-3.2-3B-Instruct": Subject("LLaMA", 0.378, 3),
    "LLaMA-3.2-11B-Instruct": Subject("LLaMA", 0.463, 11),
    "LLaMA-3.2-90B-Instruct": Subject("LLaMA", 0.645, 90),
    "LLaMA-3.1-405B-Instruct": Subject("LLaMA", 0.683, 405),
    "DK-R1-Dist-Qwen-1.5B": Subject("DeepSeek", 0.353, 1.5, reasons=True),
    "DK-R1-Dist-Qwen-7B": Subject("DeepSeek", 0.555, 7, reasons=True),
    "DK-R1-Dist-Qwen-14B": Subject("DeepSeek", 0.698, 14, reasons=True),
    "DK-R1-Dist-Qwen-32B": Subject("DeepSeek", 0.748, 32, reasons=True),
}
"""Subjects by name in the paper's Table 3; accuracies are from there, sizes from Table 2."""
