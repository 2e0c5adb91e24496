"""Votes from the sheets that people filled in, without those of people who read no questions."""

from dataclasses import dataclass

import pandas as pd

from ..common.errors import DataError
from ..common.messages import quoted, some
from ..common.options import whole
from ..evaluations.logs.files import Paths, given
from ..evaluations.tables import need_columns
from . import json_lines
from .vote_sheet import attention_checks, read_checks

_LINE = ("scenario", "rater", "vote")
_KEPT = (*_LINE, "stance", "place", "first", "seed")


@dataclass(frozen=True, eq=False)
class CollectedVotes:
    """What people said on their sheets.

    Attributes
    ----------
    votes : DataFrame
        A row per vote on a scenario, of raters who passed: ``scenario``, ``rater``, ``vote``; where
        the sheets were graded ``stance``; ``place`` among the questions, the action that came
        ``first`` and the ``seed`` of the order. `SituationalJudgments.from_long` takes it.
    raters : DataFrame
        Those who passed, indexed by ``rater``: a column for each question that they were asked
        about themselves, missing where they gave no answer.
    failed : DataFrame
        A row per check that was answered otherwise, of all raters: ``rater``, ``check``,
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
    r"""Read the files that people saved from `vote_sheet`; leave out people who fail its checks.

    Parameters
    ----------
    files : str, Path or iterable of those
        Files of JSON lines, or folders whose files ``*.jsonl`` are read. A person may have saved
        twice: lines that say the same count once.
    checks : DataFrame, optional
        The attention checks of the sheets, as they were given to `vote_sheet`.
    tolerated : int, default 0
        How many checks a rater may fail before all votes of the rater are left out.

    Returns
    -------
    CollectedVotes
        Votes and raters for `SituationalJudgments.from_long`, and who failed which check.

    Raises
    ------
    DataError
        When a file cannot be read or lacks a field, a rater says two things on one scenario, or
        nobody passed.
    AnnotationError
        When the checks are not as they should be.
    FitError
        When `tolerated` is no whole number.

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
            f"{some(excluded) or 'nobody'}; look at the checks, or raise tolerated="
        )
    kept = [name for name in _KEPT if name in votes.columns]
    return CollectedVotes(votes[kept], _raters(votes), failed, excluded)


def _read(files: Paths) -> list[pd.DataFrame]:
    """Read each file; its name goes along."""
    paths = []
    for path in given(files):
        inside = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise DataError(f"{path}: no file *.jsonl in this folder; give the files of the raters")
        paths += inside
    tables = []
    for path in paths:
        table = json_lines.read(path)
        need_columns(table.columns, _LINE, f"{path.name} has")
        for column in _LINE:
            for line, cell in zip(table.index, table[column].tolist(), strict=True):
                if not isinstance(cell, str) or not cell.strip():
                    raise DataError(
                        f"{path.name}, line {line}: {column} is {cell!r}; give the file as the "
                        "page saved it"
                    )
        tables.append(table.assign(file=path.name))
    return tables


def _once(lines: pd.DataFrame) -> pd.DataFrame:
    """Keep one line per rater and scenario; two that differ are refused."""
    keys = ["rater", "scenario"]
    said = [name for name in ("vote", "stance") if name in lines.columns]
    differ = lines[~lines.duplicated([*keys, *said])]
    if (twice := differ.duplicated(keys)).any():
        row = differ[twice].iloc[0]
        same = (lines["rater"] == row["rater"]) & (lines["scenario"] == row["scenario"])
        raise DataError(
            f"rater {quoted(row['rater'])} says two things on {quoted(row['scenario'])}, in "
            f"{some(lines['file'][same].unique())}; keep the file that was saved last, or tell "
            "two people of one name apart"
        )
    return lines.drop_duplicates(keys)


def _raters(votes: pd.DataFrame) -> pd.DataFrame:
    """Collect what raters said of themselves; the last line that says it holds."""
    known: dict[str, dict[str, object]] = {str(name): {} for name in votes["rater"].unique()}
    if "about" in votes.columns:
        for rater, about in zip(votes["rater"], votes["about"], strict=True):
            if isinstance(about, dict):
                known[str(rater)] |= about
    return pd.DataFrame(list(known.values()), pd.Index(list(known), name="rater"))
