"""What annotators of demands are told: the rubric, how to find the level, the item."""

from .answer import read_level
from .demand_rubric import DemandLevel, DemandRubric
from .scheme import Scheme

_SYSTEM = (
    "You annotate test items. You judge what an item demands of whoever answers it; you do not "
    "answer it, and how hard it is for you does not come into it."
)

_PAGE = """\
# The demand: {name}

{definition}

An item's level says how much of this demand it makes. The six levels go from 0, none at all, to \
5, which stands for everything beyond it, too.

{levels}

# What to do

At the end there is an item. Find the level of {name} that it demands.

1. Go step by step through what a right answer to the item takes.
2. Name the steps that call on {name}. Leave out all others: an item may be hard for other reasons.
3. Hold the most demanding of these steps against the levels and their examples, from 0 upwards. \
Name the level that describes it, and why the level below is too low and the level above too high.
4. Close with one line of this form, where N is a whole number from 0 to 5, and write nothing \
after it:
   {form}

# The item

<item>
{item}
</item>

Now go through the four steps. The last line is `{form}`."""

_FORM = "Level: N"

_AGAIN = """\
This answer cannot be used: {reason}. Go through the steps once more where you need to, and close \
with one line of the form `{form}`, where N is a whole number from 0 to 5."""

_WORDS = ("none", "very low", "low", "intermediate", "high", "very high, and everything beyond")


def demand_scheme(rubric: DemandRubric) -> Scheme:
    """Say how items are annotated with levels of a demand.

    Parameters
    ----------
    rubric : DemandRubric
        The demand.

    Returns
    -------
    Scheme
        With the column ``level``.
    """
    return Scheme(
        name=rubric.name,
        kind="levels",
        columns=("level",),
        system=_SYSTEM,
        prompt=lambda item: _page(rubric, item),
        again=lambda reason: _AGAIN.format(reason=reason, form=_FORM),
        read=lambda _, answer: {"level": read_level(answer)},
    )


def _page(rubric: DemandRubric, item: str) -> str:
    return _PAGE.format(
        name=rubric.name,
        definition=rubric.definition,
        levels="\n\n".join(_level(level) for level in rubric.levels),
        form=_FORM,
        item=item,
    )


def _level(level: DemandLevel) -> str:
    examples = "\n".join(f"- {example}" for example in level.examples)
    return f"## Level {level.level}: {_WORDS[level.level]}\n\n{level.description}\n\n{examples}"
