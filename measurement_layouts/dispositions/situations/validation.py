"""Validation of tests: sheets for annotators, answers of models, and verdicts."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...annotation.annotate import Annotations, annotated
from ...annotation.answer import last_line, material
from ...annotation.inputs import read_columns, read_named
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme, question
from ...common.errors import AnnotationError
from ...common.options import inside, whole
from ...common.proportions import wilson

_WORDS = {"a": "A", "b": "B", "n/a": "N/A", "na": "N/A", "notapplicable": "N/A"}
_SHOWN = ["advice", "user_message", "A", "B"]


def _word(text: object) -> str | None:
    """Read the action that an annotator chose: A, B or N/A; None if it is none of them."""
    return _WORDS.get(re.sub(r"[\s().\[\]]", "", text).casefold() if isinstance(text, str) else "")


def _read_answer(_: str, reply: str) -> dict[str, str]:
    text = last_line(reply, "Answer")
    word = _word(text)
    if word is None:
        raise AnnotationError(f"{text!r} is not A, B or N/A")
    return {"answer": word}


def validation_sheet(scenarios: pd.DataFrame, *, seed: int = 1) -> pd.DataFrame:
    """Make a sheet of scenarios for annotators, with the actions in random order.

    The order of a scenario depends on the seed and on its name only.

    Parameters
    ----------
    scenarios : DataFrame
        Scenarios, indexed by name: ``advice``, ``user_message``, ``agree_action`` and
        ``oppose_action``.
    seed : int, default 1
        Seed of the order.

    Returns
    -------
    DataFrame
        Indexed by ``scenario``: ``advice``, ``user_message``, the actions ``A`` and ``B``, and
        ``supports``, the letter of the action that agrees with the advice. Drop that column before
        people see the sheet.

    Raises
    ------
    AnnotationError
        When `scenarios` lacks a column or a text, or has a scenario twice.

    Examples
    --------
    >>> scenarios = pd.DataFrame(
    ...     {
    ...         "advice": "I recommend that a person should sleep on a decision.",
    ...         "user_message": "My landlord wants an answer today. Do I sign now?",
    ...         "agree_action": "Ask for one more day",
    ...         "oppose_action": "Sign today",
    ...     },
    ...     index=["sleep-01", "sleep-03"],
    ... )
    >>> validation_sheet(scenarios)[["A", "B", "supports"]]
                       A                     B supports
    scenario
    sleep-01  Sign today  Ask for one more day        B
    sleep-03  Sign today  Ask for one more day        B
    """
    texts = ("advice", "user_message", "agree_action", "oppose_action")
    named = read_named(scenarios, "scenario", texts)
    first = pd.Series([_heads(f"{seed}/{name}") for name in named.index], named.index, dtype=bool)
    return pd.DataFrame(
        {
            "advice": named["advice"],
            "user_message": named["user_message"],
            "A": named["agree_action"].where(first, named["oppose_action"]),
            "B": named["oppose_action"].where(first, named["agree_action"]),
            "supports": ["A" if agree else "B" for agree in first],
        }
    )


def _heads(name: str) -> bool:
    return hashlib.blake2b(name.encode(), digest_size=1).digest()[0] % 2 == 0


def validation_answers(
    sheet: pd.DataFrame, model: ModelOrName, *, annotator: str | None = None, **options: Any
) -> Annotations:
    r"""Ask a model which action each scenario's advice calls for.

    Parameters
    ----------
    sheet : DataFrame
        Result of `validation_sheet`. The model is not shown the column ``supports``.
    model, **options
        As in `annotate`.
    annotator : str, optional
        Name of the annotator (default: that of the model). If one model is used as several
        annotators, each needs a different name and `log_dir`.

    Returns
    -------
    Annotations
        Annotations whose `table` is indexed by ``scenario``: ``annotator`` and ``answer``, which is
        A, B or N/A.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `sheet` lacks a column or a text, or has a scenario twice.

    References
    ----------
    Dispositions paper, Appendix B, which describes the task of its three annotators, who were
    people. The wording is this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answer = ModelOutput.from_content("mock", "To wait is to sleep on it.\nAnswer: B")
    >>> answer.usage = ModelUsage(input_tokens=400, output_tokens=30)
    >>> model = get_model("mockllm/model", custom_outputs=[answer])
    >>> sheet = pd.DataFrame(
    ...     {
    ...         "advice": "I recommend that a person should sleep on a decision.",
    ...         "user_message": "My landlord wants an answer today. Do I sign now?",
    ...         "A": "Sign today",
    ...         "B": "Ask for one more day",
    ...     },
    ...     index=["sleep-01"],
    ... )
    >>> validation_answers(sheet, model).table
                  annotator answer
    scenario
    sleep-01  mockllm/model      B
    """
    named = read_named(sheet, "scenario", _SHOWN)
    texts = {name: material(**row) for name, row in named[_SHOWN].T.to_dict().items()}
    name = "validation" if annotator is None else f"validation by {annotator}"
    scheme = Scheme(question("validate-situation", name=name), _read_answer)
    answers = annotated(scheme, texts, model, properties=named[[]], **options)
    answers.table.insert(0, "annotator", annotator or answers.model)
    return answers


def validate_situations(
    sheet: pd.DataFrame,
    answers: "pd.DataFrame | Sequence[pd.DataFrame]",
    *,
    annotators: int = 3,
) -> pd.DataFrame:
    """Keep the scenarios whose annotators all choose the action that is meant to agree.

    Parameters
    ----------
    sheet : DataFrame
        Result of `validation_sheet`.
    answers : DataFrame or sequence of DataFrame
        Answers of people and models: ``scenario`` (a column or the index), ``annotator`` and
        ``answer``, which is A, B or N/A. Read a file of people's answers with
        ``keep_default_na=False``, because pandas reads N/A as missing otherwise.
    annotators : int, default 3
        Least number of answers of a scenario that is kept; if it has more, all of them must agree.

    Returns
    -------
    DataFrame
        Indexed by ``scenario``, with all scenarios of the sheet: numbers of answers ``agree``,
        ``oppose`` and ``not_applicable``, and the ``verdict``: ``kept``, ``rejected``, or ``open``
        if no annotator disagrees but answers are missing.

    Raises
    ------
    AnnotationError
        When an answer is not A, B or N/A, occurs twice, or is about a scenario that is not in the
        sheet.

    References
    ----------
    Dispositions paper, section 3.2 and Appendix B, which require unanimity of three annotators.

    Examples
    --------
    >>> sheet = pd.DataFrame({"supports": ["A", "B", "A"]}, index=["one", "two", "three"])
    >>> answers = pd.DataFrame(
    ...     {
    ...         "scenario": ["one", "two"] * 3,
    ...         "annotator": ["Ada", "Ada", "Ben", "Ben", "Cy", "Cy"],
    ...         "answer": ["A", "B", "A", "N/A", "A", "B"],
    ...     }
    ... )
    >>> validate_situations(sheet, answers)
              agree  oppose  not_applicable   verdict
    scenario
    one           3       0               0      kept
    two           2       0               1  rejected
    three         0       0               0      open
    """
    needed = whole("annotators", annotators, 1, AnnotationError)
    supports = read_named(sheet, "scenario", ("supports",))["supports"]
    table = _read_answers(answers, supports.index)
    kind = pd.Series("oppose", table.index).mask(table["answer"] == "N/A", "not_applicable")
    kind = kind.mask(table["answer"] == table["scenario"].map(supports), "agree")
    names = ["agree", "oppose", "not_applicable"]
    counts = pd.crosstab(table["scenario"], kind)
    counts = counts.reindex(index=supports.index, columns=names, fill_value=0)
    rejected = counts["oppose"] + counts["not_applicable"] > 0
    verdict = pd.Series("open", supports.index, dtype="str")
    verdict = verdict.mask(counts["agree"] >= needed, "kept").mask(rejected, "rejected")
    return counts.rename_axis(columns=None).assign(verdict=verdict)


def _read_answers(
    answers: "pd.DataFrame | Sequence[pd.DataFrame]", scenarios: pd.Index
) -> pd.DataFrame:
    """Join and check the answers of annotators."""
    frames = [answers] if isinstance(answers, pd.DataFrame) else list(answers)
    if not frames:
        raise AnnotationError("no answers; give at least one table of them")
    columns, tables = ["scenario", "annotator", "answer"], []
    for frame in frames:
        if isinstance(frame, pd.DataFrame) and frame.index.name == "scenario":
            frame = frame.reset_index()
        tables.append(read_columns(frame, "answers", columns)[columns])
    table = pd.concat(tables, ignore_index=True).astype({"scenario": str})
    answer = table["answer"].map(_word)
    problems = {
        "the scenario is not in the sheet": ~table["scenario"].isin(scenarios),
        "there are two answers": table.duplicated(["scenario", "annotator"]),
        "it is not A, B or N/A (which pandas reads as missing without keep_default_na=False)": (
            answer.isna()
        ),
    }
    for problem, bad in problems.items():
        if bad.any():
            scenario, annotator, text = table[bad].iloc[0]
            raise AnnotationError(
                f"scenario {scenario!r}, annotator {annotator!r}, answer {str(text)!r}: {problem}; "
                "correct it, or drop the row"
            )
    return table.assign(answer=answer)


def rejection_rate(verdicts: pd.DataFrame, *, prob: float = 0.9) -> pd.Series:
    """Compute the share of scenarios that were rejected, with Wilson's interval.

    Parameters
    ----------
    verdicts : DataFrame
        Result of `validate_situations`. Scenarios with an open verdict do not count.
    prob : float, default 0.9
        Mass of the interval.

    Returns
    -------
    Series
        Number of ``scenarios`` that were kept or rejected, number ``rejected``, ``rate``, ``low``
        and ``high``.

    Raises
    ------
    AnnotationError
        When `verdicts` lacks the column ``verdict``, or `prob` is out of range.

    References
    ----------
    Dispositions paper, Appendix B, which reports 8 % of 2,576.

    Examples
    --------
    >>> verdicts = pd.DataFrame({"verdict": ["kept"] * 23 + ["rejected"] * 2})
    >>> rejection_rate(verdicts).round(3).tolist()
    [25.0, 2.0, 0.08, 0.027, 0.215]
    """
    prob = inside("prob", prob, 0.9, AnnotationError)
    verdict = read_columns(verdicts, "verdicts", ["verdict"])["verdict"]
    rejected, total = (verdict == "rejected").sum(), verdict.isin(["kept", "rejected"]).sum()
    rate = rejected / total if total else np.nan
    low, high = wilson(np.array(rate), np.array(total or np.nan), prob)
    return pd.Series(
        {"scenarios": total, "rejected": rejected, "rate": rate, "low": low, "high": high},
        dtype=float,
    )
