"""Tables of judgments as users give them: checked, counted, and joined."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ..common.errors import DataError
from ..common.given import kind_of
from ..common.messages import some
from ..common.options import whole

VOTES = ("agree", "oppose", "neutral")
CHOICES = ("agree", "oppose", "undecided")
_NOT_APPLICABLE = "n/a"

type Dropped = list[tuple[str, int, str]]
"""Kinds of rows that were left out, their numbers, and the reasons."""


def read(
    tables: Mapping[str, pd.DataFrame | None], least: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Read the tables of `SituationalJudgments.from_long`, and count the rows that are dropped.

    Parameters
    ----------
    tables : mapping of str to DataFrame or None
        The tables ``scenarios``, ``votes``, ``samples``, ``ratings`` and ``raters``; the last three
        may be None.
    least : int
        Least number of decided samples of a pair of model and scenario.

    Returns
    -------
    scenarios, votes, raters, samples, ratings, dropped : DataFrame
        Fields of `SituationalJudgments`.

    Raises
    ------
    DataError
        As in `SituationalJudgments.from_long`.
    """
    least = whole("least", least, 1, DataError)
    for what, table in tables.items():
        if isinstance(table, pd.DataFrame) and not len(table):
            raise DataError(f"{what}: the table has no rows; give at least one, or leave it out")
    dropped: Dropped = []
    scenarios, raters = _scenarios(tables["scenarios"]), tables["raters"]
    known_raters = None if raters is None else _indexed(raters, "raters", "rater")
    votes = _votes(tables["votes"], scenarios, known_raters, dropped)
    voters = pd.DataFrame(index=pd.Index(votes["rater"].unique(), name="rater", dtype="str"))
    if known_raters is not None:
        voters = known_raters[known_raters.index.isin(voters.index)]
        dropped.append(("raters", len(known_raters) - len(voters), "no vote of theirs is left"))
    empty = pd.DataFrame(columns=["model", "scenario", "statement", "rating", *CHOICES])
    raw = {name: empty if table is None else table for name, table in tables.items()}
    samples = _samples(raw["samples"], scenarios, least, dropped)
    ratings = _ratings(raw["ratings"], scenarios)
    kept = scenarios[scenarios.index.isin(votes["scenario"])]
    kept_samples = within(samples, "scenario", kept.index)
    kept_ratings = within(ratings, "statement", kept["statement"])
    dropped += [
        ("scenarios", len(scenarios) - len(kept), "no vote on it is left"),
        ("pairs", len(samples) - len(kept_samples), "no vote on the scenario is left"),
        ("ratings", len(ratings) - len(kept_ratings), "no scenario of the statement is left"),
    ]
    counts = pd.DataFrame([row for row in dropped if row[1]], columns=["what", "count", "reason"])
    counts = counts.astype({"what": "str", "count": "int64", "reason": "str"})
    return kept, votes, voters, kept_samples, kept_ratings, counts


def within(table: pd.DataFrame, level: str, names: Iterable[str]) -> pd.DataFrame:
    """Keep the rows whose name in a level of the index is one of the names."""
    return table[table.index.isin(pd.Index(names), level=level)]


def _scenarios(table: object) -> pd.DataFrame:
    columns = ["trait", "statement", "keyed"]
    raw = _indexed(table, "scenarios", "scenario", columns)
    scenarios = pd.DataFrame({name: _names(raw[name], "scenarios") for name in columns[:2]})
    remedy = (
        "give 1 if agreeing with the statement shows the trait, -1 if opposing it does "
        "(a reverse-scored statement)"
    )
    keyed = _numbers(raw["keyed"], "scenarios", lambda numbers: numbers.abs() == 1, remedy)
    scenarios["keyed"] = keyed.astype("int64")
    for column in ("trait", "keyed"):
        varying = scenarios.groupby("statement")[column].transform("nunique") > 1
        remedy = f"a statement has one {column}: correct it, or give two statements different names"
        _refuse(varying, scenarios[["statement", column]], "scenarios", remedy)
    return scenarios.join(raw.drop(columns=columns))


def _votes(
    table: object, scenarios: pd.DataFrame, raters: pd.DataFrame | None, dropped: Dropped
) -> pd.DataFrame:
    raw = _needed(table, "votes", ["scenario", "rater", "vote"])
    votes = pd.DataFrame({name: _names(raw[name], "votes") for name in ("scenario", "rater")})
    _refuse_unknown(votes["scenario"], scenarios.index, "votes", "scenarios")
    if raters is not None:
        _refuse_unknown(votes["rater"], raters.index, "votes", "raters")
    twice = votes.duplicated(keep=False)
    _refuse(twice, votes, "votes", "keep one vote per scenario and rater")
    words = raw["vote"].where(raw["vote"].notna(), _NOT_APPLICABLE)
    votes["vote"] = _words(words, "votes", (*VOTES, _NOT_APPLICABLE))
    applicable = votes[votes["vote"] != _NOT_APPLICABLE].reset_index(drop=True)
    lost = len(votes) - len(applicable)
    dropped.append(("votes", lost, "the scenario was not applicable for the rater"))
    if applicable.empty:
        raise DataError(
            "votes: none of them is 'agree', 'oppose' or 'neutral'; give at least one that is"
        )
    return applicable


def _samples(table: object, scenarios: pd.DataFrame, least: int, dropped: Dropped) -> pd.DataFrame:
    raw = _needed(table, "samples", ["model", "scenario"])
    pairs = _pairs(raw, "samples", "scenario", scenarios.index)
    if "choice" in raw.columns:
        words = _words(raw["choice"], "samples", CHOICES).to_numpy()
        counts = pd.DataFrame({name: words == name for name in CHOICES}, pairs, dtype="int64")
        counts = counts.groupby(level=pairs.names, sort=False).sum()
    else:
        raw = _needed(table, "samples", CHOICES)
        twice = pd.Series(pairs.duplicated(keep=False), raw.index)
        remedy = "add their counts up, and keep one row"
        _refuse(twice, raw[["model", "scenario"]], "samples", remedy)
        remedy = "give a count: a whole number of at least 0"
        numbers = {name: _numbers(raw[name], "samples", _is_count, remedy) for name in CHOICES}
        counts = pd.DataFrame(numbers).astype("int64").set_axis(pairs)
    few = counts["agree"] + counts["oppose"] < least
    dropped.append(("pairs", int(few.sum()), f"fewer than {least} decided samples"))
    return counts[~few]


def _ratings(table: object, scenarios: pd.DataFrame) -> pd.DataFrame:
    raw = _needed(table, "ratings", ["model", "statement", "rating"])
    pairs = _pairs(raw, "ratings", "statement", scenarios["statement"])
    remedy = "give a number from 1 to 7, or drop those rows"
    rating = _numbers(raw["rating"], "ratings", lambda x: x.between(1, 7), remedy)
    times = raw.get("times", pd.Series(1, raw.index))
    remedy = "give the number of times that the model was asked, at least 1"
    times = _numbers(times, "ratings", lambda x: _is_count(x) & (x > 0), remedy)
    sums = pd.DataFrame({"rating": rating * times, "times": times}).set_axis(pairs)
    sums = sums.groupby(level=pairs.names, sort=False).sum()
    return sums.assign(rating=sums["rating"] / sums["times"]).astype({"times": "int64"})


def _needed(table: object, what: str, columns: Sequence[str]) -> pd.DataFrame:
    """Refuse what is no table, or lacks a column."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"{what}: this is {kind_of(table)}; give a pandas DataFrame")
    if lacking := [name for name in columns if name not in table.columns]:
        raise DataError(
            f"the table of {what} has no column {some(lacking)}; the columns are "
            f"{some(table.columns, 12) or 'none'}; rename one, or add it"
        )
    return table


def _indexed(table: object, what: str, kind: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Index a table by the names in a column, or in an index of that name; each has one row."""
    if isinstance(table, pd.DataFrame) and kind not in table.columns and table.index.name == kind:
        table = table.reset_index()
    raw = _needed(table, what, [kind, *columns])
    names = _names(raw[kind], what)
    _refuse(names.duplicated(keep=False), names, what, f"give each {kind} one row")
    return raw.drop(columns=kind).set_axis(pd.Index(names, name=kind))


def _refuse(
    bad: "pd.Series[bool]", cells: pd.Series | pd.DataFrame, what: str, remedy: str
) -> None:
    """Refuse a table with cells that cannot be used; name their rows."""
    if not bad.any():
        return
    columns = [cells.name] if isinstance(cells, pd.Series) else list(cells.columns)
    label, rows = cells.index.name or "row", cells[bad.to_numpy()]
    shown = [
        f"{label} {row} has {_shown(cell)}"
        for row, cell in zip(rows.index, rows.to_numpy().tolist(), strict=True)
    ]
    name = f"column{'s' * (len(columns) > 1)} {', '.join(map(str, columns))}"
    raise DataError(f"{what}, {name}: {some(shown)}; {remedy}")


def _shown(cell: Any) -> str:
    return "nothing" if pd.api.types.is_scalar(cell) and pd.isna(cell) else repr(cell)


def _refuse_unknown(names: "pd.Series[str]", known: Iterable[str], what: str, source: str) -> None:
    remedy = f"add what is missing to {source}, or drop those rows"
    _refuse(~names.isin(list(known)), names, what, remedy)


def _names(cells: pd.Series, what: str) -> "pd.Series[str]":
    bad = cells.isna() | ~cells.map(pd.api.types.is_scalar)
    _refuse(bad, cells, what, "give a text or a number")
    return cells.map(str).astype("str")


def _words(cells: pd.Series, what: str, words: Sequence[str]) -> "pd.Series[str]":
    lower = cells.map(lambda cell: cell.lower() if isinstance(cell, str) else "").astype("str")
    _refuse(~lower.isin(words), cells, what, f"give one of {', '.join(map(repr, words))}")
    return lower


def _numbers(
    cells: pd.Series,
    what: str,
    fits: "Callable[[pd.Series[float]], pd.Series[bool]]",
    remedy: str,
) -> "pd.Series[float]":
    numbers = pd.to_numeric(cells, errors="coerce").astype(float)
    _refuse(~fits(numbers), cells, what, remedy)
    return numbers


def _is_count(numbers: "pd.Series[float]") -> "pd.Series[bool]":
    return (numbers >= 0) & (numbers % 1 == 0)


def _pairs(table: pd.DataFrame, what: str, kind: str, known: Iterable[str]) -> pd.MultiIndex:
    """Read the pairs of a model and a known scenario or statement."""
    names = pd.DataFrame({column: _names(table[column], what) for column in ("model", kind)})
    _refuse_unknown(names[kind], known, what, "scenarios")
    return pd.MultiIndex.from_frame(names)
