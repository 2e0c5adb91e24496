"""Values as logs and tables have them: scores become outcomes, columns become of one kind."""

import math
from collections.abc import Mapping

from ...common.errors import DataError
from ...common.messages import some
from ...linking.errors import short
from ..tables import is_missing
from .imported import Notes

# the values of inspect_ai.scorer.value_to_float; a test compares the two
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class ScoreReader:
    """Reads scores one by one, and refuses at the end what it could not read.

    Parameters
    ----------
    source : str
        Whose scores, for messages, such as "scorer match".
    values : mapping, optional
        Outcomes in [0, 1] of scores, before any other rule; a number may be given as text.
    grades : mapping
        Outcomes of letters.
    notes : Notes
        Told of every mapping.
    remedy : str
        What to do about numbers outside [0, 1] and about foreign values.
    words : mapping of str to float
        Outcomes of words in lower case; by default those of Inspect.

    Raises
    ------
    DataError
        When `values` maps a score to a number outside [0, 1].

    Examples
    --------
    >>> reader = ScoreReader("scorer match", {"P": 1.0}, GRADES, Notes(), "map them with values")
    >>> [reader.read(score, "sums/1") for score in ("C", "P", 0.25, True, "yes")]
    [1.0, 1.0, 0.25, 1.0, 1.0]
    """

    def __init__(
        self,
        source: str,
        values: Mapping[str | float, float] | None,
        grades: Mapping[str, float],
        notes: Notes,
        remedy: str,
        words: Mapping[str, float] = _WORDS,
    ) -> None:
        self._source, self._grades, self._notes, self._remedy = source, grades, notes, remedy
        self._words = words
        self._values = {_key(score): _outcome(score, to) for score, to in (values or {}).items()}
        self._foreign: list[str] = []
        self._outside: list[str] = []

    def read(self, score: object, where: str, count: int = 1) -> float:
        """Read one score, which occurs `count` times; NaN where there is none, which is noted."""
        if is_missing(score):
            self._notes.add(f"dropped: {self._source} is missing ({score})", where, count)
            return math.nan
        outcome = self._mapped(score) if isinstance(score, str | int | float) else None
        if outcome is None:
            self._foreign += [f"{short(where)} ({_shown(score)})"] * count
            return math.nan
        if not 0 <= outcome <= 1:
            self._outside += [f"{short(where)} ({short(score)})"] * count
            return math.nan
        if isinstance(score, str | bool) or outcome != score:
            self._notes.add(f"mapped: {self._source}, {score!r} is {outcome:g}", where, count)
        return float(outcome)

    def check(self) -> None:
        """Refuse what could not be read.

        Raises
        ------
        DataError
            Naming whose scores, where they are, and what to do.
        """
        for found, what in (
            (self._outside, "outside [0, 1]"),
            (self._foreign, "neither numbers nor known words"),
        ):
            if found:
                shown = some(dict.fromkeys(found))
                raise DataError(
                    f"{self._source}: {len(found)} value(s) are {what}: {shown}; {self._remedy}"
                )

    def _mapped(self, score: str | float) -> float | None:
        """Find the outcome; None if it is unknown."""
        if _key(score) in self._values:
            return self._values[_key(score)]
        if not isinstance(score, str):
            return score
        for table, text in ((self._grades, score), (self._words, score.lower())):
            if text in table:
                return table[text]
        return _as_number(score)


def _key(score: str | float) -> str:
    """Write a score so that 5, 5.0 and "5" are one, and True is another than 1."""
    if isinstance(score, bool):
        return str(score)
    number = _as_number(score)
    return str(score) if number is None else repr(number)


def _shown(score: object) -> str:
    return short(repr(score)) if isinstance(score, str | int | float) else type(score).__name__


def _as_number(score: str | float) -> float | None:
    try:
        number = float(score)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _outcome(score: object, to: object) -> float:
    if isinstance(to, int | float) and 0 <= to <= 1:
        return float(to)
    raise DataError(f"values: {score!r} is to be {to!r}; give an outcome in [0, 1]")
