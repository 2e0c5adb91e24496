"""Person fit: subjects whose pattern of outcomes surprises."""

import numpy as np
import pandas as pd

from .louis import SUBJECT, Direction
from .residuals import Block, Residuals
from .results import adjusted, intervals

_EVEN = 0.5


def person_fit(
    residuals: Residuals, subjects: list[str], *, alpha: float, prob: float
) -> pd.DataFrame:
    r"""Test whether each subject passes hard items as seldom as the layout expects.

    The log-odds of a subject's cells are moved by :math:`\beta` times :math:`\log p`, centred; see
    `louis.Direction`. Below 0, the pattern is flatter than the layout says: hard items are passed
    too often, as by one who knows them by heart or guesses, or easy ones too seldom. Above 0, it is
    more regular.

    Parameters
    ----------
    residuals : Residuals
        Of a joint fit.
    subjects : list of str
        Whose rows to return and to adjust for.
    alpha : float
        Chance of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        One row per subject.

        - ``hard``: items of which it was expected to pass less than half; ``observed`` and
          ``expected``: the rates at which it passed them.
        - ``effect``, ``low``, ``high``: :math:`\beta`, with an approximate interval.
        - ``z``, ``p``, ``p_adjusted``, ``flagged``; p from the saddlepoint approximation.

    Notes
    -----
    It is a relative of Drasgow's :math:`l_z`, which Snijders corrected for an ability that is
    estimated. Two directions were tried for one of 40 subjects who has learnt a fifth of the items
    by heart that it has less than an even chance of: log-odds and :math:`\log p`. With the
    parameters known, 200 items and a threshold of .05 / 40, these find 26 and 28 % at a spread of
    items of 1 log-odds, 58 and 70 % at 2, 74 and 83 % at 2.5; the best test of all, which knows the
    subject's level and what it may have learnt, 52, 86 and 92 %.

    References
    ----------
    Drasgow, F., Levine, M. V. and Williams, E. A. (1985), Appropriateness measurement with
    polychotomous item response models and standardized indices, British Journal of Mathematical and
    Statistical Psychology 38. Snijders, T. A. B. (2001), Asymptotic null distribution of person fit
    statistics with estimated person parameter, Psychometrika 66.
    """
    direction = Direction(_log_chances, SUBJECT)
    tested = direction.test(residuals)
    hard = (residuals.trials > 0) & (residuals.mean < _EVEN)
    attempts = np.where(hard, residuals.trials, 0)
    count = np.maximum(attempts.sum(axis=1), 1)
    none = np.where(hard.any(axis=1), 1.0, np.nan)
    made = pd.DataFrame(
        {
            "subject": residuals.subjects,
            "hard": hard.sum(axis=1),
            "observed": none * np.where(hard, residuals.successes, 0).sum(axis=1) / count,
            "expected": none * (attempts * residuals.mean).sum(axis=1) / count,
            **intervals(tested, prob),
            "p": direction.chances(residuals, tested),
        }
    )
    made = made[made["subject"].isin(subjects)].reset_index(drop=True)
    return adjusted(made, alpha)


def _log_chances(block: Block) -> list[np.ndarray]:
    """Give logarithms of the chance of success."""
    return [-np.logaddexp(0, -block.log_odds)]
