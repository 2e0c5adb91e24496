"""Outcomes that come with the package, to try things on."""

from pathlib import Path

from .evaluation import Evaluation
from .logs.table import read_table


def mental_addition() -> Evaluation:
    """Return the outcomes of the tutorial: additions done in the head by Ann, Bob and Cleo.

    An item is a length of both numbers, in digits, and how often a one is carried. Each of the 44
    items was tried twice by each subject. The outcomes were simulated: numbers of 5.5, 8 and 7.5
    digits, and 6.5, 2.5 and 6.5 carries, are managed half of the time, and 5 %, 5 % and 1 % of all
    answers are slips.

    Returns
    -------
    Evaluation
        Read from a table with the columns subject, item, attempt, digits, carries and outcome,
        as `read_table` reads such a table of your own.

    Examples
    --------
    >>> evaluation = mental_addition()
    >>> evaluation.items.head(3)
                        digits  carries
    item
    1-digit, 0 carried       1        0
    1-digit, 1 carried       1        1
    2-digit, 0 carried       2        0
    >>> evaluation.success_rates().round(2).to_dict()
    {'Ann': 0.42, 'Bob': 0.43, 'Cleo': 0.74}
    """
    return read_table(Path(__file__).parent / "mental-addition.csv").evaluation()
