"""What a forecast is told about items unlike those trained on, and what becomes of its draws."""

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
from ...linking.real import real
from ...linking.texts import short
from ..posterior.posterior import Posterior

type Trust = Literal["home"] | float | "Transfer" | None

PARAMETERS = ("slope", "group_sd", "subject_sd", "item_sd")
"""Of what forecasts are moved by, in this order."""

AT_ONCE = 2**13
"""Numbers computed together."""

_FURTHEST = 7.0  # log-odds that a formula is believed where it has not been
_LEAST = 1e-12  # chances are at least so far from 0 and 1, as in the likelihood
_SAID = 200  # draws of what is stated, or of the prior


@dataclass(frozen=True, eq=False)
class Transfer:
    r"""How far forecasts of a layout are off on groups of items that it was not fitted to.

    .. math:: \operatorname{logit} p'_{si} = k\,(c + b\,(\operatorname{logit} p_{si} - c))
        + u_g + w_{sg} + v_i, \quad k = \sqrt{1 + \pi (\tau^2 + \rho^2 + \omega^2) / 8}, \quad
        u_g \sim N(0, \tau^2), \quad w_{sg} \sim N(0, \rho^2), \quad v_i \sim N(0, \omega^2)

    for subject s, item i and its group g, on the log-odds scale. A curve that was
    fitted to many items is an average over their offsets, and steeper by k given these: so the
    offsets widen intervals, and the slope b alone moves means, by
    :math:`c + b\,(\operatorname{logit} p - c)`. Made by
    `measurement_layouts.validation.transfer`, and given to `Fit.forecast` as ``trust``.

    Attributes
    ----------
    draws : DataFrame
        Draws of the slope ``slope`` (b) and of the standard deviations
        ``group_sd`` (:math:`\tau`), ``subject_sd`` (:math:`\rho`) and ``item_sd``
        (:math:`\omega`), in log-odds.
    centre : float
        The log-odds c that the slope turns about: those of the population's success rate.
    table : DataFrame
        A row per group left out: ``subjects``, ``items``, ``trials``, ``success`` (rate),
        ``forecast`` (its mean), and ``offset``, by how many log-odds all forecasts of the group
        would have to be moved to expect what happened.
    column : str or None
        Column of the items that names the groups.
    groups : Series
        The group of each item known, by name.

    Examples
    --------
    >>> found = stated(1.0)
    >>> found
    <Transfer: stated, a group's offset has sd 1 log-odds, the slope is 1>
    >>> found.summary()["mean"].to_dict()
    {'slope': 1.0, 'group_sd': 1.0, 'subject_sd': 0.0, 'item_sd': 0.0}
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
        r"""Move chances of cells to where such cells may lie elsewhere.

        Each draw is given the slope and one draw of the three offsets' sum,

        .. math:: \operatorname{logit} p'_d = (1 - h)\,\lambda_d + h\,\bigl(k_d\,(c
            + b_d\,(\bar\lambda_d - c)) + \tau_d z_{gd} + \rho_d z_{sd} + \omega_d z_{id}\bigr)

        with :math:`\bar\lambda`, the log-odds kept between -7 and 7: no formula knows chances below
        .001 where it has not been.

        Parameters
        ----------
        chances : ndarray, shape (cells, draws)
            Chances of success.
        share : ndarray, shape (cells,)
            The cells' h.
        scores : sequence of ndarray, shape (draws,) or (cells, draws), optional
            Normal scores z of group, subject and item. By default the offsets' sum has one score,
            spread evenly and the same for all cells: what is moved keeps its order.

        Returns
        -------
        ndarray, shape (cells, draws)
            Chances of success.
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
        """Say which items are of a group that a subject was not trained on.

        Parameters
        ----------
        fit : Posterior
            The fit.
        rows : ndarray of int
            Places of the subjects; -1 for those that are not in it.
        items : DataFrame
            Items to forecast, by name.

        Returns
        -------
        ndarray of bool, shape (subjects, items)
            An item whose group is not known is of one not met.
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
    """Name a fit's items, and say which of them each subject attempted.

    Subjects that are not in the fit, at place -1, are held against all of its items.
    """
    tried = fit.observed["trials"].to_numpy() > 0
    names: pd.Index = fit.constants.indexes["item"].map(str)
    return names, np.where((rows >= 0)[:, None], tried[rows], tried.any(axis=0))


def stated(group_sd: float) -> Transfer:
    """State the standard deviation of a group's offset; the slope is 1."""
    return _said(np.array([group_sd]))


def prior() -> Transfer:
    """Take the prior of a group's offset, as where nothing is known: a HalfNormal(1) spread."""
    return _said(ndtri((1 + (np.arange(_SAID) + 0.5) / _SAID) / 2))


def _said(group_sd: np.ndarray) -> Transfer:
    nothing = np.zeros_like(group_sd)
    draws = {"slope": nothing + 1, "group_sd": group_sd}
    rest = {"subject_sd": nothing, "item_sd": nothing}
    return Transfer(pd.DataFrame(draws | rest), 0.0, pd.DataFrame())


def read_trust(trust: object, layout: Layout) -> Transfer | None:
    """Read what a forecast is told about items unlike those trained on; None for nothing.

    Raises
    ------
    FitError
        When it is no transfer, positive number or "home", or the layout's outcomes are of several
        steps.
    """
    if isinstance(trust, str) and trust == "home":
        return None
    if layout.steps is not None:
        if trust is None:
            return None
        raise FitError(
            f"layout {layout.name!r} has outcomes of several steps, which are forecast as at home "
            'only; leave trust= out, or give trust="home"'
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
    """Which cells of a forecast lie how far from home, and what is known of such cells.

    Attributes
    ----------
    share : ndarray, shape (subjects, items)
        Between 0, at home, and 1: how much of a group's offset and slope a cell has.
    transfer : Transfer or None
        None where all is at home.
    """

    share: np.ndarray
    transfer: Transfer | None

    def part(self, start: int, stop: int) -> "Away":
        """Take some of the items."""
        return Away(self.share[:, start:stop], self.transfer)

    def summary(
        self,
        summarise: Callable[[np.ndarray], np.ndarray],
        chances: np.ndarray,
        places: np.ndarray,
        share: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Summarise what becomes of a subject's chances elsewhere.

        Parameters
        ----------
        summarise : callable
            From chances to mean, low and high of each row; it may put them into another order.
        chances : ndarray, shape (rows, draws)
            Chances of success at home; they are left as they are.
        places, share : ndarray, shape (items,)
            Row and share of every item.

        Returns
        -------
        spread : ndarray, shape (items,)
            Standard deviation of the log-odds at home.
        far : ndarray of int
            Which items are not at home.
        moved : ndarray, shape (3, far items)
            Their mean, low and high.
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
        """Compute the standard deviation of some offsets together, of every cell."""
        if self.transfer is None:
            return np.zeros_like(self.share)
        squares = (self.transfer.draws[list(names)] ** 2).sum(axis=1)
        return np.asarray(self.share * np.sqrt(squares.mean()))


def steepness(spreads: np.ndarray) -> np.ndarray:
    r"""Compute how much steeper a curve is given offsets than on average over them.

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
    """Take chances to log-odds; those at 0 and 1 as in the likelihood.

    Examples
    --------
    >>> log_odds(np.array([0.5, 1.0])).round(1)
    array([ 0. , 27.6])
    """
    inside = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def believed(log_odds: np.ndarray) -> np.ndarray:
    """Keep log-odds of forecasts away from home between -7 and 7."""
    return np.asarray(np.clip(log_odds, -_FURTHEST, _FURTHEST))


def radical_inverse(count: int, base: int) -> np.ndarray:
    """Spread numbers evenly over (0, 1) in an order that has no trend: van der Corput's sequence.

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
