"""Quality of items: accuracy, objectivity and ambiguity, rated by a language model."""

from dataclasses import replace
from typing import Any

import pandas as pd

from .annotate import USAGE, Annotations, collect
from .answer import read_number
from .inputs import read_named
from .running import ModelOrName, run
from .scheme import Scheme, question

_QUESTION = question("quality")
INDICATORS = tuple(_QUESTION["columns"])
"""Indicators of quality. A rating of 5 is good: an ambiguity of 5 means that there is none."""

_ITEM = "# The item\n\n<item>\n{text}\n</item>"
_ANSWER = "\n\n# The answer that counts as right\n\n<answer>\n{answer}\n</answer>"


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

    The published rule keeps the items that no indicator rates 1:

    >>> ratings = pd.DataFrame({"accuracy": [5, 1], "objectivity": 5, "ambiguity": 4}, ["a", "b"])
    >>> list(ratings.index[(ratings >= 2).all(axis=1)])
    ['a']
    """
    table = read_named(items, "item", ("text", "answer"))
    batches = {}
    for indicator in INDICATORS:
        page = _ITEM + _ANSWER if indicator == "accuracy" else _ITEM
        texts = {str(item): page.format(**row) for item, row in table.T.to_dict().items()}
        batches[indicator] = (_scheme(indicator), texts)
    rater, replies = run(batches, model, **options)
    scheme = replace(_scheme(INDICATORS[0]), question=_QUESTION)
    return collect(scheme, rater, _joined(dict(zip(INDICATORS, replies, strict=True))))


def _joined(replies: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Join the replies about each item for all indicators."""
    joined = pd.concat(replies)[USAGE].groupby(level="item", sort=False).sum()
    annotations = [
        {name: value for rating in ratings for name, value in (rating or {}).items()}
        for ratings in zip(*(table["annotation"] for table in replies.values()), strict=True)
    ]
    joined["annotation"] = pd.Series(annotations, joined.index, dtype=object)
    joined["reason"] = joined["answer"] = ""
    for indicator, table in replies.items():
        failed = table["reason"].ne("")
        separator = joined["reason"].ne("").map({True: "; ", False: ""})
        joined["reason"] += (separator + f"{indicator}: " + table["reason"]).where(failed, "")
        joined["answer"] += f"# {indicator}\n\n" + table["answer"] + "\n\n"
    return joined.assign(answer=joined["answer"].str.strip())


def _scheme(indicator: str) -> Scheme:
    return Scheme(
        question("quality", name=indicator, columns=[indicator]),
        fields=_QUESTION["indicators"][indicator],
        read=lambda _, answer: {indicator: read_number(answer, "Rating", 1, 5)},
    )
