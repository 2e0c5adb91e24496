"""Readers of the long tables of a study of dispositions, which count the rows left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..evaluations.tables import is_missing, need_columns, need_frame, read_numbers, renamed
from ..evaluations.words import no_numbers

VOTES = ("agree", "oppose", "neutral")
CHOICES = ("agree", "oppose", "undecided")
_NOT_APPLICABLE = "n/a"
READ = {
    "scenarios": ("scenario", "trait", "statement", "keyed"),
    "votes": ("scenario", "rater", "vote"),
    "samples": ("model", "scenario", "choice", *CHOICES),
    "ratings": ("model", "statement", "rating", "times"),
    "raters": ("rater",),
}
"""Columns that are read from each table."""


def need_table(table: object, what: str, columns: Sequence[str]) -> pd.DataFrame:
    """Check that a table has some columns, each once, and at least one row."""
    found = need_frame(table, what)
    need_columns(found.columns, columns, f"the table of {what} has")
    if found.empty:
        raise DataError(f"{what}: the table has no rows; give at least one, or leave it out")
    return found


def one_row_each(table: object, what: str, kind: str) -> pd.DataFrame:
    """Index a table by the names in the column `kind`, or in an index with that name."""
    if isinstance(table, pd.DataFrame) and kind not in table.columns and table.index.name == kind:
        table = table.reset_index()
    checked = need_table(table, what, [kind])
    names = pd.Index(names_in(checked, kind, what), name=kind, dtype="str")
    refuse_twice(checked, names, what, [kind], f"give each {kind} one row")
    return checked.drop(columns=kind).set_axis(names, axis=0)


def names_in(table: pd.DataFrame, column: str, what: str) -> np.ndarray:
    """Read a column of names as texts; a number becomes its text."""
    cells = list(table[column])
    bad = [not pd.api.types.is_scalar(cell) or is_missing(cell) for cell in cells]
    _refuse(table, np.array(bad), column, what, "give a text or a number")
    return np.array([str(cell) for cell in cells], object)


def words_in(
    table: pd.DataFrame, column: str, what: str, words: Sequence[str], missing: str = ""
) -> np.ndarray:
    """Read a column of some words, in upper or lower case; a missing cell is the word `missing`."""
    cells = [missing if is_missing(cell) else cell for cell in table[column]]
    found = np.array([cell.lower() if isinstance(cell, str) else "" for cell in cells], object)
    need = f"give one of {', '.join(map(repr, words))}"
    _refuse(table, ~pd.Index(found).isin(words), column, what, need)
    return found


def numbers_in(
    table: pd.DataFrame,
    column: str,
    what: str,
    fits: Callable[[np.ndarray], np.ndarray],
    need: str,
) -> np.ndarray:
    """Read a column of numbers that satisfy a condition; NaN, also for other values, does not."""
    values, foreign = read_numbers(table[[column]])
    numbers, texts = values[:, 0], no_numbers(table[[column]], foreign)[0]
    _refuse(table, np.where(foreign[:, 0], texts[:, 0], ~fits(numbers)), column, what, need)
    return numbers


def refuse_unknown(
    table: pd.DataFrame, names: np.ndarray, known: pd.Index, what: str, kind: str, source: str
) -> None:
    """Refuse names that another table does not have."""
    unknown = ~pd.Index(names).isin(known)
    if unknown.any():
        raise DataError(
            f"{what}: {len(set(names[unknown]))} {kind}(s) are not in {source}: "
            f"{_places(table, unknown, names)}; add what is missing to {source}, or drop those rows"
        )


def refuse_twice(
    table: pd.DataFrame, keys: pd.Index, what: str, kinds: Sequence[str], remedy: str
) -> None:
    """Refuse keys that occur more than once."""
    twice = keys.duplicated(keep=False)
    if twice.any():
        key = keys[twice][0]
        each = key if isinstance(key, tuple) else (key,)
        said = ", ".join(f"{kind} {name!r}" for kind, name in zip(kinds, each, strict=True))
        more = keys[twice].nunique() - 1
        raise DataError(
            f"{what}: {said} in {_rows(table, [other == key for other in keys])}"
            f"{f', and {more} more of this kind' if more else ''}; {remedy}"
        )


def _refuse(table: pd.DataFrame, bad: np.ndarray, column: str, what: str, need: str) -> None:
    if bad.any():
        cells = table[column].astype(object).to_numpy()
        raise DataError(
            f"{what}, column {column!r}: {int(bad.sum())} cell(s) cannot be used: "
            f"{_places(table, bad, cells)}; {need}"
        )


def _places(table: pd.DataFrame, bad: np.ndarray, cells: Iterable[object]) -> str:
    shown = [
        f"{table.index.name or 'row'} {row} has {'nothing' if is_missing(cell) else repr(cell)}"
        for row, cell, is_bad in zip(table.index, cells, bad, strict=True)
        if is_bad
    ]
    return some(shown)


def _rows(table: pd.DataFrame, chosen: list[bool]) -> str:
    return f"{table.index.name or 'row'}s {some(table.index[chosen])}"


type Dropped = list[tuple[str, int, str]]
"""Kinds of rows that were left out, their numbers, and the reasons."""


def read(
    tables: Mapping[str, object], columns: Mapping[str, str] | None, least: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Read a study; see `SituationalJudgments.from_long`.

    Returns
    -------
    tuple of DataFrame
        Scenarios, votes, raters, samples, ratings, and what was dropped.
    """
    dropped: Dropped = []
    everything = list(dict.fromkeys(name for names in READ.values() for name in names))
    found = {
        what: renamed(table, columns, READ[what], everything) for what, table in tables.items()
    }
    every = read_scenarios(found["scenarios"])
    people = read_raters(found["raters"])
    voted = read_votes(found["votes"], every, people, dropped)
    voters = raters_who_voted(people, voted, dropped)
    sampled = read_samples(found["samples"], every, least, dropped)
    rated = read_ratings(found["ratings"], every)
    known = every[every.index.isin(voted["scenario"])]
    dropped.append(("scenarios", len(every) - len(known), "no vote on it is left"))
    kept = within(sampled, "scenario", known.index)
    dropped.append(("pairs", len(sampled) - len(kept), "no vote on the scenario is left"))
    stated = within(rated, "statement", known["statement"])
    dropped.append(("ratings", len(rated) - len(stated), "no scenario of the statement is left"))
    lost = pd.DataFrame([row for row in dropped if row[1]], columns=["what", "count", "reason"])
    lost = lost.astype({"what": "str", "count": "int64", "reason": "str"})
    return known, voted, voters, kept, stated, lost


def read_scenarios(table: object) -> pd.DataFrame:
    """Read the scenarios: trait, statement and key, then further columns."""
    checked = one_row_each(table, "scenarios", "scenario")
    need_table(checked, "scenarios", ["trait", "statement", "keyed"])
    rest = checked.drop(columns=["trait", "statement", "keyed"])
    found = pd.DataFrame(index=checked.index)
    for column in ("trait", "statement"):
        found[column] = pd.Series(names_in(checked, column, "scenarios"), found.index, "str")
    found["keyed"] = _keys(checked)
    for column in ("trait", "keyed"):
        _refuse_varying(found, column)
    return found.join(rest)


def read_raters(table: object) -> pd.DataFrame | None:
    """Read the attributes of raters, if there are any."""
    return None if table is None else one_row_each(table, "raters", "rater")


def read_votes(
    table: object, scenarios: pd.DataFrame, raters: pd.DataFrame | None, dropped: Dropped
) -> pd.DataFrame:
    """Read one row per vote, without votes that a scenario is not applicable."""
    checked = need_table(table, "votes", ["scenario", "rater", "vote"])
    names, people = (names_in(checked, column, "votes") for column in ("scenario", "rater"))
    refuse_unknown(checked, names, scenarios.index, "votes", "scenario", "scenarios")
    if raters is not None:
        refuse_unknown(checked, people, raters.index, "votes", "rater", "raters")
    keys = pd.MultiIndex.from_arrays([names, people], names=["scenario", "rater"])
    refuse_twice(
        checked, keys, "votes", ["scenario", "rater"], "keep one vote per scenario and rater"
    )
    words = words_in(checked, "vote", "votes", (*VOTES, _NOT_APPLICABLE), _NOT_APPLICABLE)
    votes = pd.DataFrame({"scenario": names, "rater": people, "vote": words}, dtype="str")
    votes = votes.query("vote != @_NOT_APPLICABLE").reset_index(drop=True)
    lost = len(checked) - len(votes)
    dropped.append(("votes", lost, "the scenario was not applicable for the rater"))
    if votes.empty:
        raise DataError(
            "votes: none of them is 'agree', 'oppose' or 'neutral'; give at least one that is"
        )
    return votes


def raters_who_voted(
    raters: pd.DataFrame | None, votes: pd.DataFrame, dropped: Dropped
) -> pd.DataFrame:
    """Keep raters with a vote; without a table of raters, only their names are known."""
    names = pd.Index(votes["rater"].unique(), name="rater", dtype="str")
    if raters is None:
        return pd.DataFrame(index=names)
    voted = raters.index.isin(names)
    dropped.append(("raters", int((~voted).sum()), "no vote of theirs is left"))
    return raters[voted]


def read_samples(
    table: object, scenarios: pd.DataFrame, least: int, dropped: Dropped
) -> pd.DataFrame:
    """Read one row per sample, or counts by model and scenario; drop pairs with few decisions."""
    if isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 1:
        raise DataError(f"least={least!r}; give a whole number of decided samples, at least 1")
    if table is None:
        return pd.DataFrame(
            {choice: np.array([], "int64") for choice in CHOICES}, _index([], [], "scenario")
        )
    checked = need_table(table, "samples", ["model", "scenario"])
    pairs = _pairs(checked, "samples", "scenario", scenarios.index)
    counts = _tally(checked, pairs) if "choice" in checked.columns else _counts(checked, pairs)
    few = counts["agree"] + counts["oppose"] < least
    dropped.append(("pairs", int(few.sum()), f"fewer than {least} decided samples"))
    return counts[~few]


def read_ratings(table: object, scenarios: pd.DataFrame) -> pd.DataFrame:
    """Read one row per self-report; average several of one model and statement."""
    if table is None:
        empty = {"rating": np.array([], float), "times": np.array([], "int64")}
        return pd.DataFrame(empty, _index([], [], "statement"))
    checked = need_table(table, "ratings", ["model", "statement", "rating"])
    pairs = _pairs(checked, "ratings", "statement", pd.Index(scenarios["statement"].unique()))
    need = "give a number from 1 to 7, or drop those rows"
    ratings = numbers_in(checked, "rating", "ratings", lambda x: (x >= 1) & (x <= 7), need)
    times = np.ones(len(checked))
    if "times" in checked.columns:
        need = "give the number of times that the model was asked, at least 1"
        times = numbers_in(checked, "times", "ratings", lambda x: _whole(x) & (x >= 1), need)
    sums = pd.DataFrame({"rating": ratings * times, "times": times}, pairs)
    sums = sums.groupby(level=pairs.names, sort=False).sum()
    return sums.assign(rating=sums["rating"] / sums["times"]).astype({"times": "int64"})


def within(table: pd.DataFrame, level: str, names: Iterable[str]) -> pd.DataFrame:
    """Keep the rows with some names in a level of the index."""
    return table[table.index.isin(pd.Index(names), level=level)]


def _keys(table: pd.DataFrame) -> np.ndarray:
    need = (
        "give 1 if agreeing with the statement shows the trait, -1 if opposing it does "
        "(a reverse-scored statement)"
    )
    return numbers_in(table, "keyed", "scenarios", lambda x: np.abs(x) == 1, need).astype("int64")


def _refuse_varying(scenarios: pd.DataFrame, column: str) -> None:
    """Refuse a statement whose scenarios differ in trait or key."""
    values = scenarios.drop_duplicates(["statement", column])
    varying = values["statement"][values.duplicated("statement")]
    if len(varying):
        statement = varying.iloc[0]
        cells = values.loc[values["statement"] == statement, column].items()
        raise DataError(
            f"scenarios: the {column} of statement {statement!r} is "
            f"{', '.join(f'{value!r} in scenario {name}' for name, value in cells)}; a statement "
            f"has one {column}: correct it, or give two statements different names"
        )


def _tally(table: pd.DataFrame, pairs: pd.MultiIndex) -> pd.DataFrame:
    """Count the samples of each pair by what they chose."""
    words = words_in(table, "choice", "samples", CHOICES)
    chosen = pd.DataFrame({choice: words == choice for choice in CHOICES}, pairs, dtype="int64")
    return pd.DataFrame(chosen.groupby(level=pairs.names, sort=False).sum())


def _counts(table: pd.DataFrame, pairs: pd.MultiIndex) -> pd.DataFrame:
    """Read counts of samples by pair."""
    need_table(table, "samples", CHOICES)
    remedy = "add their counts up, and keep one row"
    refuse_twice(table, pairs, "samples", ["model", "scenario"], remedy)
    need = "give a count: a whole number of at least 0"
    return pd.DataFrame(
        {name: numbers_in(table, name, "samples", _whole, need) for name in CHOICES}, pairs
    ).astype("int64")


def _whole(numbers: np.ndarray) -> np.ndarray:
    whole: np.ndarray = np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))
    return whole


def _pairs(table: pd.DataFrame, what: str, kind: str, known: pd.Index) -> pd.MultiIndex:
    """Read the model and the known scenario or statement of each row."""
    names = names_in(table, kind, what)
    refuse_unknown(table, names, known, what, kind, "scenarios")
    return _index(names_in(table, "model", what), names, kind)


def _index(models: Iterable[str], names: Iterable[str], kind: str) -> pd.MultiIndex:
    levels = [pd.Index(list(texts), dtype="str") for texts in (models, names)]
    return pd.MultiIndex.from_arrays(levels, names=["model", kind])


def rates_of_people(scenarios: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Compute people's rates; see `SituationalJudgments.human_rates`."""
    counts = votes.groupby(["scenario", "vote"]).size().unstack(fill_value=0)
    counts = counts.reindex(scenarios.index, columns=VOTES, fill_value=0)
    agree, oppose, neutral = counts.to_numpy().T
    forward = scenarios["keyed"].to_numpy() == 1
    rates = scenarios[["trait", "statement"]].assign(
        positive=np.where(forward, agree, oppose) + neutral / 2,
        negative=np.where(forward, oppose, agree) + neutral / 2,
        neutral=neutral,
        votes=agree + oppose + neutral,
    )
    rates["rate"] = rates["positive"] / rates["votes"]
    return rates.assign(consensus=np.maximum(rates["rate"], 1 - rates["rate"]))


def rates_of_models(scenarios: pd.DataFrame, samples: pd.DataFrame) -> pd.DataFrame:
    """Compute models' rates; see `SituationalJudgments.model_rates`."""
    known = scenarios.loc[samples.index.get_level_values("scenario")]
    forward = known["keyed"].to_numpy() == 1
    agree, oppose = samples["agree"], samples["oppose"]
    rates = known[["trait", "statement"]].set_axis(samples.index, axis=0)
    rates["positive"] = np.where(forward, agree, oppose)
    rates["negative"] = np.where(forward, oppose, agree)
    rates["undecided"] = samples["undecided"]
    rates["rate"] = rates["positive"] / (rates["positive"] + rates["negative"])
    return rates.assign(confidence=np.maximum(rates["rate"], 1 - rates["rate"]))
