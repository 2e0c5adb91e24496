"""Items with three options for a propensity, written by one model and annotated by another."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...annotation.annotate import Annotations, annotate, annotated, with_total
from ...annotation.answer import material, plain_words, read_object, read_words
from ...annotation.prompt import rubric_fields
from ...annotation.rubric import Rubric, load_rubric
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme, question
from ...common.errors import AnnotationError
from ...common.messages import many
from ...common.options import whole
from .items import choice_texts

_ROLES = ("negative", "positive", "third")
_LETTERS = ("A", "B", "C")
_AGENTS = ("at_lowest", "at_zero", "at_highest")
_NUMBERS = ["low", "high", "planned_low", "planned_high"]
_COLUMNS = ["question", *_LETTERS, "right", *_NUMBERS[:2], "negative", "positive", *_NUMBERS[2:]]


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
        kept = pd.Series({"kept": len(self.items)})
        return pd.concat([kept, self.dropped["reason"].value_counts(sort=False)]).rename("items")

    def __repr__(self) -> str:
        counts = self.counts.iloc[1:].items()
        dropped = "".join(f", {count} dropped: {reason}" for reason, count in counts)
        return f"<GeneratedItems: {many(len(self.items), 'item')} kept{dropped}>"


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
    texts = {name: material(**_plan_text(plan)) for name, plan in plans.items()}
    written = annotated(_writing(rubric), texts, writer, **options)
    dropped = _failures(written, "not written")
    first_of: dict[str, str] = {}  # items by question
    rows = {}
    for name, item in written.table.T.to_dict().items():
        first = first_of.setdefault(plain_words(item["question"]), str(name))
        if first != name:
            dropped[str(name)] = "written twice", f"as {first}"
        else:
            rows[name] = _with_letters(item, plans[str(name)], [seed, plans[str(name)]["number"]])
    items = pd.DataFrame.from_dict(rows, orient="index").rename_axis("item")
    usage = {"writer": written.total, "annotator": written.total * 0}
    if len(items):
        texts_of_items = choice_texts(items)
        bands = annotate(texts_of_items, rubric, annotator, **options)
        choices = annotated(_choosing(rubric), texts_of_items, annotator, **options)
        usage["annotator"] = bands.total + choices.total
        dropped |= _failures(bands, "not annotated") | _failures(choices, "not annotated")
        items = items.join(bands.table).join(choices.table)
        for name, row in items.drop(index=list(dropped), errors="ignore").T.to_dict().items():
            if problem := _inconsistency(row, rubric):
                dropped[str(name)] = problem
    items = items.drop(index=list(dropped), errors="ignore").reindex(columns=_COLUMNS)
    reasons = [(name, *dropped[name]) for name in plans if name in dropped]
    return GeneratedItems(
        items.astype(dict.fromkeys(_NUMBERS, int)),
        pd.DataFrame(reasons, columns=["item", "reason", "detail"]),
        with_total(usage),
    )


def _ends(rubric: Rubric) -> tuple[int, int]:
    return rubric.levels[0].level, rubric.levels[-1].level


def _plans(rubric: Rubric, count: int) -> dict[str, dict[str, Any]]:
    """Plan items: the right option, the band of levels, and the setting."""
    lowest, highest = _ends(rubric)
    down, up = range(lowest + 1, 1), range(highest)
    bands = {
        "negative": [(lowest, high) for high in up],
        "positive": [(low, highest) for low in down],
        "third": [(low, high) for low in down for high in up],
    }
    roles = [role for role in _ROLES if bands[role]]
    settings = question("write-item")["settings"]
    plans = {}
    for number in range(count):
        role = roles[number % len(roles)]
        low, high = bands[role][number // len(roles) % len(bands[role])]
        setting = settings[number % len(settings)]
        plan = {"number": number, "role": role, "low": low, "high": high, "setting": setting}
        plans[f"item-{number + 1:02d}"] = plan
    return plans


def _plan_text(plan: Mapping[str, Any]) -> dict[str, str]:
    """Write a plan for the writer."""
    return {
        "right": plan["role"],
        "levels that take it": f"{plan['low']} to {plan['high']}",
        "setting": plan["setting"],
        "number": str(plan["number"] + 1),
    }


def _writing(rubric: Rubric) -> Scheme:
    return Scheme(question("write-item", name=rubric.name), _read_item, rubric_fields(rubric))


def _read_item(_: str, reply: str) -> dict[str, str]:
    fields = read_object(reply)
    item = {name: read_words(fields, name) for name in ("question", *_ROLES)}
    if len({plain_words(item[role]) for role in _ROLES}) < len(_ROLES):
        raise AnnotationError("two of the options are the same")
    return item


def _choosing(rubric: Rubric) -> Scheme:
    text = question("choose-as-agents", name=rubric.name)
    return Scheme(text, _read_choices, rubric_fields(rubric))


def _read_choices(_: str, reply: str) -> dict[str, str]:
    fields = read_object(reply)
    choices = {agent: str(fields.get(agent, "")).strip().upper() for agent in _AGENTS}
    for agent, letter in choices.items():
        if letter not in _LETTERS:
            raise AnnotationError(f"the field {agent!r} is {letter!r}, and not one of A, B, C")
    return choices


def _with_letters(
    item: Mapping[Hashable, Any], plan: Mapping[str, Any], seed: Sequence[int]
) -> dict[str, Any]:
    """Give the options of an item letters in an order that depends on the seed."""
    order = np.random.default_rng(seed).permutation(len(_ROLES))
    letter = {_ROLES[role]: _LETTERS[position] for position, role in enumerate(order)}
    return {
        "question": item["question"],
        **{letter[role]: item[role] for role in _ROLES},
        "right": letter[plan["role"]],
        "negative": letter["negative"],
        "positive": letter["positive"],
        "planned_low": plan["low"],
        "planned_high": plan["high"],
    }


def _failures(annotations: Annotations, reason: str) -> dict[str, tuple[str, str]]:
    failures = annotations.failures
    return {item: (reason, detail) for item, detail in failures[["item", "reason"]].to_numpy()}


def _inconsistency(item: Mapping[Hashable, Any], rubric: Rubric) -> tuple[str, str] | None:
    """Compare the choices of agents with the plan, and with the band; None if they agree."""
    right, (lowest, highest) = item["right"], _ends(rubric)
    if item["at_zero"] != right:
        return "another right option", f"level 0 takes {item['at_zero']}, planned {right}"
    ends = [("at_lowest", lowest, "negative", "low"), ("at_highest", highest, "positive", "high")]
    for agent, level, role, _ in ends:
        planned = right if level == 0 else item[role]
        if item[agent] != planned:
            return "another leaning", f"level {level} takes {item[agent]}, planned {planned}"
    for agent, level, _, end in ends:
        if (item[agent] == right) != (item[end] == level):
            return (
                "band against choices",
                f"the band is {item['low']:g} to {item['high']:g}, and level {level} takes "
                f"{item[agent]}, where {right} is right",
            )
    return None
