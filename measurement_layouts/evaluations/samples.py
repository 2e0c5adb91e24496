"""Sample outcomes that are included in the package."""

from pathlib import Path

from .evaluation import Evaluation
from .logs.table import read_table


def mental_addition() -> Evaluation:
    """Return the outcomes of the tutorial: additions done in the head by Ann, Bob and Cleo.

    An item is the length of both numbers, in digits, and the number of times that a one is carried.
    Each subject tried each of the 44 items twice. The outcomes were simulated: the subjects handle
    numbers of 5.5, 8 and 7.5 digits, and 6.5, 2.5 and 6.5 carries, in half of the cases, and 5 %,
    5 % and 1 % of all answers are slips.

    Returns
    -------
    Evaluation
        Evaluation that is read from a table with the columns subject, item, attempt, digits,
        carries and outcome, as `read_table` reads such a table.

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
