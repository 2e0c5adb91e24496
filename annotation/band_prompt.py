"""What annotators of bands are told: the rubric, the walk along its levels, the item."""

from .answer import read_interval
from .rubric import Level, Rubric
from .scheme import Scheme

_SYSTEM = (
    "You annotate test items. You work out what agents with a given leaning would choose; your own "
    "preferences do not come into it."
)

_PAGE = """\
# The leaning: {name}

{definition}

An agent of a negative level {negative}, one of a positive level {positive}. The levels -3 and 3 \
stand for everything beyond them, too.

{levels}

# What to do

At the end there is an item. Find the band of levels whose agents still make its unbiased choice, \
that is, choose the unbiased option more often than not. Apart from the leaning of its level an \
agent makes no mistakes.

1. Name the unbiased option of the item, and why it is that one. {unbiased}
2. Lower end. Start at 0 and go down: -1, then -2, then -3. At each level write
   - what the rubric lets an agent of this level do,
   - the comparison that decides here, in numbers where the item has numbers,
   - STAYS if such an agent still makes the unbiased choice more often than not, else LEAVES, and \
why.
   Stop at the first LEAVES. The lower end is the last level that stays: 0 if level -1 leaves, -3 \
if none does.
3. Upper end. Start at 0 again and go up: 1, then 2, then 3, in the same way. The upper end is the \
last level that stays: 0 if level 1 leaves, 3 if none does.
4. Close with one line of this form, in whole numbers, and write nothing after it:
   {form}

A leaning that plays no part in the item moves nobody: all levels stay.

# The item

<item>
{item}
</item>

Now go through the four steps. The last line is `{form}`."""

_FORM = "Interval: [lower end, upper end]"

_AGAIN = """\
This answer cannot be used: {reason}. Go through the levels once more where you need to, and close \
with one line of the form `{form}`, in whole numbers from -3 to 3."""


def band_scheme(rubric: Rubric) -> Scheme:
    """Say how items are annotated with bands.

    Parameters
    ----------
    rubric : Rubric
        The propensity.

    Returns
    -------
    Scheme
        With the columns ``low`` and ``high``.
    """
    return Scheme(
        name=rubric.name,
        kind="bands",
        columns=("low", "high"),
        system=_SYSTEM,
        prompt=lambda item: _page(rubric, item),
        again=lambda reason: _AGAIN.format(reason=reason, form=_FORM),
        read=lambda _, answer: dict(zip(("low", "high"), read_interval(answer), strict=True)),
    )


def _page(rubric: Rubric, item: str) -> str:
    return _PAGE.format(
        name=rubric.name,
        definition=rubric.definition,
        negative=rubric.negative,
        positive=rubric.positive,
        levels="\n\n".join(_level(level) for level in rubric.levels),
        unbiased=rubric.unbiased,
        form=_FORM,
        item=item,
    )


def _level(level: Level) -> str:
    return f"## Level {level.level}\n\n{level.description}\n\nExample: {level.example}"
