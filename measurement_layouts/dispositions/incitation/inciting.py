"""The study of an incited propensity: models asked about items under each system prompt."""

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ...annotation.annotate import USAGE, with_total
from ...annotation.inciting import CHOICE_FORM
from ...annotation.rubric import Rubric
from ...annotation.running import ModelOrName, run
from ...annotation.scheme import Scheme
from ...common.errors import AnnotationError
from ...common.optional import need
from ...common.options import share
from .conditions import (
    JUDGE,
    Levels,
    Models,
    condition_name,
    conditions_of,
    read_levels,
    read_models,
)
from .extraction import JUDGED, NONE, judged_text, read_choice, read_response
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
    texts = {item: choice.text for item, choice in choices.items()}
    replies: dict[str, pd.DataFrame] = {}
    usage = {}
    for model_name, model in named.items():
        batches = {
            condition_name(model_name, level): (_scheme(name, prompt, choices), texts)
            for level, prompt in prompts.items()
        }
        _, of_model = run(batches, model, attempts=attempts, log_dir=log_dir, **options)
        replies |= zip(batches, of_model, strict=True)
        usage[model_name] = pd.concat(of_model)[USAGE].sum()
    answers = _answers(replies, choices)
    judged = pd.DataFrame(columns=["annotation", "reason", *USAGE])
    if judge is not None:
        texts = _judged_texts(answers, choices, checked)
        if texts:
            batch = {JUDGED.name: (JUDGED, texts)}
            _, (judged,) = run(batch, judge, attempts=attempts, log_dir=log_dir)
        usage[JUDGE] = judged[USAGE].sum()
    return Incited(
        name,
        bands,
        conditions_of(named, prompts),
        _settled(answers, judged, choices),
        with_total(usage),
    )


def _scheme(name: str, prompt: str, choices: Mapping[str, Choice]) -> Scheme:
    """Make the scheme of the questions to a model with one prompt."""
    options = {choice.text: choice.options for choice in choices.values()}
    return Scheme(
        question={
            "name": name,
            "kind": "choices",
            "columns": ["response"],
            "words": ["response"],
            "system": prompt,
            "page": "{item}\n\n{form}",
            "form": CHOICE_FORM,
            "again": "This answer cannot be used: {reason}. Answer once more. {form}",
        },
        read=lambda text, answer: read_response(answer, options[text]),
    )


def _answers(replies: Mapping[str, pd.DataFrame], choices: Mapping[str, Choice]) -> pd.DataFrame:
    """Arrange answers, by keys of subject and item, with the options that rules read in them."""
    answers = pd.concat(replies, names=["subject", "item"]).reset_index()
    answers["response"] = answers["annotation"].map(
        lambda annotation: annotation["response"], na_action="ignore"
    )
    answers["response"] = answers["response"].fillna(answers["answer"])
    answers["rules"] = [
        "" if reason else read_choice(response, choices[item].options)
        for item, response, reason in answers[["item", "response", "reason"]].to_numpy()
    ]
    pairs = zip(answers["subject"], answers["item"], strict=True)
    answers.index = pd.Index([json.dumps(pair, ensure_ascii=False) for pair in pairs])
    return answers[["subject", "item", "attempts", "response", "rules", "reason"]]


def _judged_texts(
    answers: pd.DataFrame, choices: Mapping[str, Choice], checked: float
) -> dict[str, str]:
    """Write the answers to which no rule applies, and a share of the others, for the judge."""
    usable = answers[answers["reason"] == ""]
    read = usable.index[usable["rules"] != ""]
    count = math.ceil(checked * len(read) - 1e-9)  # without rounding errors above whole numbers
    also = sorted(read, key=lambda key: hashlib.blake2b(key.encode(), digest_size=8).hexdigest())
    rows = usable[(usable["rules"] == "") | usable.index.isin(also[:count])]
    return {
        str(key): judged_text(choices[row["item"]], row["response"])
        for key, row in rows.T.to_dict().items()
    }


def _settled(
    answers: pd.DataFrame, judged: pd.DataFrame, choices: Mapping[str, Choice]
) -> pd.DataFrame:
    """Decide which option each answer chooses, and whether it is right."""
    annotation, failure = judged["annotation"], judged["reason"].reindex(answers.index)
    option = annotation.map(lambda fields: fields["option"] if fields else "")
    table = answers.assign(judge=option.reindex(answers.index).fillna(""))
    by_rules, open_ = table["rules"] != "", table["reason"] == ""
    chosen = table["rules"].where(by_rules, table["judge"])
    unread = ("the judge gave no usable reply: " + failure).fillna(_UNREAD)
    reason = table["reason"].mask(open_ & (chosen == ""), unread)
    reason = reason.mask(chosen == NONE, _UNDECIDED)
    kept = reason == ""
    right = table["item"].map({name: choice.right for name, choice in choices.items()})
    return table.assign(
        chosen=chosen.where(kept, ""),
        by=pd.Series(JUDGE, table.index).mask(by_rules, "rules").where(kept, ""),
        outcome=(chosen == right).astype("Int64").where(kept),
        reason=reason,
    ).reset_index(drop=True)
