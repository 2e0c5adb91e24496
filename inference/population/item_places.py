"""Where items stand on the scale of a capability: at the level at which success is even."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...layouts import Capability, Layout
from ...layouts.elements import Element, elements, find_elements
from ...layouts.plates import SUBJECT, Category
from ...linking import evaluate
from ..forecasts.reading import root
from ..model.alignment import align
from ..model.unseen import refuse_unseen
from ..posterior.posterior import Posterior
from .stacked import some_draws, stacked

type Known = dict[str, np.ndarray]

_DRAWS = 400  # of the posterior; its quantiles need no more
_CELLS = 2**21  # draws times items times labels that are computed at a time
_REACH = 20.0  # standard deviations of the subjects, beyond which nothing is looked for
_HALVINGS = 34  # of the range
_EVEN = 0.5
EASIER, HARDER = "easier", "harder"


def item_places(
    fit: Posterior, nodes: str | Sequence[str] | None = None, prob: float = 0.9
) -> pd.DataFrame:
    r"""Find the level of each capability at which the success on each item is even.

    .. math:: P(\mathrm{success}_i \mid c = x_i, \bar\theta) = \tfrac12

    for every draw of the posterior: :math:`c` is the capability, and :math:`\bar\theta` the average
    subject, whose other values are the means over the fit's subjects in that draw. What is shared,
    and what items have of their own, are the draw's. Under a Rasch model it is minus the item's
    ease; under a product of several capabilities it depends on how good the average subject is at
    the others.

    Parameters
    ----------
    fit : Posterior
        Of subjects fitted together, or each alone.
    nodes : str or sequence of str, optional
        Capabilities with a value per subject, or elements ``node[label]``; all by default.
    prob : float, default 0.9
        Mass of the equal-tailed interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row per element and item: ``node``, ``label``, ``item``, ``place`` (the median over the
        draws, in the unit of the capability), ``low`` and ``high``, ``reached`` (the share of the
        draws in which there is such a level) and ``beyond``: ``"harder"`` where most draws put the
        item above all levels, ``"easier"`` where they put it below, and empty elsewhere. Where an
        item is beyond, its place is NaN; an end of an interval that is beyond is infinite. Levels
        are looked for in the range of the capability, and where that has no end, within 20 standard
        deviations of the subjects' draws. Where success passes one half several times, one of these
        levels is found.

    Raises
    ------
    FitError
        When a node is no capability of the subjects, `prob` is out of range, outcomes are several,
        graded or scores, or something is unseen of the items.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> places = item_places(result, "visualAbility")
    >>> len(places), places.columns.tolist()[:4]
    (69, ['node', 'label', 'item', 'place'])
    """
    prob = inside("prob", prob, such_as=0.9)
    layout = fit.layout
    if layout.steps is not None:
        raise FitError(
            f"item_places needs one success per item, and layout {layout.name!r} has outcomes in "
            "steps, each with a place of its own; give a fit of a layout with a single Success"
        )
    refuse_unseen(layout, "item_places", "give a fit of items of one trial each")
    found = _capabilities(layout, nodes)
    names = fit.constants.indexes["item"].map(str)
    known = _average_subject(fit, some_draws(fit, _DRAWS))
    tail = (1 - prob) / 2
    tables = []
    for element in found:
        ends = _ends(fit, element)
        places = np.concatenate(
            [
                _even(layout, element, _at(known, rows), ends, len(names[rows]))
                for rows in _blocks(layout, len(names))
            ],
            axis=1,
        )
        low, middle, high = np.quantile(
            places, [tail, 0.5, 1 - tail], axis=0, method="inverted_cdf"
        )
        beyond = np.select([middle == np.inf, middle == -np.inf], [HARDER, EASIER], "")
        tables.append(
            pd.DataFrame(
                {
                    "node": element.latent.name,
                    "label": element.label,
                    "item": names,
                    "place": np.where(beyond == "", middle, np.nan),
                    "low": low,
                    "high": high,
                    "reached": np.isfinite(places).mean(axis=0),
                    "beyond": beyond,
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def _capabilities(layout: Layout, nodes: str | Sequence[str] | None) -> list[Element]:
    """Find elements of capabilities that subjects have."""
    known = [one for one in elements(layout) if isinstance(one.latent, Capability)]
    found = known if nodes is None else find_elements(layout, nodes)
    others = [one.name for one in found if one not in known]
    if others or not found:
        what = (
            f"{others[0]} is a {find_elements(layout, others)[0].latent.kind}"
            if others
            else (f"layout {layout.name!r} has no capability with a value per subject")
        )
        raise FitError(f"items are placed on the scale of a capability, and {what}")
    return found


def _average_subject(fit: Posterior, draws: np.ndarray) -> Known:
    """Lay out what the outcome is computed from as ``(draws, items, *labels)``.

    Values that belong to subjects, and to categories of them, are averaged over the subjects.
    """
    layout, constants = fit.layout, fit.constants
    dims = tuple(layout.dims)
    known: Known = {
        constant.name: np.mean(constants[constant.name].to_numpy()) for constant in layout.constants
    }
    for feature in layout.meta_features:
        values = constants[feature.name].to_numpy()[None]
        known[feature.name] = align(values, feature, dims, leading=1, per_item=True)
    for covariate in layout.covariates:
        mean = constants[covariate.name].to_numpy().mean(axis=0)[None]
        known[covariate.name] = align(mean, covariate, dims, leading=1, per_item=False)
    for latent in layout.latents:
        values, per_item = stacked(fit, latent, draws), False
        for axis, plate in reversed(list(enumerate(latent.plates, start=1))):
            if isinstance(plate, Category):
                values = np.take(values, constants[plate.name].to_numpy(), axis)
            if root(plate) == SUBJECT:
                values = values.mean(axis=axis)
            else:
                per_item = True
        known[latent.name] = align(values, latent, dims, leading=1, per_item=per_item)
    return known


def _blocks(layout: Layout, items: int) -> list[slice]:
    """Cut the items into blocks that take up little memory."""
    labels = math.prod(map(len, layout.dims.values()))
    size = max(1, _CELLS // (_DRAWS * labels))
    return [slice(start, start + size) for start in range(0, items, size)]


def _at(known: Known, rows: slice) -> Known:
    """Take some items of what is laid out."""
    return {
        name: values[:, rows] if np.ndim(values) and values.shape[1] > 1 else values
        for name, values in known.items()
    }


def _ends(fit: Posterior, element: Element) -> tuple[float, float]:
    """Levels between which an element is looked for."""
    latent, draws = element.latent, some_draws(fit, _DRAWS)
    own = stacked(fit, latent, draws).reshape(len(draws), len(fit.subjects), -1)[..., element.index]
    low, high = latent.range.low, latent.range.high
    return (
        float(low if np.isfinite(low) else own.mean() - _REACH * own.std()),
        float(high if np.isfinite(high) else own.mean() + _REACH * own.std()),
    )


def _even(
    layout: Layout, element: Element, known: Known, ends: tuple[float, float], items: int
) -> np.ndarray:
    """Halve the range until the level of even success is known; shape (draws, items).

    Infinite where success is more likely than not, or less, all over the range.
    """
    name, dims = element.latent.name, tuple(layout.dims)
    others = known[name]
    own = np.zeros(others.shape[2:], dtype=bool)
    own.flat[element.index] = True

    def chance(level: np.ndarray) -> np.ndarray:
        """Compute success where the element is at a level, (draws, items)."""
        lifted = level.reshape(*level.shape, *[1] * len(dims))
        values = known | {name: np.where(own, lifted, others)}
        found = np.asarray(evaluate(layout.outcome.expression, values, dims))
        found = np.broadcast_to(found, (*level.shape, *[1] * len(dims)))
        return found.reshape(level.shape)

    shape = len(others), items
    low, high = (np.full(shape, end) for end in ends)
    below, above = chance(low) < _EVEN, chance(high) > _EVEN
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        under = (chance(middle) < _EVEN) == below
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.where(below == above, (low + high) / 2, np.where(below, np.inf, -np.inf))
