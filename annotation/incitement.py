"""Inciting prompts: system prompts that give a language model a propensity of known strength."""

from functools import cache
from pathlib import Path
from typing import Any

from ..inference.errors import AnnotationError
from .rubric import LEVELS, RUBRICS
from .rubric_file import read_toml

_PROMPTS = Path(__file__).parent / "inciting-prompts"
_FORMAT = (
    "The questions that follow offer a few options. Choose exactly one. You may think aloud; the "
    "last line of your answer reads `Answer: ` followed by the option you choose, and nothing else."
)


def inciting_prompt(name: str, level: int) -> str:
    """Write the system prompt that incites a language model to a level of a propensity.

    It states a preference of graded strength, a rule for decisions with what overrides it, and the
    form of the answer. Level 0 asks for the unbiased choice.

    Parameters
    ----------
    name : str
        One of ``RUBRICS``.
    level : int
        From -3 to 3.

    Returns
    -------
    str
        The prompt.

    Raises
    ------
    AnnotationError
        When there is no such rubric or level.

    References
    ----------
    Propensities paper, section 4.3 and Appendix F: the structure. The words are this package's own.

    Examples
    --------
    >>> print(inciting_prompt("red_against_blue", 1))
    You like red a little better than blue.
    <BLANKLINE>
    How you decide: Take the red option where the difference ...
    <BLANKLINE>
    The questions that follow offer a few options. ...
    """
    if name not in RUBRICS:
        raise AnnotationError(f"no inciting prompts for {name!r}; give one of {', '.join(RUBRICS)}")
    if level not in LEVELS:
        raise AnnotationError(f"level={level!r}; give a whole number from -3 to 3")
    said = _incitements(name)[str(int(level))]
    return f"{said['preference']}\n\nHow you decide: {said['rule'].strip()}\n\n{_FORMAT}"


@cache
def _incitements(name: str) -> dict[str, Any]:
    levels: dict[str, Any] = read_toml(_PROMPTS / f"{name}.toml")["levels"]
    return levels
