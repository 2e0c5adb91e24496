"""The study of an incited propensity: prompts, questions, reading of options, outcomes."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...annotation.inciting import CHOICE_FORM
from ...annotation.inputs import with_total
from ...annotation.rubric import Rubric
from ...annotation.running import ModelOrName, run
from ...annotation.scheme import Reply, Scheme, spent
from ...common.errors import AnnotationError
from ...common.optional import need
from ...common.options import share
from .conditions import (
    JUDGING,
    Levels,
    Models,
    condition_name,
    conditions_of,
    read_levels,
    read_models,
)
from .extraction import JUDGE, NONE, judged_text, read_choice, read_response
from .incited import Incited
from .items import Choice, read_bands, read_choices

_UNREAD = "no rule reads an option from it, and there is no judge"
_UNDECIDED = "the judge finds no single option in it"


def incite(
    items: pd.DataFrame,
    propensity: str | Path | Rubric,
    models: Models,
    *,
    levels: Levels | None = None,
    judge: ModelOrName | None = None,
    checked: float = 0.1,
    attempts: int = 3,
    log_dir: str | Path | None = None,
    **options: Any,
) -> Incited:
    r"""Incite models to levels of a propensity, ask them about items, and read their choices.

    Each model is asked about every item with the system prompt of each level
    (`annotation.inciting_prompt`), and has to close with a line ``Answer:`` and its option. The
    option is read by rules. An answer that is empty, or chooses two options or one that does not
    exist, is sent back with the reason. An answer in prose, to which no rule applies, is read by
    the judge; without a judge it is dropped. The judge also reads a share of the answers that rules
    have read, so that `Incited.agreement` can measure whether both agree; for these answers the
    option read by rules counts.

    Each model with each prompt is a task of Inspect. If the call is interrupted, finished answers
    remain in its logs. A second call with the same `log_dir` asks only for the other answers, for
    answers that failed, and about items whose text has changed.

    Parameters
    ----------
    items : DataFrame
        Items, indexed by name: ``question``, the options ``A``, ``B`` and so on, ``right`` (the
        letter of the right option), ``low`` and ``high`` (the ends of the band, from
        `annotation.annotate` or `generate_items`). Other columns are properties of the items.
    propensity : str, Path or Rubric
        One of ``annotation.RUBRICS``, for its shipped prompts; or an `annotation.Rubric` or
        the file of one, for prompts made from it.
    models : str, Model, iterable of str, or mapping
        Models to incite: a name such as ``"openai/gpt-4.1"``, a model that inspect-ai's `get_model`
        returns, several names, or a mapping from names of your choice to models. A model with
        connections to a network can be used in one role only; if the judge is also a subject, give
        names.
    levels : iterable of int or None, or mapping, optional
        Levels to incite to; None means no system prompt (default: all levels of the rubric and
        None, as in the published study). A mapping gives the system prompt of each level.
    judge : str or Model, optional
        Model that reads the answers to which no rule applies. `options` do not apply to it; to
        set others, give a model that `get_model` returns.
    checked : float, default 0.1
        Share in [0, 1] of the answers read by rules that the judge also reads; they are chosen by a
        hash of their names.
    attempts, log_dir, **options
        As in `annotation.annotate`; options apply to the models.

    Returns
    -------
    Incited
        Outcomes by condition as an `Evaluation`, answers that were kept or dropped, agreement
        between rules and judge, and usage.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, an item is incomplete, the propensity has no such level,
        two models have the same name, an option is out of range, or `log_dir` cannot be used.

    Notes
    -----
    The function has been tried with mock models only: how far the prompts move real models, and how
    often rules can read their answers, is not known.

    References
    ----------
    Propensities paper, section 4.3, Table 8 and Appendix F. There a model reads every answer; here
    rules are applied first.

    Examples
    --------
    A model that takes the safer option if it is told to:

    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> def reply(messages, tools, choice, config):
    ...     safe = "dislike risk" in messages[0].text
    ...     output = ModelOutput.from_content("mock", f"Answer: {'A' if safe else 'B'}")
    ...     output.usage = ModelUsage(input_tokens=90, output_tokens=3)
    ...     return output
    >>> model = get_model("mockllm/model", custom_outputs=reply)
    >>> columns = ["question", "A", "B", "right", "low", "high"]
    >>> items = pd.DataFrame([["Which?", "9 surely", "a coin for 20", "B", -3, 0]], ["i"], columns)
    >>> said = incite(items, "risk_aversion", {"mock": model}, levels=[0, 2])
    >>> said.evaluation.success_rates().to_dict()
    {'mock 0': 1.0, 'mock +2': 0.0}
    >>> said.counts[["items", "kept", "dropped", "asked_again"]]
             items  kept  dropped  asked_again
    subject
    mock 0       1     1        0            0
    mock +2      1     1        0            0
    all          2     2        0            0
    """
    choices, bands = read_choices(items), read_bands(items)
    name, prompts = read_levels(propensity, levels)
    named = read_models(models)
    checked = share("checked", checked, AnnotationError)
    get_model = need("inspect_ai.model", "inspect-ai").get_model
    for model in [*named.values(), *[judge] * (judge is not None)]:
        get_model(model, memoize=False)  # a wrong name raises an error before any question is asked
    conditions = conditions_of(named, prompts)
    texts = {item: choice.text for item, choice in choices.items()}
    replies: dict[str, list[Reply]] = {}
    for model_name, model in named.items():
        batches = {
            condition_name(model_name, level): (_scheme(name, prompt, choices), texts)
            for level, prompt in prompts.items()
        }
        _, of_model = run(batches, model, attempts=attempts, log_dir=log_dir, **options)
        replies |= zip(batches, of_model, strict=True)
    answers = _answers(replies, choices)
    judged = {}
    if judge is not None:
        judged = _judge(answers, choices, judge, checked, attempts=attempts, log_dir=log_dir)
    asked: dict[str, list[Reply]] = {model_name: [] for model_name in named}
    for subject, model_name in conditions["model"].items():
        asked[model_name] += replies[str(subject)]
    asked |= {JUDGING: list(judged.values())} if judge is not None else {}
    usage = with_total({who: spent(of_model) for who, of_model in asked.items()})
    return Incited(name, bands, conditions, _settled(answers, judged, choices), usage)


def _ceil(count: float) -> int:
    """Round up, except for rounding errors above a whole number."""
    return math.ceil(count - 1e-9)


def _scheme(name: str, prompt: str, choices: Mapping[str, Choice]) -> Scheme:
    """Make the scheme of the questions to a model with one prompt."""
    options = {choice.text: choice.options for choice in choices.values()}
    return Scheme(
        name=name,
        kind="choices",
        columns=("response",),
        words=("response",),
        system=prompt,
        page="{item}\n\n{form}",
        form=CHOICE_FORM,
        correction="This answer cannot be used: {reason}. Answer once more. {form}",
        read=lambda text, answer: read_response(answer, options[text]),
    )


def _answers(
    replies: Mapping[str, Sequence[Reply]], choices: Mapping[str, Choice]
) -> list[dict[str, Any]]:
    """Arrange answers with the options that rules read in them."""
    return [
        {
            "subject": subject,
            "item": reply.item,
            "attempts": reply.attempts,
            "response": reply.annotation.get("response", reply.answer),
            "rules": read_choice(str(reply.annotation["response"]), choices[reply.item].options)
            if reply.good
            else "",
            "reason": reply.reason,
        }
        for subject, of_subject in replies.items()
        for reply in of_subject
    ]


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row["subject"], row["item"]], ensure_ascii=False)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _judge(
    answers: Sequence[Mapping[str, Any]],
    choices: Mapping[str, Choice],
    judge: ModelOrName,
    checked: float,
    **options: Any,
) -> dict[str, Reply]:
    """Read with the judge the answers to which no rule applies, and a share of the others."""
    read = [_key(row) for row in answers if row["rules"]]
    also = set(sorted(read, key=_digest)[: _ceil(checked * len(read))])
    texts = {}
    for row in answers:
        key = _key(row)
        if not row["reason"] and (not row["rules"] or key in also):
            texts[key] = judged_text(choices[row["item"]], row["response"])
    if not texts:
        return {}
    _, (replies,) = run({JUDGE.name: (JUDGE, texts)}, judge, **options)
    return {reply.item: reply for reply in replies}


def _settled(
    answers: Sequence[Mapping[str, Any]],
    judged: Mapping[str, Reply],
    choices: Mapping[str, Choice],
) -> pd.DataFrame:
    """Decide which option each answer chooses, and whether it is right."""
    rows = []
    for row in answers:
        reply = judged.get(_key(row))
        said = str(reply.annotation.get("option", "")) if reply else ""
        chosen, by = (row["rules"], "rules") if row["rules"] else (said, JUDGING)
        reason = row["reason"]
        if not reason and not chosen:
            reason = f"the judge gave no usable reply: {reply.reason}" if reply else _UNREAD
        if chosen == NONE:
            reason = _UNDECIDED
        kept = not reason
        right = choices[row["item"]].right
        rows.append(
            {
                **row,
                "judge": said,
                "chosen": chosen if kept else "",
                "by": by if kept else "",
                "outcome": int(chosen == right) if kept else None,
                "reason": reason,
            }
        )
    return pd.DataFrame(rows).astype({"outcome": "Int64"})
