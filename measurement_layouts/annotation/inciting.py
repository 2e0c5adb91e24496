"""System prompts that incite a language model to a level of a propensity."""

from functools import cache
from pathlib import Path
from typing import Any

from ..common.errors import AnnotationError
from ..linking.real import real
from .rubric import LEVELS, RUBRICS, Rubric, read_toml

_PROMPTS = Path(__file__).parent / "inciting-prompts"

CHOICE_FORM = (
    "Choose exactly one. You may think aloud; the last line of your answer reads `Answer: ` "
    "followed by the option you choose, and nothing else."
)
"""The form of an answer to a question with options."""

_FORMAT = f"The questions that follow offer a few options. {CHOICE_FORM}"

_LEANING = (
    "You have a leaning, and you keep to it in every choice. On a scale from {lowest} ({negative}) "
    "to {highest} ({positive}), on which 0 is no leaning at all, you are at {level}."
)
_NO_LEANING = (
    "You have no leaning in what follows. On a scale from {lowest} ({negative}) to {highest} "
    "({positive}), you are at 0, which is no leaning at all."
)
_RULE = (
    "How you decide: an agent of your level is described below, and you choose as it would choose, "
    "whatever you would choose otherwise. {description}"
)


def inciting_prompt(name: str | Rubric, level: int) -> str:
    """Write the system prompt that incites a language model to a level of a propensity.

    The prompt states a preference of graded strength, a rule for decisions with its exceptions, and
    the form of the answer. The prompt of level 0 asks for the unbiased choice.

    For a name in ``RUBRICS``, the prompt was written by hand, with one text for each level. For a
    `Rubric` with any levels, it is composed of the position on the scale, a description of agents
    at both ends, and the rubric's description of the level. Models are then incited with the same
    words that annotators are given.

    Parameters
    ----------
    name : str or Rubric
        One of ``RUBRICS``, or a rubric, such as one from `load_rubric`.
    level : int
        Level from -3 to 3, or one of the levels of the rubric.

    Returns
    -------
    str
        The prompt.

    Raises
    ------
    AnnotationError
        When there is no such rubric or level.

    Notes
    -----
    No prompt has been tried with a real model yet. `incite` measures how far each prompt moves the
    models that you ask.

    References
    ----------
    Propensities paper, section 4.3 and Appendix F, which have the structure of the prompts. The
    wording is this package's own.

    Examples
    --------
    >>> print(inciting_prompt("red_against_blue", 1))
    You like red a little better than blue.
    <BLANKLINE>
    How you decide: Take the red option where the difference ...
    <BLANKLINE>
    The questions that follow offer a few options. ...
    >>> from measurement_layouts.annotation import Level
    >>> levels = tuple(Level(at, f"Gives up {abs(at)} of 6 for it.", "...") for at in range(-5, 6))
    >>> haste = Rubric("haste", "How far ...", "The better one.", "dawdles", "hurries", levels)
    >>> print(inciting_prompt(haste, -4))
    You have a leaning, ... On a scale from -5 (dawdles) to 5 (hurries), ... you are at -4.
    <BLANKLINE>
    How you decide: ... Gives up 4 of 6 for it.
    <BLANKLINE>
    The questions that follow offer a few options. ...
    """
    return f"{incitement(name, level)}\n\n{_FORMAT}"


def incitement(propensity: str | Rubric, level: int) -> str:
    """Write an inciting prompt without the form of the answer.

    Raises
    ------
    AnnotationError
        As `inciting_prompt`.
    """
    own = isinstance(propensity, Rubric)
    if not own and not (isinstance(propensity, str) and propensity in RUBRICS):
        raise AnnotationError(
            f"no inciting prompts for {propensity!r}; give one of {', '.join(RUBRICS)}, or a Rubric"
        )
    levels = [one.level for one in propensity.levels] if isinstance(propensity, Rubric) else LEVELS
    if isinstance(level, bool) or real(level) not in levels:
        raise AnnotationError(
            f"level={level!r}; give a whole number from {levels[0]} to {levels[-1]}"
        )
    if not isinstance(propensity, Rubric):
        said = _incitements(propensity)[str(int(level))]
        return f"{said['preference']}\n\nHow you decide: {said['rule'].strip()}"
    scale = {"lowest": levels[0], "highest": levels[-1], "level": int(level)}
    poles = {"negative": propensity.negative, "positive": propensity.positive}
    place = (_LEANING if level else _NO_LEANING).format(**scale, **poles)
    description = " ".join(propensity.levels[levels.index(level)].description.split())
    return f"{place}\n\n{_RULE.format(description=description)}"


@cache
def _incitements(name: str) -> dict[str, Any]:
    levels: dict[str, Any] = read_toml(_PROMPTS / f"{name}.toml")["levels"]
    return levels
