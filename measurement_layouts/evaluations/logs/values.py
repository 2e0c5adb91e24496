"""Values as logs and tables have them: scores become outcomes, columns become of one kind."""

import math
from collections.abc import Mapping

from ...common.errors import DataError
from ...common.messages import some
from ...linking.errors import short
from ..tables import is_missing
from .imported import Notes

# the values of inspect_ai.scorer.value_to_float; a test compares the two
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class ScoreReader:
    """Reads scores one by one, and refuses at the end what it could not read.

    Parameters
    ----------
    source : str
        Whose scores, for messages, such as "scorer match".
    values : mapping, optional
        Outcomes in [0, 1] of scores, before any other rule; None for a score that is no grade. A
        number may be given as text.
    words : mapping of str to float
        Outcomes of other texts, as they are written or in lower case.
    notes : Notes
        Notes, to which every mapping is added.
    remedy : str
        What to do about numbers outside [0, 1] and about foreign values.

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
        values: Mapping[str | float, float | None] | None,
        words: Mapping[str, float],
        notes: Notes,
        remedy: str,
    ) -> None:
        self._source, self._words, self._notes, self._remedy = source, words, notes, remedy
        self._values = {_key(score): _outcome(score, to) for score, to in (values or {}).items()}
        self._wrong: dict[str, list[str]] = {}

    def read(self, score: object, where: str) -> float:
        """Read one score; NaN where there is none, or it is no grade."""
        if is_missing(score):
            return math.nan
        known = isinstance(score, str | int | float)
        outcome = self._mapped(score) if isinstance(score, str | int | float) else None
        if outcome is None or outcome < 0 or outcome > 1:
            what = "neither numbers nor known words" if outcome is None else "outside [0, 1]"
            shown = short(repr(score)) if known else type(score).__name__
            self._wrong.setdefault(what, []).append(f"{short(where)} ({shown})")
            return math.nan
        if math.isnan(outcome):
            self._notes.add(f"mapped: {self._source}, {score!r} is no grade", where)
        elif isinstance(score, str | bool) or outcome != score:
            self._notes.add(f"mapped: {self._source}, {score!r} is {outcome:g}", where)
        return float(outcome)

    def check(self) -> None:
        """Refuse what could not be read.

        Raises
        ------
        DataError
            Naming whose scores, where they are, and what to do.
        """
        for what, cells in self._wrong.items():
            raise DataError(
                f"{self._source}: {len(cells)} value(s) are {what}: {some(dict.fromkeys(cells))}; "
                f"{self._remedy}"
            )

    def _mapped(self, score: str | float) -> float | None:
        """Find the outcome; None if it is unknown."""
        if _key(score) in self._values:
            return self._values[_key(score)]
        if not isinstance(score, str):
            return score
        return self._words.get(score, self._words.get(score.lower(), _as_number(score)))


def _key(score: str | float) -> str:
    """Write a score so that 5, 5.0 and "5" are one, and True is another than 1."""
    if isinstance(score, bool):
        return str(score)
    number = _as_number(score)
    return str(score) if number is None else repr(number)


def _as_number(score: str | float) -> float | None:
    try:
        number = float(score)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _outcome(score: object, to: object) -> float:
    if to is None:
        return math.nan
    if isinstance(to, int | float) and 0 <= to <= 1:
        return float(to)
    raise DataError(
        f"values: {score!r} is to be {to!r}; give an outcome in [0, 1], or None for no grade"
    )
