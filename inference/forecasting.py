"""Success probabilities for items, with intervals."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from ..layouts import Layout
from ..linking import evaluate
from .errors import FitError
from .features import Features, align, outside_range, read_features

if TYPE_CHECKING:
    from .results import Fit

_CELLS = 20_000_000  # draws times items computed at a time


@dataclass(frozen=True, eq=False)
class Forecast:
    """Probabilities of success of some subjects on some items.

    Attributes
    ----------
    data : xarray.Dataset
        ``mean``, ``low`` and ``high`` of the success probability (subject, item); ``trained``:
        whether the subject's fit saw that very item (subject, item); ``extrapolated``: whether the
        item lies outside a declared range (item).
    prob : float
        Mass of the intervals.
    """

    data: xr.Dataset
    prob: float

    def to_frame(self) -> pd.DataFrame:
        """One row per subject and item."""
        frame = self.data.to_dataframe(dim_order=["subject", "item"]).reset_index()
        return frame[["subject", "item", "mean", "low", "high", "trained", "extrapolated"]]

    def __repr__(self) -> str:
        sizes = self.data.sizes
        outside = int(self.data["extrapolated"].sum())
        return (
            f"<Forecast: {sizes['subject']} subjects, {sizes['item']} items, {outside} of them "
            f"outside a declared range, {self.prob:.0%} intervals>"
        )


def forecast(
    fit: "Fit",
    items: pd.DataFrame,
    *,
    subjects: Sequence[object] | None = None,
    prob: float = 0.9,
) -> Forecast:
    """Forecast success on items, run or not.

    Parameters
    ----------
    fit : Fit
        Profiles.
    items : DataFrame
        Meta-features, indexed by item; columns in any order, others are ignored.
    subjects : sequence, optional
        Whose success; everybody's by default.
    prob : float, default 0.9
        Mass of the equal-tailed interval of the success probability.

    Returns
    -------
    Forecast
        Posterior means and intervals. An item outside a declared range is forecast and flagged.

    Raises
    ------
    DataError
        When a column is missing, or a value is missing, infinite or none of the levels.
    FitError
        When a subject is not in the fit, names of items repeat, or `prob` is not in (0, 1).
    """
    if not 0 < prob < 1:
        raise FitError(f"prob={prob}; give the mass of the interval, between 0 and 1, such as 0.9")
    names = [str(item) for item in items.index]
    if len(set(names)) < len(names):
        raise FitError("names of items repeat; give every item a name of its own as the index")
    who = fit.subjects if subjects is None else fit.select(subjects)
    features = read_features(fit.layout, items)
    shape = (len(who), len(names))
    mean, low, high = np.empty(shape), np.empty(shape), np.empty(shape)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    for row, subject in enumerate(who):
        for columns, drawn in success_draws(fit, subject, features):
            mean[row, columns] = drawn.mean(axis=0)
            low[row, columns], high[row, columns] = np.quantile(drawn, tails, axis=0)
    outside = outside_range(fit.layout, features).any(axis=1).to_numpy()
    cells = ("subject", "item")
    data = xr.Dataset(
        {
            "mean": (cells, mean),
            "low": (cells, low),
            "high": (cells, high),
            "trained": (cells, _trained(fit, who, names, features)),
            "extrapolated": ("item", outside),
        },
        {"subject": who, "item": names},
    )
    return Forecast(data, prob)


def success_draws(
    fit: "Fit", subject: str, features: Features
) -> Iterator[tuple[slice, np.ndarray]]:
    """Compute one subject's success probability for every draw, some items at a time.

    Yields
    ------
    slice, ndarray
        Which items, and probabilities of shape (draws, items).
    """
    posterior = fit.posterior.sel(subject=subject)
    draws = {latent.name: _flat(posterior[latent.name].to_numpy()) for latent in fit.layout.latents}
    constants = {
        constant.name: float(fit.constants[constant.name].sel(subject=subject))
        for constant in fit.layout.constants
    }
    count = len(next(iter(features.values()))) if features else 0
    step = max(1, _CELLS // len(next(iter(draws.values()))))
    for start in range(0, count, step):
        chosen = slice(start, min(start + step, count))
        part = {name: values[chosen] for name, values in features.items()}
        yield chosen, success_probability(fit.layout, part, draws, constants)


def success_probability(
    layout: Layout, features: Features, profile: Features, constants: dict[str, float]
) -> np.ndarray:
    """Compute the probability of success from profiles and items, without a sampler.

    Parameters
    ----------
    layout : Layout
        What joins them.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    profile : dict of str to ndarray
        By latent, shape (draws,) or (draws, labels).
    constants : dict of str to float
        By subject constant.

    Returns
    -------
    ndarray
        Shape (draws, items), in [0, 1].
    """
    dims = tuple(layout.dims)
    known: dict[str, object] = dict(constants)
    for feature in layout.meta_features:
        known[feature.name] = align(features[feature.name], feature, dims, per_item=True)
    for latent in layout.latents:
        known[latent.name] = align(profile[latent.name], latent, dims, leading=1, per_item=False)
    computed = np.asarray(evaluate(layout.outcome.expression, known, dims))
    if dims:
        computed = computed[(..., *[0] * len(dims))]
    draws = len(next(iter(profile.values())))
    items = len(next(iter(features.values()))) if features else computed.shape[-1]
    return np.broadcast_to(computed, (draws, items))


def item_keys(names: Sequence[str], features: Features) -> list[str]:
    """Identify items by their name and meta-features."""
    columns = [values.reshape(len(names), -1) for values in features.values()]
    table = np.concatenate(columns, axis=1) + 0.0 if columns else np.empty((len(names), 0))
    return [
        hashlib.sha256(name.encode() + b"\0" + row.tobytes()).hexdigest()
        for name, row in zip(names, table, strict=True)
    ]


def _trained(fit: "Fit", who: list[str], names: list[str], features: Features) -> np.ndarray:
    """Whether each subject's fit saw each item."""
    known = fit.constants
    training = {
        feature.name: known[feature.name].to_numpy() for feature in fit.layout.meta_features
    }
    place = {
        key: column
        for column, key in enumerate(item_keys([str(i) for i in known["item"].values], training))
    }
    attempted = fit.observed["trials"].sel(subject=who).to_numpy() > 0
    columns = [place.get(key, -1) for key in item_keys(names, features)]
    seen = np.array(columns) >= 0
    return attempted[:, columns] & seen[None, :]


def _flat(draws: np.ndarray) -> np.ndarray:
    """Join chains and draws into one axis."""
    return draws.reshape(-1, *draws.shape[2:])
