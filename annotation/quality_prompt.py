"""What raters of items are told: about a reference answer, objectivity and ambiguity."""

from .answer import read_rating
from .scheme import Scheme

INDICATORS = ("accuracy", "objectivity", "ambiguity")
"""What items are rated by. 5 is good: an ambiguity of 5 is no ambiguity."""

_SYSTEM = (
    "You check test items before they are used. You rate the item as it stands, and do not mend it "
    "in your mind first."
)

_PAGE = """\
{item}

# What to do

{question}

1. {first}
2. Weigh what speaks for a high rating and what for a low one.
3. Close with one line of this form, where N is a whole number from 1 to 5, and write nothing \
after it:
   {form}

5 means: surely {high}. 1 means: surely {low}. Numbers between say how sure you are."""

_ITEM = "# The item\n\n<item>\n{item}\n</item>"
_ANSWER = "\n\n# The answer that counts as right\n\n<answer>\n{answer}\n</answer>"

_QUESTIONS = {
    "accuracy": {
        "question": "Rate whether the answer that counts as right is right.",
        "first": "Work the item out on your own, and compare your answer with the given one.",
        "high": "right",
        "low": "wrong",
    },
    "objectivity": {
        "question": "Rate whether the item has an answer that does not depend on who answers it.",
        "first": "Ask whether competent people with other tastes and views would answer alike.",
        "high": "objective",
        "low": "a matter of opinion",
    },
    "ambiguity": {
        "question": "Rate whether the item can be read in one way only and says all that is needed "
        "to answer it. How hard it is does not matter.",
        "first": "Look for a second reading, and for what is missing.",
        "high": "clear",
        "low": "ambiguous",
    },
}

_FORM = "Rating: N"

_AGAIN = """\
This answer cannot be used: {reason}. Close with one line of the form `{form}`, where N is a whole \
number from 1 to 5."""


def quality_scheme(indicator: str) -> Scheme:
    """Say how items are rated by one indicator.

    Parameters
    ----------
    indicator : str
        One of ``INDICATORS``.

    Returns
    -------
    Scheme
        With the indicator as its column; what it asks about is a `quality_text`.
    """
    return Scheme(
        name=indicator,
        kind="ratings",
        columns=(indicator,),
        system=_SYSTEM,
        prompt=lambda item: _PAGE.format(item=item, form=_FORM, **_QUESTIONS[indicator]),
        again=lambda reason: _AGAIN.format(reason=reason, form=_FORM),
        read=lambda _, answer: {indicator: read_rating(answer)},
    )


def quality_text(indicator: str, item: str, answer: str) -> str:
    """Write what is rated: the item, and for its accuracy the answer.

    Parameters
    ----------
    indicator : str
        One of ``INDICATORS``.
    item, answer : str
        The item, and the answer that counts as right.

    Returns
    -------
    str
        The beginning of the page.
    """
    text = _ITEM.format(item=item)
    return text + _ANSWER.format(answer=answer) if indicator == "accuracy" else text
