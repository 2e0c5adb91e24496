"""Votes from the sheets that people filled in, without those of people who failed the checks."""

from dataclasses import dataclass

import pandas as pd

from ..common.errors import DataError
from ..common.messages import quoted, some
from ..common.options import whole
from ..evaluations.logs.files import Paths, files_among
from ..evaluations.tables import need_columns
from . import json_lines
from .vote_sheet import attention_checks, read_checks

_LINE = ("scenario", "rater", "vote")
_KEPT = (*_LINE, "stance", "place", "first", "seed")


@dataclass(frozen=True, eq=False)
class CollectedVotes:
    """Answers of people on their sheets.

    Made by `collected_votes`.

    Attributes
    ----------
    votes : DataFrame
        One row per vote on a scenario, of raters who passed the checks: ``scenario``, ``rater``,
        ``vote``; for graded sheets ``stance``; ``place`` among the questions, the action that came
        ``first``, and the ``seed`` of the order. `SituationalJudgments.from_long` reads it.
    raters : DataFrame
        Raters who passed the checks, indexed by ``rater``: one column for each question about
        themselves, missing where they gave no answer.
    failed : DataFrame
        One row per check that was answered wrongly, of all raters: ``rater``, ``check``,
        ``expected`` and ``said``.
    excluded : tuple of str
        Raters whose votes were left out.

    Examples
    --------
    `collected_votes` makes one.
    """

    votes: pd.DataFrame
    raters: pd.DataFrame
    failed: pd.DataFrame
    excluded: tuple[str, ...]


def collected_votes(
    files: Paths, *, checks: pd.DataFrame | None = None, tolerated: int = 0
) -> CollectedVotes:
    r"""Read the files that people saved from `vote_sheet`, without people who fail its checks.

    Parameters
    ----------
    files : str, Path or iterable of those
        Files of JSON lines, or folders whose files ``*.jsonl`` are read. Lines that are the same
        count once, since a person may have saved twice.
    checks : DataFrame, optional
        Attention checks of the sheets, as they were given to `vote_sheet` (default: those of
        `attention_checks`).
    tolerated : int, default 0
        Largest number of failed checks at which the votes of a rater are kept.

    Returns
    -------
    CollectedVotes
        Votes and raters for `SituationalJudgments.from_long`, and the checks that raters failed.

    Raises
    ------
    DataError
        When a file cannot be read or lacks a field, a rater has two different answers to one
        question, or no rater passed the checks.
    AnnotationError
        When the checks lack a column or a text, or name a check twice.
    FitError
        When `tolerated` is not a whole number of at least 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> lines = [
    ...     '{"scenario": "sleep-01", "rater": "Ann", "vote": "agree", "about": {"age": "35+"}}',
    ...     '{"scenario": "check-colour", "rater": "Ann", "vote": "agree"}',
    ...     '{"scenario": "sleep-01", "rater": "Bob", "vote": "oppose"}',
    ...     '{"scenario": "check-colour", "rater": "Bob", "vote": "neutral"}',
    ... ]
    >>> _ = (folder / "votes.jsonl").write_text("\n".join(lines))
    >>> found = collected_votes(folder)
    >>> found.votes.values.tolist(), found.excluded
    ([['sleep-01', 'Ann', 'agree']], ('Bob',))
    >>> found.failed
      rater         check expected     said
    0   Bob  check-colour    agree  neutral
    """
    tolerated = whole("tolerated", tolerated)
    expected = read_checks(attention_checks() if checks is None else checks)["expected"]
    lines = _once(pd.concat(_read(files), ignore_index=True))
    is_check = lines["scenario"].isin(expected.index)
    checked = pd.DataFrame(
        {
            "rater": lines["rater"],
            "check": lines["scenario"],
            "expected": lines["scenario"].map(expected),
            "said": lines["vote"],
        }
    )[is_check]
    failed = checked[checked["expected"] != checked["said"]].reset_index(drop=True)
    times = failed["rater"].value_counts(sort=False)
    excluded = tuple(str(name) for name in times.index[times > tolerated])
    votes = lines[~is_check & ~lines["rater"].isin(excluded)].reset_index(drop=True)
    if votes.empty:
        raise DataError(
            f"no vote is left: {len(excluded)} rater(s) failed more than {tolerated} check(s), "
            f"{some(excluded) or 'none'}; look at the checks, or raise tolerated="
        )
    kept = [name for name in _KEPT if name in votes.columns]
    return CollectedVotes(votes[kept], _raters(votes), failed, excluded)


def _read(files: Paths) -> list[pd.DataFrame]:
    """Read each file, and add its name."""
    lacking = "file *.jsonl; give the files of the raters"
    tables = []
    for path in files_among(files, lambda folder: folder.glob("*.jsonl"), lacking):
        table = json_lines.read(path)
        need_columns(table.columns, _LINE, f"{path.name} has")
        for column in _LINE:
            for line, cell in zip(table.index, table[column].tolist(), strict=True):
                if not isinstance(cell, str) or not cell.strip():
                    raise DataError(
                        f"{path.name}, line {line}: {column} is {cell!r}; give the file that the "
                        "page saved, unchanged"
                    )
        tables.append(table.assign(file=path.name))
    return tables


def _once(lines: pd.DataFrame) -> pd.DataFrame:
    """Keep one line per rater and scenario; refuse two that differ."""
    keys = ["rater", "scenario"]
    said = [name for name in ("vote", "stance") if name in lines.columns]
    differ = lines[~lines.duplicated([*keys, *said])]
    if (twice := differ.duplicated(keys)).any():
        row = differ[twice].iloc[0]
        same = (lines["rater"] == row["rater"]) & (lines["scenario"] == row["scenario"])
        raise DataError(
            f"rater {quoted(row['rater'])} has two different answers to {quoted(row['scenario'])}, "
            f"in {some(lines['file'][same].unique())}; keep the file that was saved last, or give "
            "two people different names"
        )
    return lines.drop_duplicates(keys)


def _raters(votes: pd.DataFrame) -> pd.DataFrame:
    """Collect the answers of raters about themselves, from the last line that has each."""
    known: dict[str, dict[str, object]] = {str(name): {} for name in votes["rater"].unique()}
    if "about" in votes.columns:
        for rater, about in zip(votes["rater"], votes["about"], strict=True):
            if isinstance(about, dict):
                known[str(rater)] |= about
    return pd.DataFrame(list(known.values()), pd.Index(list(known), name="rater"))
