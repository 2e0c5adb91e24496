"""A fitted model of raters: true levels of items, and the errors of each rater."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from ..common.messages import many, some
from ..linking.real import real
from .inputs import whole
from .rater_dimension import OneDimension
from .resampling import check_resampling

_TRAITS = ("bias", "scale", "noise", "reliability")


@dataclass(frozen=True, eq=False)
class RaterModel:
    r"""True levels of items, and bias, scale, noise and confusions of raters.

    Made by `Ratings.rater_model`. For each dimension, an item has a true place `z`, and a rater's
    level is that of `z` with the rater's own noise `s`, cut where the rater's own thresholds lie
    (an ordered probit, summed over `z`):

    .. math:: z_i \sim N(0, 1), \qquad P(y_{ir} \le k) = \Phi\left(
       \frac{\tau_{r,k} \sqrt{1 + s_r^2} - z_i}{s_r}\right), \qquad
       t_i = \frac{1}{R} \sum_r E[y_{ir} \mid z_i]

    The true level `t` is what the raters would say of the item on average, if they were asked again
    and again. So biases of the raters sum to 0, and their scales have a mean of 1: an error that
    all of them share is part of the truth.

    Attributes
    ----------
    items, names : tuple of str
        Of the items, and of the raters.
    levels : tuple of float
        Of the rubrics.
    dimensions : dict of str to OneDimension
        What was found.
    assumed : str
        What was assumed about the reliability of the raters.
    error_correlation : float
        What was assumed of the errors of any two raters.

    References
    ----------
    Olsson (1979), Psychometrika 44, 443-460 (two raters with thresholds of their own); Johnson
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
            Of the intervals.

        Returns
        -------
        DataFrame
            By ``dimension`` and ``rater``: ``bias`` (how much higher its levels are than true ones,
            on average over items), ``scale`` (by how much they rise when the true level rises by
            one), ``noise`` (standard deviation of its levels of items that are truly alike, the
            rounding to whole levels included) and ``reliability`` (squared correlation with true
            levels), each with ``_low`` and ``_high``.

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
        r"""Compute reliabilities, by dimension, and how many annotations would be enough.

        .. math:: \rho_k = \frac{\rho_1}{\rho_1 + (1 - \rho_1) \left(c + \frac{1 - c}{k}\right)}

        This is the reliability of `k` averaged raters, of Spearman and Brown where the errors do
        not correlate (`c` = 0). Where they do, it never passes that of endlessly many.

        Parameters
        ----------
        least : float, default 0.7
            The reliability that is needed.
        prob : float, default 0.9
            Of the intervals.

        Returns
        -------
        DataFrame
            By ``dimension``: the reliability of ``one`` rater (the mean over raters) and of the
            raters ``together`` (the share of the variance of true levels that the ratings tell),
            each with ``_low`` and ``_high``; whether that is ``enough``, at least `least`; how many
            averaged annotations are ``needed`` for it (infinite where no number is enough);
            ``misfit``, the share of items whose levels the model has elsewhere; and the
            ``effective`` draws that the intervals rest on.

        Raises
        ------
        AnnotationError
            When an option is out of range.

        References
        ----------
        Spearman (1910) and Brown (1910), British Journal of Psychology 3, 271-295 and 296-322.
        """
        check_resampling(prob)
        if not 0 < least < 1:
            raise AnnotationError(f"least={least!r}; give a number between 0 and 1, such as 0.7")
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
        """Reliability of so many raters, averaged, of each dimension.

        Parameters
        ----------
        raters : int
            How many, each as reliable as those at hand are on average.

        Returns
        -------
        Series
            By ``dimension``, see `reliability`.

        Raises
        ------
        AnnotationError
            When it is no whole number of at least 1.
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
        """Chances of true levels, for each item and dimension.

        Items that nobody rated in a dimension have the chances of any item.

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
        """Chances of the level that a rater says, given the true level.

        Returns
        -------
        DataArray
            ``chance``, with the dims dimension, rater, true_level and level. Where no item has a
            true level, it is that of the items nearest to it.
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
    """Count the averaged raters that reach a reliability; infinite where no number does."""
    room = one * (1 - least) / ((1 - one) * least) - shared
    return math.ceil((1 - shared) / room - 1e-9) if room > 0 else math.inf


def _intervals(names: Sequence[str], draws: np.ndarray, prob: float) -> dict[str, float]:
    """Means with intervals, by name: draws x names."""
    ends = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    found: dict[str, float] = {}
    for name, mean, low, high in zip(names, draws.mean(axis=0), *ends, strict=True):
        found |= {name: float(mean), f"{name}_low": float(low), f"{name}_high": float(high)}
    return found


def assumed_of(raters: int, stated: set[str]) -> str:
    """Say what is assumed of the reliability of raters."""
    if stated:
        return f"the reliability of {', '.join(sorted(stated))} is stated"
    if raters == 2:
        return "the raters are equally reliable"
    return "each rater has a reliability of its own"


def read_reliabilities(
    reliability: object, names: Sequence[str], dimensions: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Read stated reliabilities: by dimension and rater.

    Raises
    ------
    AnnotationError
        When one is out of range or names nobody; when a single rater has none, or all raters have
        one.
    """
    given = {} if reliability is None else reliability
    if not isinstance(given, Mapping):
        raise AnnotationError(
            f"reliability={reliability!r}; give a mapping from raters to numbers, such as "
            f"{{{names[0]!r}: 0.7}}"
        )
    found: dict[str, dict[str, float]] = {name: {} for name in dimensions}
    for rater, value in given.items():
        by_dimension = value if isinstance(value, Mapping) else dict.fromkeys(dimensions, value)
        for known, name, what in (
            (names, rater, "rater"),
            *((dimensions, each, "dimension") for each in by_dimension),
        ):
            if name not in known:
                raise AnnotationError(
                    f"reliability: there is no {what} {name!r}; there is {some(known)}"
                )
        for dimension, number in by_dimension.items():
            share = real(number)
            if share is None or not 0.001 <= share <= 0.999:
                raise AnnotationError(
                    f"reliability of {rater!r} in {dimension!r} is {number!r}; give a number from "
                    "0.001 to 0.999, such as 0.7"
                )
            found[dimension][str(rater)] = share
    for dimension, stated in found.items():
        if len(names) == 1 and not stated:
            raise AnnotationError(
                f"there is only the rater {names[0]!r}, and one rater does not show its noise; "
                f"state its reliability in {dimension!r}, such as "
                f"reliability={{{names[0]!r}: 0.7}}, or add a rater"
            )
        if len(names) > 1 and len(stated) == len(names):
            raise AnnotationError(
                f"reliability: all raters of {dimension!r} have one stated, and their agreement "
                "says what one of them is; leave one out"
            )
    return found
