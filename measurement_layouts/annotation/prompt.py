"""The question about one item according to a rubric, and how its answer is read."""

from ..common.errors import AnnotationError
from .answer import read_interval, read_level
from .rubric import DemandLevel, DemandRubric, Rubric
from .scheme import Scheme, question

_LEVEL_NAMES = ("none", "very low", "low", "intermediate", "high", "very high")


def prompt(rubric: Rubric | DemandRubric, item: str) -> str:
    """Write the question for one item.

    Parameters
    ----------
    rubric : Rubric or DemandRubric
        Rubric of the propensity or of the demand.
    item : str
        Text of the item as subjects see it, with its options.

    Returns
    -------
    str
        The rubric, the steps and the item. Rubric and steps come first, so that providers can cache
        the beginning of the prompt.

    Raises
    ------
    AnnotationError
        When `rubric` is neither a Rubric nor a DemandRubric.

    References
    ----------
    Propensities paper, Appendix E, Listing 1, and general scales paper, Table 6, which have the
    structures. The wording is this package's own.

    Examples
    --------
    >>> from measurement_layouts.annotation import load_demand_rubric, load_rubric
    >>> text = prompt(load_rubric("risk_aversion"), "A: 50 for certain. B: 1 chance in 4 of 100.")
    >>> text.splitlines()[-4:]
    ['A: 50 for certain. B: 1 chance in 4 of 100.', '</item>', '', 'Now go through the four ...']
    >>> text = prompt(load_demand_rubric("quantitative_reasoning"), "What is 3 + 4?")
    >>> text.splitlines()[-1]
    'Now go through the four steps. The last line is `Level: N`.'
    """
    return scheme_of(rubric).prompt(item)


def scheme_of(rubric: Rubric | DemandRubric) -> Scheme:
    """Make the scheme by which items are annotated: with bands or, by demands, with levels.

    Raises
    ------
    AnnotationError
        When `rubric` is neither a Rubric nor a DemandRubric.
    """
    if not isinstance(rubric, Rubric | DemandRubric):
        raise AnnotationError(
            f"rubric={rubric!r}; give a Rubric, such as load_rubric({rubric!r}), for bands, or a "
            f"DemandRubric, such as load_demand_rubric({rubric!r}), for levels of a demand"
        )
    lowest, highest = rubric.levels[0].level, rubric.levels[-1].level
    if isinstance(rubric, Rubric):
        walks = {
            "down": ", then ".join(map(str, range(-1, lowest - 1, -1))),
            "up": ", then ".join(map(str, range(1, highest + 1))),
        }
        return Scheme(
            question("band", name=rubric.name),
            fields={**rubric_fields(rubric), **walks},
            read=lambda _, answer: dict(
                zip(("low", "high"), read_interval(answer, lowest, highest), strict=True)
            ),
        )
    return Scheme(
        question("demand", name=rubric.name),
        fields={
            **vars(rubric),
            "levels": "\n\n".join(_demand_level(level, highest) for level in rubric.levels),
            "lowest": lowest,
            "least": "where an earlier scale ends" if lowest else "none at all",
            "highest": highest,
        },
        read=lambda _, answer: {"level": read_level(answer, lowest, highest)},
    )


def rubric_fields(rubric: Rubric) -> dict[str, object]:
    """Return the fields of a propensity's page: the rubric's, its levels as text, and both ends."""
    levels = [
        f"## Level {level.level}\n\n{level.description}\n\nExample: {level.example}"
        for level in rubric.levels
    ]
    ends = {"lowest": rubric.levels[0].level, "highest": rubric.levels[-1].level}
    return {**vars(rubric), **ends, "levels": "\n\n".join(levels)}


def _demand_level(level: DemandLevel, highest: int) -> str:
    """Write one level of a demand for the annotator."""
    names = [_LEVEL_NAMES[level.level]] if level.level < len(_LEVEL_NAMES) else []
    names += ["and everything beyond"] * (level.level == highest)
    return "\n".join(
        [
            f"## Level {level.level}{': ' * bool(names)}{', '.join(names)}\n",
            f"{level.description}\n",
            *[f"Beyond level {level.level - 1}: {level.boundary}\n"] * bool(level.boundary),
            *(f"- {example}" for example in level.examples),
        ]
    )
