"""Verdicts on situational judgment tests: kept when every annotator names the agree action."""

from collections.abc import Sequence

import pandas as pd

from ...inference.errors import AnnotationError
from ..inputs import whole
from ..resampling import check_resampling
from .frames import read_columns, read_named
from .proportions import share
from .validation_prompt import read_choice

RATE = ("scenarios", "rejected", "rate", "low", "high")
"""What is said of a set of scenarios."""


def validate_situations(
    sheet: pd.DataFrame, answers: "pd.DataFrame | Sequence[pd.DataFrame]", *, annotators: int = 3
) -> pd.DataFrame:
    """Keep the scenarios whose annotators all name the action that is meant to agree.

    Parameters
    ----------
    sheet : DataFrame
        What `validation_sheet` returns.
    answers : DataFrame or sequence of DataFrame
        Of people and models alike: ``scenario`` (a column or the index), ``annotator`` and
        ``answer``, which is A, B or N/A. Read a file of people's answers with
        ``keep_default_na=False``, for pandas takes N/A for a gap.
    annotators : int, default 3
        How many answers a scenario needs to be kept; one that has more needs all of them.

    Returns
    -------
    DataFrame
        Indexed by ``scenario``, all of the sheet: how many said ``agree``, ``oppose`` and
        ``not_applicable``, and the ``verdict``: ``kept``, ``rejected``, or ``open`` where nobody
        objects yet but answers are missing.

    Raises
    ------
    AnnotationError
        When an answer is none, is there twice or is about a scenario that is not in the sheet.

    References
    ----------
    Dispositions paper, section 3.2 and Appendix B: unanimity of three annotators.

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
    needed = whole("annotators", annotators)
    meant = read_named(sheet, "scenario", ("supports",))["supports"]
    said = _read_answers(answers, meant)
    kinds = pd.Series("oppose", said.index).mask(said["answer"] == "N/A", "not_applicable")
    kinds = kinds.mask(said["answer"] == said["scenario"].map(meant), "agree")
    counts = pd.crosstab(said["scenario"], kinds)
    columns = ["agree", "oppose", "not_applicable"]
    counts = counts.reindex(index=meant.index, columns=columns, fill_value=0).rename_axis(
        columns=None
    )
    objects = counts["oppose"] + counts["not_applicable"] > 0
    verdict = pd.Series("open", meant.index, dtype="str")
    verdict = verdict.mask(counts["agree"] >= needed, "kept").mask(objects, "rejected")
    return counts.assign(verdict=verdict)


def rejection_rate(verdicts: pd.DataFrame, *, prob: float = 0.9) -> pd.Series:
    """Say how many scenarios were rejected, with Wilson's interval.

    Parameters
    ----------
    verdicts : DataFrame
        What `validate_situations` returns. Open ones do not count.
    prob : float, default 0.9
        Of the interval.

    Returns
    -------
    Series
        The number of ``scenarios`` that were kept or ``rejected``, ``rate``, ``low`` and ``high``.

    Raises
    ------
    AnnotationError
        When `verdicts` or `prob` is not as it should be.

    References
    ----------
    Dispositions paper, Appendix B: 8 % of 2,576.

    Examples
    --------
    >>> verdicts = pd.DataFrame({"verdict": ["kept"] * 23 + ["rejected"] * 2})
    >>> rejection_rate(verdicts).round(3).tolist()
    [25.0, 2.0, 0.08, 0.027, 0.215]
    """
    check_resampling(prob)
    verdict = read_columns(verdicts, "verdicts", ["verdict"])["verdict"]
    rejected, kept = (int((verdict == word).sum()) for word in ("rejected", "kept"))
    total = rejected + kept
    found = (total, rejected, *share(rejected, total, prob))
    return pd.Series(dict(zip(RATE, found, strict=True)))


def _read_answers(
    answers: "pd.DataFrame | Sequence[pd.DataFrame]", meant: "pd.Series[str]"
) -> pd.DataFrame:
    """Join what annotators said, and check it."""
    parts = [answers] if isinstance(answers, pd.DataFrame) else list(answers)
    wanted = ["scenario", "annotator", "answer"]
    tables = [read_columns(_unindexed(part), "answers", wanted)[wanted] for part in parts]
    if not tables:
        raise AnnotationError("no answers; give at least one table of them")
    said = pd.concat(tables, ignore_index=True)
    said["scenario"] = said["scenario"].astype(str)
    for scenario, annotator, answer in said.itertuples(index=False):
        place = f"scenario {scenario!r}, annotator {annotator!r}"
        if scenario not in meant.index:
            raise AnnotationError(f"{place}: the scenario is not in the sheet; drop the answer")
        if not isinstance(answer, str):
            raise AnnotationError(
                f"{place}: there is no answer; drop the row, or read the file with "
                "keep_default_na=False, for pandas takes N/A for a gap"
            )
    said["answer"] = [_choice(*row) for row in said.itertuples(index=False)]
    twice = said[said.duplicated(["scenario", "annotator"])]
    if len(twice):
        scenario, annotator, _ = twice.iloc[0]
        raise AnnotationError(
            f"scenario {scenario!r}, annotator {annotator!r}: there are two answers; give one"
        )
    return said


def _unindexed(part: object) -> object:
    """Make a column of scenarios that are the index."""
    if isinstance(part, pd.DataFrame) and part.index.name == "scenario":
        return part.reset_index()
    return part


def _choice(scenario: str, annotator: object, answer: str) -> str:
    try:
        return read_choice(answer)
    except AnnotationError as error:
        raise AnnotationError(
            f"scenario {scenario!r}, annotator {annotator!r}: the answer {error}"
        ) from error
