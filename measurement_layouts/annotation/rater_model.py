"""A fitted model of raters: true levels of items, and the errors of each rater."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from ..common.messages import many
from ..common.options import inside
from .inputs import whole
from .rater_dimension import OneDimension
from .resampling import check_resampling

_TRAITS = ("bias", "scale", "noise", "reliability")


@dataclass(frozen=True, eq=False)
class RaterModel:
    r"""True levels of items, and bias, scale, noise and confusions of raters.

    Made by `Ratings.rater_model`. For each dimension, an item has a true position `z`. A rater's
    level is that of `z` plus noise with the rater's own standard deviation `s`, cut at the rater's
    own thresholds (an ordered probit model, summed over `z`):

    .. math:: z_i \sim N(0, 1), \qquad P(y_{ir} \le k) = \Phi\left(
       \frac{\tau_{r,k} \sqrt{1 + s_r^2} - z_i}{s_r}\right), \qquad
       t_i = \frac{1}{R} \sum_r E[y_{ir} \mid z_i]

    The true level `t` is the average level that the raters would give the item if each were asked
    infinitely often. The biases of the raters therefore sum to 0, and their scales have a mean of
    1; an error that all of them share is part of the true level.

    Attributes
    ----------
    items, names : tuple of str
        Names of the items and of the raters.
    levels : tuple of float
        Levels of the rubrics.
    dimensions : dict of str to OneDimension
        Results for each dimension.
    assumed : str
        Assumption about the reliability of the raters.
    error_correlation : float
        Assumed correlation between the errors of any two raters.

    References
    ----------
    Olsson (1979), Psychometrika 44, 443-460 (two raters with separate thresholds); Johnson
    (1996), JASA 91, 42-51 (bias and noise of raters of ordered levels).

    Examples
    --------
    >>> from measurement_layouts.annotation.ratings import Ratings
    >>> random = np.random.default_rng(1)
    >>> truth = random.normal(2.5, 1, 300)
    >>> said = {name: np.rint(truth + random.normal(bias, 0.6, 300)).clip(0, 5)
    ...         for name, bias in {"one": -0.3, "two": 0.3}.items()}
    >>> ratings = Ratings.from_wide({name: pd.DataFrame({"planning": levels})
    ...                              for name, levels in said.items()})
    >>> model = ratings.rater_model()
    >>> model
    <RaterModel: 300 items, 2 raters, 1 dimension; the raters are equally reliable>
    >>> model.raters()["bias"].round(1).to_dict()
    {('planning', 'one'): -0.3, ('planning', 'two'): 0.3}
    """

    items: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[float, ...]
    dimensions: dict[str, OneDimension]
    assumed: str
    error_correlation: float

    def raters(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise bias, scale, noise and reliability of each rater, by dimension.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the intervals.

        Returns
        -------
        DataFrame
            By ``dimension`` and ``rater``: ``bias`` (mean difference between the rater's levels and
            true levels over items), ``scale`` (increase of the rater's levels when the true level
            increases by one), ``noise`` (standard deviation of the rater's levels of items with
            the same true level, which includes the rounding to whole levels) and ``reliability``
            (squared correlation with true levels), each with ``_low`` and ``_high``.

        Raises
        ------
        AnnotationError
            When `prob` is out of range.
        """
        check_resampling(prob)
        rows = {
            (dimension, name): _intervals(_TRAITS, each.traits[:, place], prob)
            for dimension, each in self.dimensions.items()
            for place, name in enumerate(self.names)
        }
        return pd.DataFrame(rows).T.rename_axis(["dimension", "rater"])

    def reliability(self, *, least: float = 0.7, prob: float = 0.9) -> pd.DataFrame:
        r"""Compute reliabilities, by dimension, and the number of annotations that would be enough.

        .. math:: \rho_k = \frac{\rho_1}{\rho_1 + (1 - \rho_1) \left(c + \frac{1 - c}{k}\right)}

        This is the reliability of the average of `k` raters. It is the formula of Spearman and
        Brown if errors are uncorrelated (`c` = 0); otherwise it stays below a limit, however many
        raters there are.

        Parameters
        ----------
        least : float, default 0.7
            Reliability that is needed.
        prob : float, default 0.9
            Mass of the intervals.

        Returns
        -------
        DataFrame
            By ``dimension``: the reliability of ``one`` rater (the mean over raters) and of the
            raters ``together`` (the share of the variance of true levels that the ratings
            explain), each with ``_low`` and ``_high``; ``enough``, whether the latter is at least
            `least`; ``needed``, the number of averaged annotations that reach it (infinite if no
            number does); ``misfit``, the distance between observed and expected shares of patterns
            of levels, in [0, 1] (NaN if no item has a level by every rater); and ``effective``,
            the effective number of draws behind the intervals.

        Raises
        ------
        AnnotationError
            When an option is out of range.

        References
        ----------
        Spearman (1910) and Brown (1910), British Journal of Psychology 3, 271-295 and 296-322.
        """
        check_resampling(prob)
        least = inside("least", least, 0.7, AnnotationError)
        rows = {}
        for dimension, each in self.dimensions.items():
            draws = np.column_stack([each.traits[..., 3].mean(axis=1), each.together])
            row = _intervals(("one", "together"), draws, prob)
            rows[dimension] = {
                **row,
                "enough": row["together"] >= least,
                "needed": _needed(row["one"], least, self.error_correlation),
                "misfit": each.misfit,
                "effective": each.effective,
            }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("dimension")
        return table.astype({"enough": bool})

    def averaged(self, raters: int) -> pd.Series:
        """Compute the reliability of the average of a number of raters, by dimension.

        Parameters
        ----------
        raters : int
            Number of raters, each of which is as reliable as the given raters are on
            average.

        Returns
        -------
        Series
            Reliability by ``dimension``; see `reliability` for the formula.

        Raises
        ------
        AnnotationError
            When `raters` is not a whole number of at least 1.
        """
        count = whole("raters", raters)
        shared = self.error_correlation
        error = shared + (1 - shared) / count
        one = {name: each.traits[..., 3].mean() for name, each in self.dimensions.items()}
        return pd.Series(
            {name: share / (share + (1 - share) * error) for name, share in one.items()},
            name="reliability",
        ).rename_axis("dimension")

    def demands(self) -> xr.DataArray:
        """Return the probabilities of true levels, for each item and dimension.

        An item that no rater rated on a dimension has the probabilities of a random item.

        Returns
        -------
        DataArray
            ``demand``, with the dims item, dimension and level; sums over level are 1.
        """
        values = np.stack([each.demands for each in self.dimensions.values()], axis=1)
        return xr.DataArray(
            values / values.sum(axis=-1, keepdims=True),
            coords={
                "item": np.array(self.items, dtype=object),
                "dimension": [*self.dimensions],
                "level": [*self.levels],
            },
            dims=("item", "dimension", "level"),
            name="demand",
        )

    def confusions(self) -> xr.DataArray:
        """Return the probabilities of a rater's levels given the true level.

        Returns
        -------
        DataArray
            ``chance``, with the dims dimension, rater, true_level and level. If no item has
            a true level, the probabilities are those of the items nearest to it.
        """
        return xr.DataArray(
            np.stack([each.confusions for each in self.dimensions.values()]),
            coords={
                "dimension": [*self.dimensions],
                "rater": [*self.names],
                "true_level": [*self.levels],
                "level": [*self.levels],
            },
            dims=("dimension", "rater", "true_level", "level"),
            name="chance",
        )

    def __repr__(self) -> str:
        return (
            f"<RaterModel: {many(len(self.items), 'item')}, {many(len(self.names), 'rater')}, "
            f"{many(len(self.dimensions), 'dimension')}; {self.assumed}>"
        )


def _needed(one: float, least: float, shared: float) -> float:
    """Compute the number of averaged raters that reach a reliability; infinite if none does."""
    room = one * (1 - least) / ((1 - one) * least) - shared
    return math.ceil((1 - shared) / room - 1e-9) if room > 0 else math.inf


def _intervals(names: Sequence[str], draws: np.ndarray, prob: float) -> dict[str, float]:
    """Compute means and intervals by name, from draws of shape (draws, names)."""
    ends = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    found: dict[str, float] = {}
    for name, mean, low, high in zip(names, draws.mean(axis=0), *ends, strict=True):
        found |= {name: float(mean), f"{name}_low": float(low), f"{name}_high": float(high)}
    return found


def assumed_of(raters: int) -> str:
    """Describe the assumption about the reliability of raters."""
    if raters == 2:
        return "the raters are equally reliable"
    return "each rater has a reliability of its own"
