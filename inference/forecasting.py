"""Success probabilities for items, with intervals."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from ..layouts import Layout
from ..linking import evaluate
from .features import Features, align, outside_range, read_features
from .options import inside
from .tables import named
from .wording import many

if TYPE_CHECKING:
    from .results import Fit

_CELLS = 4_000_000  # draws times items times labels computed at a time: 32 MB an array
_SAME = 1e-9  # a number may go through a text file and stay the same


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

    Examples
    --------
    >>> cells = ("subject", "item")
    >>> numbers = {name: (cells, [[p]]) for name, p in (("mean", 0.6), ("low", 0.4), ("high", 0.9))}
    >>> flags = {"trained": (cells, [[False]]), "extrapolated": ("item", [True])}
    >>> Forecast(xr.Dataset(numbers | flags, {"subject": ["Ann"], "item": ["pin"]}), prob=0.9)
    <Forecast: 1 subject, 1 item, 1 of them outside a declared range, 90% intervals>
    """

    data: xr.Dataset
    prob: float

    def to_frame(self) -> pd.DataFrame:
        """Write the forecast as a table.

        Returns
        -------
        DataFrame
            One row per subject and item: ``subject``, ``item``, ``mean``, ``low``, ``high``,
            ``trained`` and ``extrapolated``.
        """
        frame = self.data.to_dataframe(dim_order=["subject", "item"]).reset_index()
        return frame[["subject", "item", "mean", "low", "high", "trained", "extrapolated"]]

    def __repr__(self) -> str:
        sizes = self.data.sizes
        outside = int(self.data["extrapolated"].sum())
        return (
            f"<Forecast: {many(sizes['subject'], 'subject')}, {many(sizes['item'], 'item')}, "
            f"{outside} of them outside a declared range, {self.prob:.0%} intervals>"
        )


def forecast(
    fit: "Fit",
    items: pd.DataFrame,
    *,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
) -> Forecast:
    """Forecast success on items, run or not.

    Parameters
    ----------
    fit : Fit
        Profiles.
    items : DataFrame
        Meta-features, indexed by item; columns in any order, others are ignored.
    subjects : iterable, optional
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
        When a column is missing, a value is missing, infinite or none of the levels, or a name
        occurs twice.
    FitError
        When a subject is not in the fit, or `prob` is not between 0 and 1.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast(result, aaio.battery(seed=2).head(3))
    <Forecast: 1 subject, 3 items, 0 of them outside a declared range, 90% intervals>
    """
    prob = inside("prob", prob, such_as=0.9)
    items = named(items, "items", "item")
    features = read_features(fit.layout, items)
    rows = fit.places(subjects)
    mean, low, high = (np.empty((len(rows), len(items))) for _ in range(3))
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    for place, row in enumerate(rows):
        for columns, drawn in success_draws(fit, row, features, len(items)):
            mean[place, columns] = drawn.mean(axis=0)
            low[place, columns], high[place, columns] = np.quantile(drawn, tails, axis=0)
    outside = outside_range(fit.layout, features).any(axis=1)
    flagged = outside.reindex(range(len(items)), fill_value=False).to_numpy(dtype=bool)
    cells = ("subject", "item")
    data = xr.Dataset(
        {
            "mean": (cells, mean),
            "low": (cells, low),
            "high": (cells, high),
            "trained": (cells, _trained(fit, rows, items.index, features)),
            "extrapolated": ("item", flagged),
        },
        {"subject": [fit.subjects[row] for row in rows], "item": list(items.index)},
    )
    return Forecast(data, prob)


def success_draws(
    fit: "Fit", row: int, features: Features, items: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Compute one subject's success probability for every draw, some items at a time.

    Parameters
    ----------
    fit : Fit
        Profiles.
    row : int
        The subject's place in the fit.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        How many.

    Yields
    ------
    slice, ndarray
        Which items, and probabilities of shape (draws, items).
    """
    layout = fit.layout
    posterior, constants = fit.posterior, fit.constants
    profile = {}
    for latent in layout.latents:
        chains = posterior[latent.name].to_numpy()[row]
        profile[latent.name] = chains.reshape(-1, *chains.shape[2:])
    own = {
        constant.name: float(constants[constant.name].to_numpy()[row])
        for constant in layout.constants
    }
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    labels = np.prod([len(names) for names in layout.dims.values()], dtype=int)
    step = max(1, _CELLS // int(draws * labels))
    for start in range(0, items, step):
        chosen = slice(start, min(start + step, items))
        part = {name: values[chosen] for name, values in features.items()}
        computed = success_probability(layout, part, profile, own)
        yield chosen, np.broadcast_to(computed, (draws, chosen.stop - chosen.start))


def success_probability(
    layout: Layout, features: Features, profile: Features, constants: Mapping[str, float]
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
    constants : mapping of str to float
        By subject constant.

    Returns
    -------
    ndarray
        Shape (draws, items), in [0, 1]; an axis along which nothing varies is of length one.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> features, profile = {"smallness": np.array([0.0, 1.0])}, {"sight": np.array([1.0])}
    >>> success_probability(layout, features, profile, {}).round(3)
    array([[0.731, 0.5  ]])
    """
    dims = tuple(layout.dims)
    known: dict[str, object] = dict(constants)
    for feature in layout.meta_features:
        known[feature.name] = align(features[feature.name], feature, dims, per_item=True)
    for latent in layout.latents:
        known[latent.name] = align(profile[latent.name], latent, dims, leading=1, per_item=False)
    computed = np.asarray(evaluate(layout.outcome.expression, known, dims))
    reduced = computed.reshape(computed.shape[: computed.ndim - len(dims)])
    return np.atleast_2d(reduced)


def _trained(fit: "Fit", rows: np.ndarray, items: pd.Index, features: Features) -> np.ndarray:
    """Whether each subject's fit saw each item: its name, and the same meta-features."""
    training = fit.constants
    attempted = fit.observed["trials"].to_numpy()[rows] > 0
    places = training.indexes["item"].map(str).get_indexer(items)
    seen = places >= 0
    for name, values in features.items():
        known = training[name].to_numpy()[places]
        same = np.isclose(values, known, rtol=_SAME, atol=_SAME / 1000)
        seen &= same.all(axis=tuple(range(1, values.ndim)))
    return np.asarray(attempted[:, places] & seen)
