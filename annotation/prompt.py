"""What the annotator is told: the rubric, the walk along its levels, the item."""

import hashlib
import json

from .rubric import Level, Rubric

SYSTEM = (
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


def prompt(rubric: Rubric, item: str) -> str:
    """Write the question for one item.

    Parameters
    ----------
    rubric : Rubric
        The propensity.
    item : str
        The item as subjects see it, with its options.

    Returns
    -------
    str
        The rubric, the steps and the item. Rubric and steps come first, so that providers that keep
        the beginnings of prompts can keep them.

    References
    ----------
    Propensities paper, Appendix E, Listing 1: the structure. The words are this package's own.

    Examples
    --------
    >>> from measurement_layouts.annotation import load_rubric
    >>> text = prompt(load_rubric("risk_aversion"), "A: 50 for certain. B: 1 chance in 4 of 100.")
    >>> text.splitlines()[-4:]
    ['A: 50 for certain. B: 1 chance in 4 of 100.', '</item>', '', 'Now go through the four ...']
    """
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


def prompt_again(reason: str) -> str:
    """Write what follows an answer that cannot be used.

    Parameters
    ----------
    reason : str
        What is wrong with it, in words.

    Returns
    -------
    str
        The reason, and the form that is needed.
    """
    return _AGAIN.format(reason=reason, form=_FORM)


def fingerprint(rubric: Rubric) -> str:
    """Hash everything an annotator is told except the item.

    Parameters
    ----------
    rubric : Rubric
        The propensity.

    Returns
    -------
    str
        16 digits, other ones when a word of the rubric or of the prompts changes.
    """
    said = json.dumps([SYSTEM, prompt(rubric, ""), prompt_again("")])
    return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


def _level(level: Level) -> str:
    return f"## Level {level.level}\n\n{level.description}\n\nExample: {level.example}"
