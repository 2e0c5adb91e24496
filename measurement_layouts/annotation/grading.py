"""Open answers graded by language models against a reference, and outcomes where they agree."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError
from .annotate import Annotations, annotated
from .answer import material, read_number
from .inputs import read_columns, read_named
from .running import ModelOrName
from .scheme import Scheme, question

_KEYS = ["subject", "item"]
_TEXTS = ["question", "reference", "answer"]
_SCHEME = Scheme(
    question("grading"),
    read=lambda _, answer: {"score": read_number(answer, "Rating", 1, 5)},
)


def grade(answers: pd.DataFrame, model: ModelOrName, **options: Any) -> Annotations:
    r"""Grade open answers against references from 1 to 5, with a language model.

    Parameters
    ----------
    answers : DataFrame
        One row for each answer: ``subject``, ``item``, ``question``, ``reference`` and ``answer``,
        which may be empty.
    model, **options
        As in `annotate`.

    Returns
    -------
    Annotations
        Annotations whose `ratings` have the column ``score``, from 1 (surely wrong) to 5 (surely
        right), and are indexed by subject and item, joined as ``"subject: item"``.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, a column or a text is missing, a subject answers an item
        twice, an option is out of range, or `log_dir` cannot be used.

    References
    ----------
    General scales paper, section 5.5 and Table 12, which have the scale and the material that a
    grader is shown. The wording is this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> output = ModelOutput.from_content("mock", "It says so.\nRating: 5")
    >>> output.usage = ModelUsage(input_tokens=300, output_tokens=10)
    >>> model = get_model("mockllm/model", custom_outputs=[output])
    >>> row = ["Ann", "capital", "What is the capital of Italy?", "Rome", "Rome, I think."]
    >>> columns = ["subject", "item", "question", "reference", "answer"]
    >>> answers = pd.DataFrame([row], columns=columns)
    >>> grade(answers, model).ratings["score"].to_dict()
    {'Ann: capital': 5}
    """
    table = _answers(answers)
    texts = {str(name): material(**row) for name, row in table[_TEXTS].T.to_dict().items()}
    return annotated(_SCHEME, texts, model, **options)


def settle_grades(
    answers: pd.DataFrame,
    grades: "Mapping[str, Annotations | pd.Series]",
    *,
    settled: "Mapping[tuple[str, str], int] | None" = None,
    whole_items: bool = False,
) -> pd.DataFrame:
    """Turn scores by several graders into outcomes where the graders agree.

    An answer is right if every grader gives it 4 or 5, and wrong if every grader gives it 1 or
    2. All other answers are disputed: they have no outcome until a person has decided about them.

    Parameters
    ----------
    answers : DataFrame
        As in `grade`.
    grades : mapping of str to Annotations or Series
        Scores by each grader: what `grade` returned, or scores from 1 to 5 with the index of
        its `ratings`.
    settled : mapping of (str, str) to int, optional
        A person's decisions, 1 or 0, by subject and item. They replace the graders' scores.
    whole_items : bool, default False
        Whether an item with a disputed answer is left out for all subjects. Items that graders
        find hard to verify add noise for all subjects. If only a single subject's disputed
        answers are left out, these may be its unusual answers, so that its outcomes look
        clearer than they are.

    Returns
    -------
    DataFrame
        One row per answer: ``subject``, ``item``, a score by each grader (NaN if it gave none),
        ``outcome`` (1 or 0; missing if it is disputed), and ``ungraded``, why it is missing:
        ``graders disagree``, ``cannot be told``, ``no score``, or ``its item is disputed``.
        `Evaluation.from_long` reads it.

    Raises
    ------
    AnnotationError
        When there is no grader, a score is not one of 1 to 5, `settled` names an answer that is
        not in `answers` or has another value than 0 and 1, or `answers` cannot be read.

    Notes
    -----
    The published study left out an item for all subjects if the answer of one of its 15 models,
    GPT-4o, was disputed: 12 % of its items. That rule leaves out at most the items that
    `whole_items` leaves out. To apply it, settle the grades of that one subject, and then those
    of the other subjects for the items that have an ``outcome``.

    References
    ----------
    General scales paper, section 5.5.

    Examples
    --------
    >>> names = ["Ann: capital", "Bob: capital"]
    >>> answers = pd.DataFrame({"subject": ["Ann", "Bob"], "item": "capital"}).assign(
    ...     question="What is the capital of Italy?", reference="Rome", answer=["Rome", "Roma?"]
    ... )
    >>> grades = {"one": pd.Series([5, 4], names), "two": pd.Series([4, 2], names)}
    >>> settle_grades(answers, grades)
      subject     item  one  two  outcome          ungraded
    0     Ann  capital    5    4        1
    1     Bob  capital    4    2     <NA>  graders disagree
    >>> settle_grades(answers, grades, settled={("Bob", "capital"): 1})["outcome"].tolist()
    [1, 1]
    """
    table = _answers(answers)
    if not isinstance(grades, Mapping) or not grades:
        raise AnnotationError("no grades; give a mapping from graders to what grade() returned")
    scores = pd.DataFrame({name: _scores(name, grader) for name, grader in grades.items()})
    scores = scores.reindex(table.index)
    right, wrong = (scores >= 4).all(axis=1), (scores <= 2).all(axis=1)
    reason = pd.Series("graders disagree", table.index, dtype="str")
    reason[(scores == 3).any(axis=1)] = "cannot be told"
    reason[scores.isna().any(axis=1)] = "no score"
    outcome = right.astype(int).where(right | wrong)
    for answer, decision in (settled or {}).items():
        name = ": ".join(map(str, answer))
        if name not in table.index or decision not in (0, 1):
            raise AnnotationError(
                f"settled: {answer!r} is {decision!r}; give 1 or 0 by subject and item of an answer"
            )
        outcome[name] = decision
    if whole_items:
        disputed = table["item"].isin(table.loc[outcome.isna(), "item"]) & outcome.notna()
        reason[disputed], outcome[disputed] = "its item is disputed", None
    outcome = outcome.astype("Int64")
    table = table[_KEYS].join(scores).assign(outcome=outcome)
    return table.assign(ungraded=reason.where(outcome.isna(), "")).reset_index(drop=True)


def _answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Read answers, indexed by subject and item; an answer may be blank, but not missing."""
    table = read_columns(answers, "answers", [*_KEYS, *_TEXTS]).astype(dict.fromkeys(_KEYS, "str"))
    table.index = pd.Index(table["subject"] + ": " + table["item"])
    if table["answer"].isna().any():
        name = table.index[table["answer"].isna()][0]
        raise AnnotationError(f"the answer {name!r} is missing; give its text, or drop the row")
    return read_named(table, "answer", ("question", "reference")).astype({"answer": "str"})


def _scores(name: str, grader: Annotations | pd.Series) -> pd.Series:
    """Read one grader's scores."""
    scores = grader.ratings["score"] if isinstance(grader, Annotations) else pd.Series(grader)
    for answer, score in scores.dropna().items():
        if score not in range(1, 6):
            raise AnnotationError(
                f"grader {name!r}: the score of {answer!r} is {score!r}; give 1 to 5"
            )
    return scores
