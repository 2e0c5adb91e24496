"""System prompts that incite a language model to a level of a propensity."""

from pathlib import Path

from ..common.errors import AnnotationError
from .rubric import LEVELS, RUBRICS, Rubric, read_toml
from .scheme import question

_PROMPTS = Path(__file__).parent / "inciting-prompts"
_TEXTS = question("incited")
CHOICE_FORM: str = _TEXTS["form"]
"""The form of an answer to a question with options."""


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
    return f"{incitement(name, level)}\n\n{_TEXTS['introduction']} {CHOICE_FORM}"


def incitement(propensity: str | Rubric, level: int) -> str:
    """Write an inciting prompt without the form of the answer.

    Raises
    ------
    AnnotationError
        As `inciting_prompt`.
    """
    rubric = propensity if isinstance(propensity, Rubric) else None
    if rubric is None and not (isinstance(propensity, str) and propensity in RUBRICS):
        raise AnnotationError(
            f"no inciting prompts for {propensity!r}; give one of {', '.join(RUBRICS)}, or a Rubric"
        )
    levels = LEVELS if rubric is None else tuple(one.level for one in rubric.levels)
    if isinstance(level, bool) or level not in levels:
        raise AnnotationError(
            f"level={level!r}; give a whole number from {levels[0]} to {levels[-1]}"
        )
    if rubric is None:
        texts = read_toml(_PROMPTS / f"{propensity}.toml")["levels"][str(int(level))]
        return f"{texts['preference']}\n\nHow you decide: {texts['rule'].strip()}"
    position = _TEXTS["leaning" if level else "no_leaning"].format(
        lowest=levels[0],
        highest=levels[-1],
        level=int(level),
        negative=rubric.negative,
        positive=rubric.positive,
    )
    description = " ".join(rubric.levels[levels.index(level)].description.split())
    return f"{position}\n\n{_TEXTS['rule'].format(description=description)}"
