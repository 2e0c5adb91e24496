"""Claim about the success of a subject on a kind of items, as a card."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.digits import chance as written
from ..common.digits import with_interval
from ..common.errors import FitError
from ..common.messages import many
from ..common.options import inside
from ..inference.fit import Fit
from ..inference.forecasts.likelihood import Attempted
from ..inference.forecasts.support import defined_columns
from ..inference.given import refuse_no_fit
from ..inference.model.features import read_features
from .chances import chances, read_items

_MOST = 200  # most further outcomes in a row
_LEAST = 50  # effective draws that a reweighted chance needs


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    r"""Probability that a subject succeeds often enough on items of a kind, and its evidence.

    It is made by `claim`, which defines the numbers.

    Attributes
    ----------
    subject : str
        Name of the subject.
    success, confidence : float
        Claimed share of successes, and its required probability.
    probability, error : float
        Probability that the share is at least as large as claimed, and its Monte Carlo standard
        error.
    expected, low, high : float
        Posterior mean and interval of the share.
    items : int
        Number of items of the kind.
    rests_on, passed : int
        Number of training attempts of the subject at similar items, and of their successes.
    worth : float
        Number of attempts at one item that would give the same information, including the prior:
        :math:`\bar q (1 - \bar q) / \mathrm{var}(q) - 1`.
    overturned_by : int or None
        Number of failures in a row, on further items of the kind, after which the claim no longer
        holds; None if it does not hold now, or if the draws cannot determine the number.
    established_by : int or None
        Number of successes in a row after which a claim holds that does not hold now; None if it
        holds now, or if the draws cannot determine the number.
    prob : float
        Mass of the interval.
    outside : int
        Number of the items that lie outside the training items, as in `Forecast.outside`.

    Examples
    --------
    >>> card = Claim("Ann", 0.9, 0.8, 0.83, 0.01, 0.94, 0.88, 0.98, 12, 41, 39, 52.0, 1, None)
    >>> print(card)
    Ann: P(success on 12 items of this kind >= 0.9) = 0.83; expected 0.940 [0.880, 0.980].
    It rests on 41 attempts at items like these (39 passed), and is worth 52 at one item.
    At a confidence of 0.8 it holds; 1 further failure in a row would overturn it (approximately).
    """

    subject: str
    success: float
    confidence: float
    probability: float
    error: float
    expected: float
    low: float
    high: float
    items: int
    rests_on: int
    passed: int
    worth: float
    overturned_by: int | None
    established_by: int | None
    prob: float = 0.9
    outside: int = 0

    @property
    def holds(self) -> bool:
        """Whether the claim is as probable as required."""
        return self.probability >= self.confidence

    def __str__(self) -> str:
        end = "the draws do not determine how many further successes in a row would establish it"
        if self.holds:
            end = "the draws do not determine how many further failures in a row would overturn it"
        for count, what, does in (
            (self.overturned_by, "failure", "overturn"),
            (self.established_by, "success", "establish"),
        ):
            if count is not None:
                several = f"{count} further {what}{'es' if what == 'success' else 's'}"
                one = f"1 further {what}"
                end = f"{one if count == 1 else several} in a row would {does} it (approximately)"
        verb = "holds" if self.holds else "does not hold"
        chance = written(self.probability, self.error)
        probable = f"{chance[0]} {chance[1:]}" if chance[0] in "<>" else f"= {chance}"
        far = f"; {self.outside} of {self.items} outside its training items" * bool(self.outside)
        return (
            f"{self.subject}: P(success on {many(self.items, 'item')} of this kind >= "
            f"{self.success:g}) {probable}; expected "
            f"{with_interval(self.expected, self.low, self.high)}.\n"
            f"It rests on {many(self.rests_on, 'attempt')} at items like these ({self.passed} "
            f"passed), and is worth {self.worth:.0f} at one item{far}.\n"
            f"At a confidence of {self.confidence:g} it {verb}; {end}."
        )

    def __repr__(self) -> str:
        return f"<Claim: {str(self).splitlines()[0]}>"


def claim(
    fit: Fit,
    subject: str,
    items: pd.DataFrame,
    *,
    success: float = 0.9,
    confidence: float = 0.9,
    prob: float = 0.9,
) -> Claim:
    r"""Compute the probability that a subject succeeds at least so often on items of a kind.

    .. math:: \Pr(q \ge s \mid D), \qquad q = \frac{1}{n} \sum_i p_i

    with the probabilities :math:`p_i` of success on the n items that represent the kind. The number
    of outcomes that would overturn the claim is found by reweighting the draws: with k further
    failures in a row, each on a random item of the kind, or k successes,

    .. math:: \Pr(q \ge s \mid D, k) = \frac{\sum_d 1(q_d \ge s)\, (1 - q_d)^k}
        {\sum_d (1 - q_d)^k}, \qquad \text{or with } q_d^k,

    as long as the effective number of weighted draws is at least 50.

    Parameters
    ----------
    fit : Fit
        Joint fit, or fit of subjects one by one.
    subject : str
        Name of a subject of the fit.
    items : DataFrame
        Items that represent the kind, attempted or not: meta-features, indexed by item.
    success : float, default 0.9
        Claimed share s of successes, in (0, 1).
    confidence : float, default 0.9
        Required probability of the claim, in (0, 1).
    prob : float, default 0.9
        Probability mass of the interval of q.

    Returns
    -------
    Claim
        Claim, which ``print`` shows as a card. Its evidence is the training attempts at items that
        are within the range of these items in each meta-feature. Without such attempts, the claim
        depends on the layout alone.

    Raises
    ------
    DataError
        When the items do not fit the layout, there is none, or outcomes have several steps.
    FitError
        When `fit` is something else, the subject is not in the fit, a number is out of range, or
        there are few draws.

    Notes
    -----
    Each further outcome is assumed to be on a random item of the kind, so that it informs about q
    alone; failures on the easiest items would be more informative. The draws assume that the layout
    is right, also for items outside the training items; the card gives the number of these.

    References
    ----------
    Gelfand, A. E., Dey, D. K. and Chang, H. (1992), Model determination using predictive
    distributions, Bayesian Statistics 4, for draws that are reweighted; Mitchell et al. (2019),
    Model cards for model reporting, for cards.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> steps = MetaFeature("steps", low=0, high=10)
    >>> layout = Layout("sums", Success("right", logistic(Capability("skill", 0, 10) - steps)))
    >>> items = pd.DataFrame({"steps": np.linspace(0, 10, 41)})
    >>> outcomes = pd.DataFrame([(items["steps"] < 7).astype(int)], index=["Ann"])
    >>> found = fit(layout, Evaluation.from_wide(outcomes, items), method="grid", seed=1)
    >>> print(claim(found, "Ann", items[items["steps"] <= 5]))
    Ann: P(success on 21 items of this kind >= 0.9) > 0.99; expected 0.9... [0.9..., ...].
    It rests on 21 attempts at items like these (21 passed), and is worth ... at one item.
    At a confidence of 0.9 it ...
    """
    refuse_no_fit(fit)
    success = inside("success", success, such_as=0.9)
    confidence = inside("confidence", confidence, such_as=0.9)
    prob = inside("prob", prob, such_as=0.9)
    if not isinstance(subject, str):
        raise FitError(f"claim is of one subject, and subject={subject!r}; give one name")
    (who,) = fit.named([subject])
    table = read_items(items, fit, "claim")
    (own,) = chances(fit, table, [who])
    q = own.mean(axis=0)
    probability = float((q >= success).mean())
    rests_on, passed = _alike(fit, who, table)
    met = fit.forecast(table, subjects=[who]).data
    outside = met["outside_training"]
    tail = (1 - prob) / 2
    low, high = np.quantile(q, [tail, 1 - tail])
    return Claim(
        subject=who,
        success=success,
        confidence=confidence,
        probability=probability,
        error=max(np.sqrt(probability * (1 - probability) / len(q)), 1 / len(q)),
        expected=float(q.mean()),
        low=float(low),
        high=float(high),
        items=len(table),
        rests_on=rests_on,
        passed=passed,
        worth=_worth(q),
        overturned_by=_needed(q, success, confidence, 1 - q) if probability >= confidence else None,
        established_by=_needed(q, success, confidence, q) if probability < confidence else None,
        prob=prob,
        outside=int(outside.sum()),
    )


def _alike(fit: Fit, subject: str, items: pd.DataFrame) -> tuple[int, int]:
    """Count the subject's training attempts at items within the range of some, and successes."""
    layout = fit.layout
    kind = defined_columns(layout, read_features(layout, items), len(items))
    (row,) = fit.places([subject])
    tried = Attempted.of(fit, row)
    known = defined_columns(layout, tried.features, len(tried.names))
    low, high = np.fmin.reduce(kind), np.fmax.reduce(kind)
    slack = 1e-7 * np.maximum(np.abs(low), np.abs(high))
    inside_both = (known >= low - slack) & (known <= high + slack)
    own = (inside_both | (np.isnan(known) & np.isnan(kind).any(axis=0))).all(axis=1)
    return int(tried.trials[own].sum()), int(tried.successes[own].sum())


def _worth(q: np.ndarray) -> float:
    """Compute the attempts at one item whose Beta distribution has the draws' mean and variance."""
    mean, variance = q.mean(), q.var()
    return float(mean * (1 - mean) / variance - 1) if variance > 0 else np.inf


def _needed(q: np.ndarray, success: float, confidence: float, each: np.ndarray) -> int | None:
    """Count outcomes in a row, each with some chance, until a claim changes; None if too many."""
    holds, now = q >= success, (q >= success).mean() >= confidence
    with np.errstate(divide="ignore"):
        logs = np.log(each)
    for count in range(1, _MOST + 1):
        power = count * logs
        weights = np.exp(power - power.max()) if np.isfinite(power.max()) else np.zeros(len(q))
        total = weights.sum()
        if not total or total**2 / (weights**2).sum() < _LEAST:
            return None
        if ((weights * holds).sum() / total >= confidence) != now:
            return count
    return None
