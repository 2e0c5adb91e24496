"""The question about one item according to a rubric, and how its answer is read."""

from ..common.errors import AnnotationError
from .answer import read_interval, read_level
from .rubric import DemandLevel, DemandRubric, Rubric
from .scheme import Scheme

_BAND_SYSTEM = (
    "You annotate test items. You work out what agents with a given leaning would choose; your own "
    "preferences do not come into it."
)

_BAND_PAGE = """\
# The leaning: {name}

{definition}

An agent of a negative level {negative}, one of a positive level {positive}. The levels {lowest} \
and {highest} stand for everything beyond them, too.

{levels}

# What to do

At the end there is an item. Find the band of levels whose agents still make its unbiased choice, \
that is, choose the unbiased option more often than not. Apart from the leaning of its level an \
agent makes no mistakes.

1. Name the unbiased option of the item, and why it is that one. {unbiased}
2. Lower end. Start at 0 and go down: {down}. At each level write
   - what the rubric lets an agent of this level do,
   - the comparison that decides here, in numbers where the item has numbers,
   - STAYS if such an agent still makes the unbiased choice more often than not, else LEAVES, and \
why.
   Stop at the first LEAVES. The lower end is the last level that stays: 0 if level -1 leaves, \
{lowest} if none does.
3. Upper end. Start at 0 again and go up: {up}, in the same way. The upper end is the \
last level that stays: 0 if level 1 leaves, {highest} if none does.
4. Close with one line of this form, in whole numbers, and write nothing after it:
   {form}

A leaning that plays no part in the item moves nobody: all levels stay.

# The item

<item>
{item}
</item>

Now go through the four steps. The last line is `{form}`."""

_BAND_AGAIN = """\
This answer cannot be used: {reason}. Go through the levels once more where you need to, and close \
with one line of the form `{form}`, in whole numbers from {lowest} to {highest}."""

_DEMAND_SYSTEM = (
    "You annotate test items. You judge what an item demands of whoever answers it; you do not "
    "answer it, and how hard it is for you does not come into it."
)

_DEMAND_PAGE = """\
# The demand: {name}

{definition}

An item's level says how much of this demand it makes. Its levels go from {lowest}, {least}, to \
{highest}, which stands for everything beyond it, too.

{levels}

# What to do

At the end there is an item. Find the level of {name} that it demands.

1. Go step by step through what a right answer to the item takes.
2. Name the steps that call on {name}. Leave out all others: an item may be hard for other reasons.
3. Hold the most demanding of these steps against the levels and their examples, from {lowest} \
upwards. Name the level that describes it, and why the level below is too low and the level above \
too high.
4. Close with one line of this form, where N is a whole number from {lowest} to {highest}, and \
write nothing after it:
   {form}

# The item

<item>
{item}
</item>

Now go through the four steps. The last line is `{form}`."""

_DEMAND_AGAIN = """\
This answer cannot be used: {reason}. Go through the steps once more where you need to, and close \
with one line of the form `{form}`, where N is a whole number from {lowest} to {highest}."""

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
    """Make the scheme by which items are annotated according to a rubric.

    Parameters
    ----------
    rubric : Rubric or DemandRubric
        Rubric of the propensity or of the demand.

    Returns
    -------
    Scheme
        Scheme for bands or for levels.

    Raises
    ------
    AnnotationError
        When `rubric` is neither a Rubric nor a DemandRubric.
    """
    if isinstance(rubric, Rubric):
        lowest, highest = rubric.levels[0].level, rubric.levels[-1].level
        walks = {
            "down": ", then ".join(map(str, range(-1, lowest - 1, -1))),
            "up": ", then ".join(map(str, range(1, highest + 1))),
        }
        return Scheme(
            name=rubric.name,
            kind="bands",
            columns=("low", "high"),
            system=_BAND_SYSTEM,
            page=_BAND_PAGE,
            form="Interval: [lower end, upper end]",
            correction=_BAND_AGAIN,
            fields={**told(rubric), **walks},
            read=lambda _, answer: dict(
                zip(("low", "high"), read_interval(answer, lowest, highest), strict=True)
            ),
        )
    if isinstance(rubric, DemandRubric):
        first, last = rubric.levels[0].level, rubric.levels[-1].level
        return Scheme(
            name=rubric.name,
            kind="levels",
            columns=("level",),
            system=_DEMAND_SYSTEM,
            page=_DEMAND_PAGE,
            form="Level: N",
            correction=_DEMAND_AGAIN,
            fields={
                **vars(rubric),
                "levels": "\n\n".join(_demand_level(level, last) for level in rubric.levels),
                "lowest": first,
                "least": "where an earlier scale ends" if first else "none at all",
                "highest": last,
            },
            read=lambda _, answer: {"level": read_level(answer, first, last)},
        )
    raise AnnotationError(
        f"rubric={rubric!r}; give a Rubric, such as load_rubric({rubric!r}), for bands, or a "
        f"DemandRubric, such as load_demand_rubric({rubric!r}), for levels of a demand"
    )


def told(rubric: Rubric) -> dict[str, object]:
    """Return the fields of a propensity's page: the rubric's, its levels as text, and both ends."""
    levels = [
        f"## Level {level.level}\n\n{level.description}\n\nExample: {level.example}"
        for level in rubric.levels
    ]
    ends = {"lowest": rubric.levels[0].level, "highest": rubric.levels[-1].level}
    return {**vars(rubric), **ends, "levels": "\n\n".join(levels)}


def _demand_level(level: DemandLevel, last: int) -> str:
    """Write one level of a demand for the annotator."""
    names = [_LEVEL_NAMES[level.level]] if level.level < len(_LEVEL_NAMES) else []
    names += ["and everything beyond"] * (level.level == last)
    return "\n".join(
        [
            f"## Level {level.level}{': ' * bool(names)}{', '.join(names)}\n",
            f"{level.description}\n",
            *[f"Beyond level {level.level - 1}: {level.boundary}\n"] * bool(level.boundary),
            *(f"- {example}" for example in level.examples),
        ]
    )
