"""Additional uncertainty of forecasts on items unlike the training items."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from ...common.errors import FitError
from ...layouts import Layout
from ...linking.errors import short
from ...linking.real import real
from ..posterior.posterior import Posterior

type Trust = Literal["home"] | float | "Transfer" | None

PARAMETERS = ("slope", "group_sd", "subject_sd", "item_sd")
"""Names of the parameters of a transfer, in this order."""

AT_ONCE = 2**13
"""Number of values that are computed together."""

_FURTHEST = 7.0  # log-odds of forecasts on items unlike the training items are limited to this
_LEAST = 1e-12  # probabilities are kept this far from 0 and 1, as in the likelihood
_SAID = 200  # draws of a given standard deviation, or of the prior


@dataclass(frozen=True, eq=False)
class Transfer:
    r"""Errors of a layout's forecasts on groups of items that it was not fitted to.

    .. math:: \operatorname{logit} p'_{si} = k\,(c + b\,(\operatorname{logit} p_{si} - c))
        + u_g + w_{sg} + v_i, \quad k = \sqrt{1 + \pi (\tau^2 + \rho^2 + \omega^2) / 8}, \quad
        u_g \sim N(0, \tau^2), \quad w_{sg} \sim N(0, \rho^2), \quad v_i \sim N(0, \omega^2)

    for subject s, item i and its group g, on the log-odds scale. A curve fitted to many items is an
    average over their offsets; given the offsets it is steeper by the factor k. With this factor
    the offsets only widen intervals, and means are moved by the slope b alone, by
    :math:`c + b\,(\operatorname{logit} p - c)`. `measurement_layouts.validation.transfer` estimates
    a transfer, and `Fit.forecast` takes it as ``trust``.

    Attributes
    ----------
    draws : DataFrame
        Draws of the slope ``slope`` (b) and of the standard deviations
        ``group_sd`` (:math:`\tau`), ``subject_sd`` (:math:`\rho`) and ``item_sd``
        (:math:`\omega`), in log-odds.
    centre : float
        The log-odds c at which the slope changes nothing: those of the population's success rate.
    table : DataFrame
        One row per left-out group: ``subjects``, ``items``, ``trials``, ``success`` (rate),
        ``forecast`` (mean success probability), and ``offset``: the amount in log-odds that, added
        to all forecasts of the group, makes the expected number of successes the observed one.
    column : str or None
        Column of the items that names the groups.
    groups : Series
        The group of each known item, by the item's name.

    Examples
    --------
    >>> found = stated(1.0)
    >>> found
    <Transfer: stated, a group's offset has sd 1 log-odds, the slope is 0.85>
    >>> found.summary()["mean"].round(2).to_dict()
    {'slope': 0.85, 'group_sd': 1.0, 'subject_sd': 0.0, 'item_sd': 0.0}
    """

    draws: pd.DataFrame
    centre: float
    table: pd.DataFrame
    column: str | None = None
    groups: pd.Series | None = None

    def summary(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise the parameters.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the equal-tailed intervals.

        Returns
        -------
        DataFrame
            Indexed by parameter: ``mean``, ``sd``, ``low`` and ``high``.
        """
        ends = self.draws.quantile([(1 - prob) / 2, (1 + prob) / 2]).T
        named = {"mean": self.draws.mean(), "sd": self.draws.std(ddof=0)}
        low, high = ends.to_numpy().T
        return pd.DataFrame(named).assign(low=low, high=high).rename_axis("parameter")

    def __repr__(self) -> str:
        mean = self.draws.mean()
        what = f"{len(self.table)} groups left out" if len(self.table) else "stated"
        return (
            f"<Transfer: {what}, a group's offset has sd {mean['group_sd']:.2g} log-odds, "
            f"the slope is {mean['slope']:.2g}>"
        )

    def moved(
        self, chances: np.ndarray, share: np.ndarray, scores: Sequence[np.ndarray] | None = None
    ) -> np.ndarray:
        r"""Apply the slope and the offsets to the success probabilities of cells.

        Each draw is combined with the slope and one draw of the sum of the three offsets,

        .. math:: \operatorname{logit} p'_d = (1 - h)\,\lambda_d + h\,\bigl(k_d\,(c
            + b_d\,(\bar\lambda_d - c)) + \tau_d z_{gd} + \rho_d z_{sd} + \omega_d z_{id}\bigr)

        with the log-odds :math:`\lambda`, and :math:`\bar\lambda`, which are limited to [-7, 7]:
        on items unlike the training items, no formula is reliable for probabilities below .001.

        Parameters
        ----------
        chances : ndarray, shape (cells, draws)
            Success probabilities.
        share : ndarray, shape (cells,)
            The share h of each cell, from 0 (unchanged) to 1.
        scores : sequence of ndarray, shape (draws,) or (cells, draws), optional
            Normal scores z of group, subject and item. By default the sum of the offsets has one
            score per draw. Scores are spread evenly and equal for all cells, which keeps the order
            of cells.

        Returns
        -------
        ndarray, shape (cells, draws)
            Success probabilities.
        """
        draws = chances.shape[1]
        which = (radical_inverse(draws, base=3) * len(self.draws)).astype(int)
        slope, *spreads = self._numbers[:, which]
        steeper = steepness(np.array(spreads))
        if scores is None:
            score = ndtri(radical_inverse(draws, base=2))
            offset = score * np.sqrt(np.square(spreads).sum(axis=0))
        else:
            offset = sum(sd * score for sd, score in zip(spreads, scores, strict=True))
        own = log_odds(chances)
        there = steeper * (self.centre + slope * (believed(own) - self.centre)) + offset
        return np.asarray(expit(own + share[:, None] * (there - own)))

    @cached_property
    def _numbers(self) -> np.ndarray:
        return self.draws[list(PARAMETERS)].to_numpy().T

    def unmet(self, fit: Posterior, rows: np.ndarray, items: pd.DataFrame) -> np.ndarray:
        """Mark items of groups that a subject was not trained on.

        Parameters
        ----------
        fit : Posterior
            The fit.
        rows : ndarray of int
            Positions of the subjects in the fit, or -1 for new subjects.
        items : DataFrame
            Items to forecast, by name.

        Returns
        -------
        ndarray of bool, shape (subjects, items)
            Whether the item's group is new to the subject; true if the group is unknown.
        """
        known = pd.Series(dtype=object) if self.groups is None else self.groups
        asked = items.index.map(str)
        if self.column is not None and self.column in items.columns:
            wanted = items[self.column].map(str).to_numpy(dtype=object)
        else:
            wanted = known.reindex(asked).to_numpy(dtype=object)
        names, tried = training_items(fit, rows)
        own = known.reindex(names)
        codes, levels = pd.factorize(own.to_numpy(dtype=object))
        met = np.zeros((len(rows), len(levels) + 1), dtype=bool)
        for code in range(len(levels)):
            met[:, code] = tried[:, codes == code].any(axis=1)
        return np.asarray(~met[:, pd.Index(levels).get_indexer(pd.Index(wanted))])


def training_items(fit: Posterior, rows: np.ndarray) -> tuple[pd.Index, np.ndarray]:
    """Return the names of a fit's items, and which of them each subject attempted.

    For new subjects, at position -1, the items that any subject attempted are marked.
    """
    tried = fit.observed["trials"].to_numpy() > 0
    names: pd.Index = fit.constants.indexes["item"].map(str)
    return names, np.where((rows >= 0)[:, None], tried[rows], tried.any(axis=0))


def stated(group_sd: float) -> Transfer:
    r"""Make a transfer with a given standard deviation of a group's offset.

    The offset is added to the layout's own log-odds,

    .. math:: \operatorname{logit} p'_{si} = \operatorname{logit} p_{si} + u_g, \quad
        u_g \sim N(0, \tau^2)

    which is the slope b = 1/k: means move towards even odds, as they do when such offsets are
    averaged over. The slope 1 would suppose a curve that is already an average over them.
    """
    group_sds = np.array([group_sd])
    return _said(group_sds, slope=1 / steepness(group_sds[None]))


def prior() -> Transfer:
    """Make a transfer with the prior HalfNormal(1) of the offset's sd, and the slope 1."""
    group_sds = ndtri((1 + (np.arange(_SAID) + 0.5) / _SAID) / 2)
    return _said(group_sds, slope=np.ones_like(group_sds))


def _said(group_sd: np.ndarray, slope: np.ndarray) -> Transfer:
    nothing = np.zeros_like(group_sd)
    draws = {"slope": slope, "group_sd": group_sd}
    rest = {"subject_sd": nothing, "item_sd": nothing}
    return Transfer(pd.DataFrame(draws | rest), 0.0, pd.DataFrame())


def read_trust(trust: object, layout: Layout) -> Transfer | None:
    """Read the option `trust`; None means that no uncertainty is added.

    Raises
    ------
    FitError
        When it is neither a transfer, a positive number nor "home", or when the layout's outcomes
        have several steps.
    """
    if isinstance(trust, str) and trust == "home":
        return None
    if layout.steps is not None:
        if trust is None:
            return None
        raise FitError(
            f"layout {layout.name!r} has outcomes of several steps, for which forecasts do not "
            'support trust=; leave it out, or give trust="home"'
        )
    if trust is None:
        return prior()
    if isinstance(trust, Transfer):
        return trust
    number = None if isinstance(trust, bool) else real(trust)
    if number is None or not 0 < number < math.inf:
        raise FitError(
            f"trust={short(repr(trust))}; give what ml.validation.transfer returns, the standard "
            'deviation of a group\'s offset in log-odds, such as 1.0, or "home"'
        )
    return stated(number)


@dataclass(frozen=True, eq=False)
class Away:
    """Additional uncertainty of each cell of a forecast.

    A cell is at home, with the share 0, if its item is like the subject's training items.

    Attributes
    ----------
    share : ndarray, shape (subjects, items)
        Between 0 and 1: the share of a group's offset and slope that applies to a cell.
    transfer : Transfer or None
        Slope and offsets; None if nothing is added to any cell.
    """

    share: np.ndarray
    transfer: Transfer | None

    def part(self, start: int, stop: int) -> "Away":
        """Return some of the items."""
        return Away(self.share[:, start:stop], self.transfer)

    def summary(
        self,
        summarise: Callable[[np.ndarray], np.ndarray],
        chances: np.ndarray,
        places: np.ndarray,
        share: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Summarise a subject's success probabilities on the items that are not at home.

        Parameters
        ----------
        summarise : callable
            Function of probabilities that returns mean, low and high of each row. It may reorder
            its argument.
        chances : ndarray, shape (rows, draws)
            Success probabilities by the layout's formula. They are not changed.
        places, share : ndarray, shape (items,)
            Row in `chances` and share of every item.

        Returns
        -------
        spread : ndarray, shape (items,)
            Standard deviation of the log-odds by the layout's formula.
        far : ndarray of int
            Positions of the items that are not at home.
        moved : ndarray, shape (3, far items)
            Mean, low and high of these items.
        """
        size = max(1, AT_ONCE // chances.shape[1])
        spread = np.empty(len(chances))
        for start in range(0, len(chances), size):
            spread[start : start + size] = log_odds(chances[start : start + size]).std(axis=1)
        far = np.flatnonzero(share > 0) if self.transfer is not None else np.empty(0, dtype=int)
        pairs = np.column_stack([places[far], share[far]])
        different, which = np.unique(pairs, axis=0, return_inverse=True)
        moved = np.empty((3, len(different)))
        if self.transfer is not None:
            for start in range(0, len(different), size):
                row, part = different[start : start + size].T
                own = self.transfer.moved(chances[row.astype(int)], part)
                moved[:, start : start + size] = summarise(own)
        return spread[places], far, moved[:, which.ravel()]

    def sd(self, *names: str) -> np.ndarray:
        """Compute the standard deviation of the sum of some offsets, for every cell."""
        if self.transfer is None:
            return np.zeros_like(self.share)
        squares = (self.transfer.draws[list(names)] ** 2).sum(axis=1)
        return np.asarray(self.share * np.sqrt(squares.mean()))


def steepness(spreads: np.ndarray) -> np.ndarray:
    r"""Compute the ratio of a curve's slope given offsets to its slope averaged over them.

    .. math:: k = \sqrt{1 + \pi (\tau^2 + \rho^2 + \omega^2) / 8}

    Parameters
    ----------
    spreads : ndarray, shape (3, ...)
        Standard deviations of the offsets in log-odds.

    References
    ----------
    MacKay (1992), The evidence framework applied to classification networks, equation 10.

    Examples
    --------
    >>> steepness(np.array([1.6, 0.0, 0.0])).round(2)
    np.float64(1.42)
    """
    return np.asarray(np.sqrt(1 + np.pi * np.square(spreads).sum(axis=0) / 8))[()]


def log_odds(chances: np.ndarray) -> np.ndarray:
    """Convert probabilities to log-odds; they are kept 1e-12 from 0 and 1, as in the likelihood.

    Examples
    --------
    >>> log_odds(np.array([0.5, 1.0])).round(1)
    array([ 0. , 27.6])
    """
    inside = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def believed(log_odds: np.ndarray) -> np.ndarray:
    """Limit log-odds of forecasts on items that are not at home to [-7, 7]."""
    return np.asarray(np.clip(log_odds, -_FURTHEST, _FURTHEST))


def radical_inverse(count: int, base: int) -> np.ndarray:
    """Return van der Corput's sequence: numbers spread evenly over (0, 1), in no trending order.

    Examples
    --------
    >>> radical_inverse(4, base=2)
    array([0.5  , 0.25 , 0.75 , 0.125])
    """
    number, found, place = np.arange(1, count + 1), np.zeros(count), 1.0
    while number.any():
        place /= base
        number, digit = np.divmod(number, base)
        found += place * digit
    return found
