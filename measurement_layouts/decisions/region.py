"""Regions where a required share of items succeeds, guaranteed by held-out outcomes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..common.options import inside
from ..common.proportions import clopper_pearson
from ..evaluations.evaluation import Evaluation
from ..inference.forecasts.forecasting import Forecast
from ..inference.given import refuse_no_forecast
from .accept import Acceptance, acceptance, single
from .risk_coverage import scored

_THRESHOLDS = np.arange(99, -1, -1) / 100
_STARTS = (0.99, 0.95, 0.9, 0.8, 0.6)


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """Thresholds above which a required share of items succeeds.

    It is made by `reliable_region`, which defines the guarantee.

    Attributes
    ----------
    table : DataFrame
        One row per subject and required ``success``: the ``threshold`` of the mean forecast, NaN
        where nothing can be claimed; of the calibration outcomes above it the number of
        ``attempts``, the ``share`` that succeeds and its guaranteed ``least``; ``coverage``, the
        share of all attempts; and ``claimable``.
    confidence : float
        Confidence of each guarantee.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> names = [str(number) for number in range(200)]
    >>> chances = np.repeat([0.97, 0.5], 100)[None]
    >>> outcomes = pd.DataFrame([[1] * 100 + [0, 1] * 50], ["Ann"], names)
    >>> known = Evaluation.from_wide(outcomes, pd.DataFrame(index=names))
    >>> region = reliable_region(point_forecast(chances, ["Ann"], names), known)
    >>> region
    <Region: 1 of 1 subject claimable at 0.8, 1 at 0.9, 1 at 0.95, each with a confidence of 0.95>
    >>> region.accept(point_forecast(np.array([[0.9, 0.99]]), ["Ann"], ["c", "d"]))
    <Acceptance: 2 of 2 items accepted for Ann at a success of 0.9>
    """

    table: pd.DataFrame
    confidence: float

    def accept(self, forecast: Forecast, success: float = 0.9) -> Acceptance:
        """Accept the items whose mean forecast is in the region.

        Parameters
        ----------
        forecast : Forecast
            Forecast of other items, made in the same way as the one that gave the region.
        success : float, default 0.9
            One of the required shares of the region.

        Returns
        -------
        Acceptance
            Accepted items; none for subjects for whom nothing can be claimed.

        Raises
        ------
        DataError
            When the region is not of this success, or a subject is not in it.
        """
        single(forecast, "accept")
        own = self.table[self.table["success"] == success].set_index("subject")["threshold"]
        if own.empty:
            known = some(f"{each:g}" for each in self.table["success"].unique())
            raise DataError(f"success={success!r}: the region was found for {known}; name it there")
        names = forecast.data["subject"].to_numpy()
        missing = [name for name in names if name not in own.index]
        if missing:
            raise DataError(
                f"the region has no subject {some(missing)}; it has {some(own.index)}: find it "
                "with their outcomes, too"
            )
        mean = forecast.data["mean"].transpose("subject", "item").to_numpy()
        chosen = mean >= own[names].to_numpy()[:, None]
        rule = f"the mean is in the region that was found for {success:g}"
        return acceptance(forecast, chosen, success, rule)

    def __repr__(self) -> str:
        counts = self.table.groupby("success")["claimable"].sum()
        (first, *rest) = (f"{int(count)} at {success:g}" for success, count in counts.items())
        everybody = many(self.table["subject"].nunique(), "subject")
        told = ", ".join([first.replace(" at", f" of {everybody} claimable at"), *rest])
        return f"<Region: {told}, each with a confidence of {self.confidence:g}>"


def reliable_region(
    forecast: Forecast,
    evaluation: Evaluation,
    *,
    success: float | Sequence[float] = (0.8, 0.9, 0.95),
    confidence: float = 0.95,
    training_items: bool = False,
    reused_names: bool = False,
) -> Region:
    r"""Find the largest region in which a required share succeeds, with a guarantee.

    A region consists of all items whose mean forecast reaches a threshold t. For each threshold,
    the hypothesis that less than the share s succeeds above it is tested by outcomes that the
    forecast has not seen, n of which k are successes, with the exact binomial test,

    .. math:: \Pr(\mathrm{Binomial}(n, s) \ge k) \le \frac{1 - c}{J}

    which is passed if the lower end of Clopper and Pearson's interval is at least s. Thresholds are
    tested in descending order, .99, .98, ..., from each of J = 5 starts (.99, .95, .9, .8, .6) as
    long as they pass; the region is given by the lowest threshold that passed. This corrects for
    the choice among a hundred thresholds: with probability c, no threshold passes above which less
    than s succeeds, however wrong the forecast is.

    The guarantee is for further items that are drawn independently, as the calibration items were.
    It does not apply to other benchmarks, nor to groups of items whose outcomes are dependent,
    unless each group has one item. It is valid for each subject and each s separately.

    Parameters
    ----------
    forecast : Forecast
        Forecast of items that were not used for the fit.
    evaluation : Evaluation
        Outcomes on these items; subjects and items are matched by name.
    success : float or sequence of float, default (0.8, 0.9, 0.95)
        Required shares, each in (0, 1).
    confidence : float, default 0.95
        Confidence c, in (0, 1).
    training_items, reused_names : bool
        As in `score_forecast`.

    Returns
    -------
    Region
        Thresholds by subject and required share. When none passes, nothing can be claimed. At .9, a
        claim needs at least 44 attempts above the threshold when none of them fails.

    Raises
    ------
    DataError
        When `forecast` is something else, there is nothing to score, an item was trained on, an
        item has several attempts (which are not independent), or rows are steps of outcomes.
    FitError
        When `success` or `confidence` is out of range.

    Notes
    -----
    Starts and thresholds are fixed before any outcome is seen. With a single start at the top, the
    search would end early if few forecasts are so high, and with a start that depends on the number
    of such forecasts, the sequence would not be fixed.

    References
    ----------
    Geifman, Y. and El-Yaniv, R. (2017), Selective classification for deep neural networks,
    algorithm 1, which corrects for a binary search by Bonferroni's bound; Angelopoulos, A. N.,
    Bates, S., Candès, E. J., Jordan, M. I. and Lei, L. (2021), Learn then test, for fixed
    sequences from several starts; Bauer, P. (1991), Multiple testing in
    clinical trials, Statistics in Medicine 10.

    Examples
    --------
    >>> from measurement_layouts.validation.prediction.assessor import point_forecast
    >>> names = [str(number) for number in range(200)]
    >>> chances = np.repeat([0.97, 0.5], 100)[None]
    >>> outcomes = pd.DataFrame([[1] * 100 + [0, 1] * 50], ["Ann"], names)
    >>> known = Evaluation.from_wide(outcomes, pd.DataFrame(index=names))
    >>> region = reliable_region(point_forecast(chances, ["Ann"], names), known, success=0.9)
    >>> region.table[["subject", "success", "threshold", "attempts", "share", "claimable"]]
      subject  success  threshold  attempts  share  claimable
    0     Ann      0.9       0.51       100    1.0       True
    """
    refuse_no_forecast(forecast)
    shares = [inside("success", each, such_as=0.9) for each in np.atleast_1d(success)]
    if not shares:
        raise FitError("success=(): name at least one share, such as 0.9")
    confidence = inside("confidence", confidence, such_as=0.95)
    cells = scored(
        forecast,
        evaluation,
        by="mean",
        training_items=training_items,
        reused_names=reused_names,
    )
    if (cells["trials"] > 1).any():
        raise DataError(
            "reliable_region: items have several attempts, and attempts at one item are not "
            "independent; give one attempt at each item"
        )
    rows = [
        {"subject": name, **_found(own, share, confidence)}
        for name, own in cells.groupby("subject", sort=False)
        for share in shares
    ]
    return Region(pd.DataFrame(rows), confidence)


def _found(cells: pd.DataFrame, share: float, confidence: float) -> dict[Hashable, object]:
    """Find one subject's threshold for one required share."""
    above = cells["score"].to_numpy() >= _THRESHOLDS[:, None]
    attempts = above.sum(axis=1)
    passed = above @ cells["successes"].to_numpy()
    error = (1 - confidence) / len(_STARTS)
    least, _ = clopper_pearson(passed, attempts, prob=1 - 2 * error)
    lowest = -1
    for start in _STARTS:
        at = int(np.flatnonzero(np.isclose(_THRESHOLDS, start))[0])
        held = np.minimum.accumulate(least[at:] >= share)
        lowest = max(lowest, at + int(held.sum()) - 1 if held.any() else -1)
    if lowest < 0:
        return {
            "success": share,
            "threshold": np.nan,
            "attempts": 0,
            "share": np.nan,
            "least": np.nan,
            "coverage": 0.0,
            "claimable": False,
        }
    return {
        "success": share,
        "threshold": float(_THRESHOLDS[lowest]),
        "attempts": int(attempts[lowest]),
        "share": passed[lowest] / attempts[lowest],
        "least": float(least[lowest]),
        "coverage": attempts[lowest] / len(cells),
        "claimable": True,
    }
