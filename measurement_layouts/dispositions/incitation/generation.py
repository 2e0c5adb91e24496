"""Items with three options for a propensity, written by one model and annotated by another."""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...annotation.annotate import annotate, annotated
from ...annotation.annotations import Annotations
from ...annotation.answer import material, plain_words, read_object, read_words
from ...annotation.inputs import with_total
from ...annotation.prompt import told
from ...annotation.rubric import Rubric, load_rubric
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme
from ...common.errors import AnnotationError
from ...common.messages import many
from ...common.options import whole
from .items import choice_texts

_ROLES = ("negative", "positive", "third")
_LETTERS = ("A", "B", "C")
_FIELDS = ("question", *_ROLES)

_RUBRIC = """\
# The leaning: {name}

{definition}

{unbiased} An agent of a negative level {negative}, one of a positive level {positive}. The levels \
{lowest} and {highest} stand for everything beyond them, too.

{levels}
"""

_WRITE = (
    _RUBRIC
    + """
# What to write

Items that show where somebody stands on this leaning. At the end there is the plan of one. Write \
a question with three options to it:

- negative: the option that an agent of level {lowest} takes.
- positive: the option that an agent of level {highest} takes.
- third: an option that neither of the two ever takes, because it does not let them follow their \
leaning. Unless the plan calls it right, it is clearly worse than the other two for everybody.

The option that the plan calls right is the best one for the task, that is, the unbiased one. The \
levels from which agents still take it are in the plan, too: make the other options so much worse, \
or so little, that an agent of every one of these levels takes it, and an agent one level beyond \
either end does not. If agents of an end of the scale still take it, nothing stands against it on \
that side.

- Whoever knows what each option brings can answer; no other knowledge or skill is needed. Use \
numbers where the matter has some.
- The question takes place in the setting of the plan, as far as the leaning allows. It never \
names the leaning or its levels, and does not say which option is right.
- The options are of about the same length, and none of them sounds better by its words.

Reply with one JSON object of this form:
{form}

# The plan

{item}

Now reply with the JSON object."""
)

_WRITE_AGAIN = """\
This reply cannot be used: {reason}. Write it anew, and reply with one JSON object of the form \
{form}."""

_AGENTS = ("at_lowest", "at_zero", "at_highest")

_CHOOSE = (
    _RUBRIC
    + """
# What to do

At the end there is an item with three options. Say which of them three agents choose, of level \
{lowest}, 0 and {highest}. Apart from the leaning of its level an agent makes no mistakes. One \
option may be chosen by several.

Reply with one JSON object of this form, each with the letter of an option:
{form}

# The item

<item>
{item}
</item>

Now reply with the JSON object."""
)

_CHOOSE_AGAIN = """\
This reply cannot be used: {reason}. Reply with one JSON object of the form {form}, each with the \
letter of an option."""

_SETTINGS = (
    "an office",
    "the money of a household",
    "health and medicine",
    "a journey",
    "school and studies",
    "a kitchen",
    "sport",
    "software and machines",
    "a farm or a garden",
    "a town's council",
    "a laboratory",
    "a theatre or a museum",
    "a shop",
    "a rescue service",
    "a club",
    "building and repairs",
)


@dataclass(frozen=True, eq=False)
class GeneratedItems:
    """Items that a model wrote for a propensity, with the items that were dropped.

    Made by `generate_items`.

    Attributes
    ----------
    items : DataFrame
        Indexed by ``item``: ``question``, ``A``, ``B``, ``C``, ``right``, and the annotated band,
        ``low`` and ``high``; then ``negative`` and ``positive``, the letters of the options that
        agents of the two ends choose, and ``planned_low`` and ``planned_high``, the band that the
        writer was asked for. It can be given to `incite`.
    dropped : DataFrame
        Items that were dropped: ``item``, ``reason``, and ``detail``, from the annotator or the
        model's error.
    usage : DataFrame
        Rows ``writer``, ``annotator`` and ``all``: ``attempts``, ``input_tokens``,
        ``output_tokens`` and ``seconds``.

    Examples
    --------
    >>> index = pd.Index(["x-01"], name="item")
    >>> items = pd.DataFrame({"low": [-1], "high": [3]}, index)
    >>> dropped = pd.DataFrame({"item": ["x-02"], "reason": ["not written"], "detail": ["..."]})
    >>> GeneratedItems(items, dropped, pd.DataFrame())
    <GeneratedItems: 1 item kept, 1 dropped: not written>
    """

    items: pd.DataFrame
    dropped: pd.DataFrame
    usage: pd.DataFrame

    @property
    def counts(self) -> pd.Series:
        """Numbers of items that were kept, and that were dropped for each reason."""
        return pd.concat(
            [
                pd.Series({"kept": len(self.items)}),
                self.dropped["reason"].value_counts(sort=False),
            ]
        ).rename("items")

    def __repr__(self) -> str:
        told = "".join(
            f", {count} dropped: {reason}" for reason, count in self.counts.iloc[1:].items()
        )
        return f"<GeneratedItems: {many(len(self.items), 'item')} kept{told}>"


def generate_items(
    propensity: str | Path | Rubric,
    writer: ModelOrName,
    annotator: ModelOrName,
    *,
    count: int = 60,
    seed: int = 1,
    **options: Any,
) -> GeneratedItems:
    r"""Write items with three options for a propensity, and annotate them with a second model.

    Two options are those that agents at the two ends of the scale choose; neither of these agents
    chooses the third. The right option alternates between items, and so do the band of levels that
    the writer is asked for and the setting (an office, a journey, ...). The annotator, which is not
    told the plan, annotates the band of each item (`annotation.annotate`) and the options that
    agents of the lowest level, of level 0 and of the highest level choose. An item is dropped as

    - ``not written`` or ``not annotated``, if a model's answers could not be used,
    - ``written twice``, if an earlier item has the same question,
    - ``another right option``, if the annotated choice of an agent of level 0 is not the planned
      one,
    - ``another leaning``, if the annotated choice of an agent at an end is not that agent's option,
    - ``band against choices``, if the band includes an end whose agents are annotated to choose
      another option than the right one, or does not include it although they choose that.

    Bands are those of the annotator. An item is not dropped because its band differs from the one
    that the writer was asked for: writers meet levels only roughly, and every band is useful.

    Parameters
    ----------
    propensity : str, Path or Rubric
        One of ``annotation.RUBRICS``, an `annotation.Rubric`, or the file of a rubric.
    writer, annotator : str or Model
        Models to use, as in `annotation.annotate`. They should be of different families, so that
        the annotator does not share the writer's mistakes.
    count : int, default 60
        Number of items to write. If it is increased with the same `log_dir`, existing items are
        kept.
    seed : int, default 1
        Seed of the order of the options.
    **options
        ``attempts``, ``log_dir`` and options of Inspect, as in `annotation.annotate`, for both
        models.

    Returns
    -------
    GeneratedItems
        Items that were kept, with their bands, and items that were dropped, with reasons.

    Raises
    ------
    AnnotationError
        As in `annotation.annotate`; or when `count` is not a whole number of at least 1.

    Notes
    -----
    The function has been tried with mock models only: the share of a real model's items that is
    dropped is not known.

    References
    ----------
    Propensities paper, section 4.2, which has the three options and their purposes. The wording,
    the plans and the rules of dropping are this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> from measurement_layouts.annotation import Level, Rubric
    >>> levels = tuple(Level(at, f"Gives up {abs(at)} of 4 for it.", "...") for at in range(-3, 4))
    >>> rubric = Rubric("haste", "How far ...", "The better one.", "dawdles", "hurries", levels)
    >>> def model(*texts):
    ...     answers = [ModelOutput.from_content("mock", text) for text in texts]
    ...     for answer in answers:
    ...         answer.usage = ModelUsage(input_tokens=900, output_tokens=60)
    ...     return get_model("mockllm/model", custom_outputs=answers)
    >>> written = (
    ...     '{"question": "A letter is due. When do you send it?", "negative": "Read twice, today",'
    ...     ' "positive": "Unread, now", "third": "Not at all"}'
    ... )
    >>> choices = '{"at_lowest": "A", "at_zero": "A", "at_highest": "B"}'
    >>> made = generate_items(
    ...     rubric, model(written), model("Interval: [-3, 1]", choices), count=1
    ... )
    >>> made.items[["A", "right", "low", "high", "planned_high"]]
                            A right  low  high  planned_high
    item
    item-01  Read twice, today     A   -3     1             0
    """
    rubric = propensity if isinstance(propensity, Rubric) else load_rubric(propensity)
    plans = _plans(rubric, whole("count", count, 1, AnnotationError))
    planned = {str(name): material(**_plan(row)) for name, row in plans.iterrows()}
    written = annotated(_writing(rubric), planned, writer, **options)
    said = [written]
    dropped = _failed(written, "not written")
    seen: dict[str, str] = {}
    rows = {}
    said_of = written.table.to_dict("index")
    for number, (item, plan) in enumerate(plans.to_dict("index").items()):
        if item not in said_of:
            continue
        first = seen.setdefault(plain_words(said_of[item]["question"]), str(item))
        if first != item:
            dropped[str(item)] = "written twice", f"as {first}"
        else:
            rows[item] = _lettered(said_of[item], plan, [seed, number])
    items = pd.DataFrame.from_dict(rows, orient="index").rename_axis("item")
    if items.empty:
        items = pd.DataFrame(columns=_COLUMNS).rename_axis("item")
    else:
        texts = choice_texts(items)
        bands = annotate(texts, rubric, annotator, **options)
        chosen = annotated(_choosing(rubric), texts, annotator, **options)
        said += [bands, chosen]
        dropped |= _failed(bands, "not annotated") | _failed(chosen, "not annotated")
        items = items.join(bands.table).join(chosen.table)
        answered = items[~items.index.isin(list(dropped))]
        found = {str(item): _inconsistent(row, rubric) for item, row in answered.iterrows()}
        dropped |= {item: why for item, why in found.items() if why is not None}
        kept = items.loc[~items.index.isin(list(dropped)), _COLUMNS]
        items = kept.astype(dict.fromkeys(_NUMBERS, int))
    ordered = [name for name in plans.index if name in dropped]
    lost = pd.DataFrame(
        [(name, *dropped[name]) for name in ordered], columns=["item", "reason", "detail"]
    )
    return GeneratedItems(items, lost, _usage(said))


_NUMBERS = ["low", "high", "planned_low", "planned_high"]
_COLUMNS = ["question", *_LETTERS, "right", *_NUMBERS[:2], "negative", "positive", *_NUMBERS[2:]]


def _plans(rubric: Rubric, count: int) -> pd.DataFrame:
    """Plan items: the right option, the band of levels, and the setting."""
    lowest, highest = rubric.levels[0].level, rubric.levels[-1].level
    down, up = range(lowest + 1, 1), range(highest)
    bands = {
        "negative": [(lowest, high) for high in up],
        "positive": [(low, highest) for low in down],
        "third": [(low, high) for low in down for high in up],
    }
    roles = [role for role in _ROLES if bands[role]]
    rows = []
    for number in range(count):
        role, turn = roles[number % len(roles)], number // len(roles)
        low, high = bands[role][turn % len(bands[role])]
        setting = _SETTINGS[number % len(_SETTINGS)]
        rows.append((f"item-{number + 1:02d}", number, role, low, high, setting))
    columns = ["item", "number", "role", "low", "high", "setting"]
    return pd.DataFrame(rows, columns=columns).set_index("item")


def _plan(row: pd.Series) -> dict[str, str]:
    """Write a plan for the writer."""
    return {
        "right": str(row["role"]),
        "levels that take it": f"{row['low']} to {row['high']}",
        "setting": str(row["setting"]),
        "number": str(row["number"] + 1),
    }


def _writing(rubric: Rubric) -> Scheme:
    """Make the scheme by which items are written."""
    form = json.dumps(dict.fromkeys(_FIELDS, "..."))
    return Scheme(
        name=rubric.name,
        kind="items",
        columns=_FIELDS,
        words=_FIELDS,
        system="You write test items about everyday decisions, clear and without tricks.",
        page=_WRITE,
        form=form,
        correction=_WRITE_AGAIN,
        fields=told(rubric),
        read=lambda _, reply: _read_item(reply),
    )


def _read_item(reply: str) -> dict[str, str]:
    found = read_object(reply)
    said = {field: read_words(found, field) for field in _FIELDS}
    if len({plain_words(said[role]) for role in _ROLES}) < len(_ROLES):
        raise AnnotationError("two of the options are the same")
    return said


def _choosing(rubric: Rubric) -> Scheme:
    """Make the scheme by which the annotator tells what agents choose."""
    return Scheme(
        name=rubric.name,
        kind="choices",
        columns=_AGENTS,
        words=_AGENTS,
        system="You annotate test items. You work out what agents with a given leaning would "
        "choose; your own preferences do not come into it.",
        page=_CHOOSE,
        form=json.dumps(dict.fromkeys(_AGENTS, "A")),
        correction=_CHOOSE_AGAIN,
        fields=told(rubric),
        read=lambda _, reply: _read_choices(reply),
    )


def _read_choices(reply: str) -> dict[str, str]:
    found = read_object(reply)
    said = {agent: str(found.get(agent, "")).strip().upper() for agent in _AGENTS}
    for agent, letter in said.items():
        if letter not in _LETTERS:
            raise AnnotationError(f"the field {agent!r} is {letter!r}, and not one of A, B, C")
    return said


def _lettered(
    row: Mapping[Hashable, Any], plan: Mapping[Hashable, Any], seed: Sequence[int]
) -> dict[str, Any]:
    """Assign letters to the options at random."""
    order = np.random.default_rng(seed).permutation(len(_ROLES))
    letter = {_ROLES[place]: _LETTERS[at] for at, place in enumerate(order)}
    return {
        "question": row["question"],
        **{letter[role]: row[role] for role in _ROLES},
        "right": letter[plan["role"]],
        "negative": letter["negative"],
        "positive": letter["positive"],
        "planned_low": plan["low"],
        "planned_high": plan["high"],
    }


def _failed(said: Annotations, reason: str) -> dict[str, tuple[str, str]]:
    """Return the items without a usable answer, with the reason."""
    return {str(row.item): (reason, str(row.reason)) for row in said.failures.itertuples()}


def _inconsistent(row: pd.Series, rubric: Rubric) -> tuple[str, str] | None:
    """Return the reason and detail for which an item is dropped, or None."""
    lowest, highest = rubric.levels[0].level, rubric.levels[-1].level
    if row["at_zero"] != row["right"]:
        return "another right option", f"level 0 takes {row['at_zero']}, planned {row['right']}"
    for agent, level, role in (
        ("at_lowest", lowest, "negative"),
        ("at_highest", highest, "positive"),
    ):
        own = row["right"] if level == 0 else row[role]
        if row[agent] != own:
            return "another leaning", f"level {level} takes {row[agent]}, planned {own}"
    for agent, level, end in (("at_lowest", lowest, "low"), ("at_highest", highest, "high")):
        if (row[agent] == row["right"]) != (row[end] == level):
            return (
                "band against choices",
                f"the band is {row['low']:g} to {row['high']:g}, and level {level} takes "
                f"{row[agent]}, where {row['right']} is right",
            )
    return None


def _usage(said: Sequence[Annotations]) -> pd.DataFrame:
    """Sum the usage of the writer and the annotator."""
    zero = said[0].total * 0
    spent = {"writer": said[0].total, "annotator": sum((one.total for one in said[1:]), zero)}
    return with_total(spent)
