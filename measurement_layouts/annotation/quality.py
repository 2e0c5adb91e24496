"""Quality of items: ratings by a language model, and selection of items by their ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError
from ..common.given import refuse_other
from .annotations import Annotations, collect
from .answer import read_rating
from .inputs import read_texts
from .running import ModelOrName, run
from .scheme import Reply, Scheme, spent

INDICATORS = ("accuracy", "objectivity", "ambiguity")
"""Indicators of quality. A rating of 5 is good: an ambiguity of 5 means that there is none."""

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

RATE_AGAIN = """\
This answer cannot be used: {reason}. Close with one line of the form `{form}`, where N is a whole \
number from 1 to 5."""
_PUBLISHED = dict.fromkeys(INDICATORS, 2)


def quality(items: pd.DataFrame, model: ModelOrName, **options: Any) -> Annotations:
    r"""Rate the accuracy, the objectivity and the ambiguity of items from 1 to 5.

    The model is asked for each indicator separately. It is shown the reference answer only for the
    accuracy of that answer. A rating of 5 is always good: surely right, surely objective, surely
    unambiguous.

    Parameters
    ----------
    items : DataFrame
        Items, indexed by name, with the columns ``text`` and ``answer`` (the reference answer,
        which counts as right).
    model, **options
        As in `annotate`.

    Returns
    -------
    Annotations
        Annotations with `ratings`. An item that lacks one of the three ratings is a failure. Usage
        is the sum over the three indicators.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, a column or a text is missing, an option is out of range,
        or `log_dir` cannot be used.

    References
    ----------
    General scales paper, section 5.4 and Tables 8 to 10, which have the indicators. The wording is
    this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> def reply(messages, tools, choice, config):
    ...     rating = 4 if "ambiguous" in messages[-1].text else 5
    ...     output = ModelOutput.from_content("mock", f"Rating: {rating}")
    ...     output.usage = ModelUsage(input_tokens=300, output_tokens=100)
    ...     return output
    >>> model = get_model("mockllm/model", custom_outputs=reply)
    >>> items = pd.DataFrame({"text": "What is 3 + 4?", "answer": "7"}, index=["sum"])
    >>> quality(items, model).ratings
          accuracy  objectivity  ambiguity
    item
    sum          5            5          4
    """
    if not isinstance(items, pd.DataFrame) or not {"text", "answer"} <= set(items.columns):
        raise AnnotationError(
            "items: give a DataFrame indexed by item with the columns text and answer"
        )
    texts, answers = read_texts(items["text"]), read_texts(items["answer"], "answer")
    batches = {
        indicator: (
            _scheme(indicator),
            {item: _text(indicator, text, answers[item]) for item, text in texts.items()},
        )
        for indicator in INDICATORS
    }
    rater, replies = run(batches, model, **options)
    joined = [_joined(of_item) for of_item in zip(*replies, strict=True)]
    scheme = replace(_scheme(INDICATORS[0]), name="quality", columns=INDICATORS)
    return collect(scheme, rater, joined)


def keep(
    ratings: Annotations | pd.DataFrame, thresholds: Mapping[str, int] = _PUBLISHED
) -> pd.Index:
    """Return the items whose ratings all reach their thresholds.

    Parameters
    ----------
    ratings : Annotations or DataFrame
        Annotations that `quality` returned, or a frame indexed by item with a column for each
        indicator.
    thresholds : mapping of str to int, default 2 for each indicator
        Least rating of the items that are kept, by indicator. The published rule drops items
        that any indicator rates 1. Items without a rating are dropped.

    Returns
    -------
    Index
        Items that are kept, in their order.

    Raises
    ------
    AnnotationError
        When `ratings` is something else or lacks the column of a threshold, or a threshold
        is not one of 1 to 5.

    References
    ----------
    General scales paper, section 5.4, where 16 % of the items were dropped.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {"accuracy": [5, 2, 1], "objectivity": [5, 2, 5], "ambiguity": [4, 2, 5]}, list("abc")
    ... )
    >>> list(keep(table))
    ['a', 'b']
    >>> list(keep(table, {"accuracy": 3}))
    ['a']
    """
    table = ratings.ratings if isinstance(ratings, Annotations) else ratings
    remedy = "give what quality() returned, or its ratings"
    refuse_other("ratings", table, pd.DataFrame, "Annotations or a table", remedy, AnnotationError)
    for name, least in thresholds.items():
        if name not in table.columns:
            raise AnnotationError(
                f"no ratings of {name!r}; there are {', '.join(map(str, table.columns))}"
            )
        if least not in range(1, 6):
            raise AnnotationError(f"thresholds: {name!r} is {least!r}; give one of 1 to 5")
    good = [table[name] >= least for name, least in thresholds.items()]
    return table.index[pd.concat(good, axis=1).all(axis=1)] if good else table.index


def _joined(replies: Sequence[Reply]) -> Reply:
    """Join the replies about one item for all indicators."""
    named = list(zip(INDICATORS, replies, strict=True))
    return replace(
        replies[0],
        annotation={name: rating for reply in replies for name, rating in reply.annotation.items()},
        reason="; ".join(f"{name}: {reply.reason}" for name, reply in named if not reply.good),
        answer="\n\n".join(f"# {name}\n\n{reply.answer}" for name, reply in named),
        **spent(replies),
    )


def _scheme(indicator: str) -> Scheme:
    """Make the scheme by which items are rated for one indicator."""
    return Scheme(
        name=indicator,
        kind="ratings",
        columns=(indicator,),
        system=_SYSTEM,
        page=_PAGE,
        form="Rating: N",
        correction=RATE_AGAIN,
        fields=_QUESTIONS[indicator],
        read=lambda _, answer: {indicator: read_rating(answer)},
    )


def _text(indicator: str, item: str, answer: str) -> str:
    """Write the material to rate: the item and, for the accuracy, the reference answer."""
    text = _ITEM.format(item=item)
    return text + _ANSWER.format(answer=answer) if indicator == "accuracy" else text
