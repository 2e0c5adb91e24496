"""Places of items on the scale of a capability: the level with a success probability of 1/2."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...layouts import Capability, Layout
from ...layouts.elements import Element, find_elements
from ...layouts.plates import SUBJECT, Category, root
from ...linking import evaluate
from ..model.alignment import align
from ..model.unseen import refuse_unseen
from ..posterior.posterior import Posterior, some_draws, stacked

type Known = dict[str, np.ndarray]

_DRAWS = 400  # posterior draws that are used
_CELLS = 2**21  # draws times items times labels that are computed at a time
_REACH = 20.0  # half-width of the search range, in standard deviations of the subjects
_HALVINGS = 34  # bisection steps
_EVEN = 0.5
EASIER, HARDER = "easier", "harder"


def item_places(
    fit: Posterior, nodes: str | Sequence[str] | None = None, prob: float = 0.9
) -> pd.DataFrame:
    r"""Find the level of each capability at which success on each item has probability 1/2.

    .. math:: P(\mathrm{success}_i \mid c = x_i, \bar\theta) = \tfrac12

    for every draw of the posterior: :math:`c` is the capability, and :math:`\bar\theta` the average
    subject, whose other values are the means over the fit's subjects in that draw. Shared values
    and item effects are those of the draw. Under a Rasch model the place is minus the item's ease.
    Under a product of several capabilities it depends on the average subject's other capabilities.

    Parameters
    ----------
    fit : Posterior
        A fit, joint or not.
    nodes : str or sequence of str, optional
        Capabilities with a value per subject, or elements ``node[label]`` (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row per element and item: ``node``, ``label``, ``item``, ``place`` (the median over the
        draws, in the unit of the capability), ``low`` and ``high``, ``reached`` (the share of the
        draws in which there is such a level) and ``beyond``: ``"harder"`` if the item is above all
        levels in most draws, ``"easier"`` if it is below all levels, and empty otherwise. The place
        of an item that is beyond is NaN, and an interval's end that is beyond is infinite. The
        search covers the range of the capability; where the range is infinite, it covers 20
        standard deviations of the subjects' draws. If the success probability crosses 1/2 several
        times, one of these levels is returned.

    Raises
    ------
    FitError
        When a node is not a capability of the subjects, `prob` is out of range, the layout has
        several outcomes, graded outcomes or scores, or an unseen property of items.

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
            f"item_places needs one success per item, but layout {layout.name!r} has outcomes in "
            "steps, each with its own place; give a fit of a layout with a single Success"
        )
    refuse_unseen(layout, "item_places", "give a fit of items of one trial each")
    found = _capabilities(fit, nodes)
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


def _capabilities(fit: Posterior, nodes: str | Sequence[str] | None) -> list[Element]:
    """Find the elements of capabilities that have a value per subject."""
    known = [one for one in fit.elements if isinstance(one.latent, Capability) and not one.levels]
    found = known if nodes is None else find_elements(fit.elements, nodes)
    others = [one.name for one in found if one not in known]
    if others or not found:
        what = (
            f"{others[0]} is a {find_elements(fit.elements, others)[0].latent.kind}"
            if others
            else (f"layout {fit.layout.name!r} has no capability with a value per subject")
        )
        raise FitError(f"items are placed on the scale of a capability, and {what}")
    return found


def _average_subject(fit: Posterior, draws: np.ndarray) -> Known:
    """Arrange the values from which the outcome is computed as ``(draws, items, *labels)``.

    Values of subjects, and of categories of subjects, are averaged over the subjects.
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
    """Divide the items into blocks, to bound the memory used."""
    labels = math.prod(map(len, layout.dims.values()))
    size = max(1, _CELLS // (_DRAWS * labels))
    return [slice(start, start + size) for start in range(0, items, size)]


def _at(known: Known, rows: slice) -> Known:
    """Return some items of the arranged values."""
    return {
        name: values[:, rows] if np.ndim(values) and values.shape[1] > 1 else values
        for name, values in known.items()
    }


def _ends(fit: Posterior, element: Element) -> tuple[float, float]:
    """Return the levels between which the search for an element's place runs."""
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
    """Find the level with a success probability of 1/2 by bisection; shape (draws, items).

    The level is infinite where the success probability is above 1/2, or below, in the whole range.
    """
    name, dims = element.latent.name, tuple(layout.dims)
    others = known[name]
    own = np.zeros(others.shape[2:], dtype=bool)
    own.flat[element.index] = True

    def chance(level: np.ndarray) -> np.ndarray:
        """Compute the success probability with the element at a level, (draws, items)."""
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
