"""Person fit: subjects with unexpected patterns of outcomes."""

import numpy as np
import pandas as pd

from .louis import SUBJECT, Direction, adjusted, intervals
from .residuals import Block, Residuals

_EVEN = 0.5


def person_fit(
    residuals: Residuals, subjects: list[str], *, alpha: float, prob: float
) -> pd.DataFrame:
    r"""Test whether each subject passes hard items as rarely as the layout expects.

    The alternative is that the log-odds of a subject's cells change by :math:`\beta` times the
    centred :math:`\log p`; see `louis.Direction`. If :math:`\beta` is negative, the pattern is
    flatter than the layout implies: hard items are passed too often, as if memorised or guessed, or
    easy ones too rarely. If it is positive, the pattern is more regular.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    subjects : list of str
        Names of the subjects in the table, for whose number p values are adjusted.
    alpha : float
        Probability of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        One row per subject.

        - ``hard``: number of attempted items with a probability of success below 0.5; ``observed``
          and ``expected``: success rates on these items.
        - ``effect``, ``low``, ``high``: :math:`\beta`, with an approximate interval.
        - ``z``, ``p``, ``p_adjusted``, ``flagged``; p from the saddlepoint approximation.

    Notes
    -----
    The test is related to Drasgow's :math:`l_z`, which Snijders corrected for estimated abilities.
    Two directions, log-odds and :math:`\log p`, were compared for one of 40 subjects that has
    memorised a fifth of the items on which its probability of success is below 0.5. With known
    parameters, 200 items and a threshold of .05 / 40, they detect 26 and 28 % if the standard
    deviation of items is 1 log-odds, 58 and 70 % at 2, and 74 and 83 % at 2.5. The most powerful
    test, which needs the subject's level and the share of memorised items, detects 52, 86 and 92 %.

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
    """Return the logarithms of the probability of success."""
    return [-np.logaddexp(0, -block.log_odds)]
