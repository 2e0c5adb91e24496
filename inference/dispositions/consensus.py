"""Consensus: scenarios on which people agree, and those on which they are divided."""

from numbers import Real

import pandas as pd

from ..errors import FitError
from .comparison import reaches
from .judgments import SituationalJudgments


def consensus(judgments: SituationalJudgments, threshold: float = 0.8) -> pd.Series:
    r"""Find the scenarios on which people agree.

    .. math:: \{s \mid \mathrm{TPR_{human}}(s) \ge \tau \vee \mathrm{TPR_{human}}(s) \le 1 - \tau\}

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes of people.
    threshold : float, default 0.8
        Share of votes for one action, tau, in (0.5, 1].

    Returns
    -------
    Series
        Trait-positive rate of people, of these scenarios only, indexed by ``scenario``.

    Raises
    ------
    FitError
        When the threshold is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 5, Eq. 3.

    Examples
    --------
    >>> scenarios = pd.DataFrame({"scenario": ["a", "b"], "trait": "empathy", "statement": "share",
    ...                           "keyed": 1})
    >>> votes = pd.DataFrame({"scenario": ["a"] * 5 + ["b"] * 5, "rater": [1, 2, 3, 4, 5] * 2,
    ...                       "vote": ["oppose"] * 4 + ["agree"] * 3 + ["oppose"] * 3})
    >>> judgments = SituationalJudgments.from_long(scenarios, votes)
    >>> consensus(judgments).to_dict(), divided(judgments).to_dict()
    ({'a': 0.2}, {'b': 0.4})
    """
    rates = judgments.human_rates()
    return rates["rate"][reaches(rates["consensus"], _share(threshold))]


def divided(judgments: SituationalJudgments, threshold: float = 0.7) -> pd.Series:
    """Find the scenarios on which people are divided: fewer than a share agree.

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes of people.
    threshold : float, default 0.7
        Share of votes for one action that is no longer divided, in (0.5, 1].

    Returns
    -------
    Series
        Trait-positive rate of people, of these scenarios only, indexed by ``scenario``.

    Raises
    ------
    FitError
        When the threshold is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> judgments = simulated_study(per_statement=1, models=["sim-01"]).judgments
    >>> rates = divided(judgments)
    >>> bool(rates.between(0.3, 0.7, inclusive="neither").all())
    True
    """
    rates = judgments.human_rates()
    return rates["rate"][~reaches(rates["consensus"], _share(threshold))]


def _share(threshold: object) -> float:
    number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not number or not 0.5 < float(threshold) <= 1:  # type: ignore[arg-type]
        raise FitError(f"threshold={threshold!r}; give a share above 0.5, up to 1, such as 0.8")
    return float(threshold)  # type: ignore[arg-type]
