"""Places of items on the scale of a capability: the level with a success probability of 1/2."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...layouts import Capability, Latent
from ...layouts.elements import Element, find_elements
from ...layouts.plates import ITEM, SUBJECT, plate_name
from ..evaluator import Evaluator
from ..model.unseen import refuse_unseen
from ..posterior.posterior import Posterior, some_draws, stacked

_DRAWS = 400  # posterior draws that are used
_REACH = 20.0  # half-width of the search range, in standard deviations of the subjects
_EVEN = 0.5
_HALVINGS = 34  # bisection steps
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
    names, tail, tables = fit.constants.indexes[ITEM].map(str), (1 - prob) / 2, []
    for element in capabilities_of(fit, nodes):
        places = _places(fit, element, *_ends(fit, element))
        low, middle, high = np.quantile(
            places, [tail, 0.5, 1 - tail], axis=1, method="inverted_cdf"
        )
        beyond = np.select([middle == np.inf, middle == -np.inf], [HARDER, EASIER], "")
        columns = {"node": element.latent.name, "label": element.label, "item": names}
        columns |= {"place": np.where(beyond == "", middle, np.nan), "low": low, "high": high}
        columns |= {"reached": np.isfinite(places).mean(axis=1), "beyond": beyond}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def capabilities_of(fit: Posterior, nodes: str | Sequence[str] | None) -> list[Element]:
    """Find the elements of capabilities that have a value per subject."""
    named = find_elements(fit.elements, nodes)
    chosen = [one for one in named if isinstance(one.latent, Capability) and not one.levels]
    if not chosen or (nodes is not None and len(chosen) < len(named)):
        what = f"layout {fit.layout.name!r} has no capability with a value per subject"
        if nodes is not None:
            wrong = next(one for one in named if one not in chosen)
            what = f"{wrong.name} is a {wrong.latent.kind}"
        raise FitError(f"items are placed on the scale of a capability, and {what}")
    return chosen


def _average_subject(fit: Posterior) -> dict[str, np.ndarray]:
    """Return values of the average subject by node, shape (items or 1, *labels, draws or 1)."""
    layout, constants, averages = fit.layout, fit.constants.variables, {}
    for node in (*layout.latents, *layout.covariates, *layout.constants):
        if not isinstance(node, Latent):
            variable = constants[node.name]
        else:
            draws = fit.posterior[node.name].stack(sample=("chain", "draw")).variable
            plates = map(plate_name, node.plates)
            levels = {name: constants[name] for name in plates if name not in (SUBJECT, ITEM)}
            variable = draws.isel(sample=some_draws(fit, _DRAWS)).isel(levels)
        if SUBJECT in variable.dims:
            variable = variable.mean(SUBJECT)
        dims = (ITEM, *(dim for dim in layout.dims if dim in variable.dims), "sample")
        sizes = {dim: variable.sizes.get(dim, 1) for dim in dims}
        averages[str(node.name)] = variable.set_dims(sizes).to_numpy()  # type: ignore[no-untyped-call]
    return averages


def _ends(fit: Posterior, element: Element) -> tuple[float, float]:
    """Return the levels between which the search for an element's place runs."""
    draws = stacked(fit, element.latent, some_draws(fit, _DRAWS))
    values = draws.reshape(*draws.shape[:2], -1)[..., element.label_index]
    reach, span = _REACH * values.std(), element.latent.range
    low = span.low if np.isfinite(span.low) else values.mean() - reach
    high = span.high if np.isfinite(span.high) else values.mean() + reach
    return float(low), float(high)


def _places(fit: Posterior, element: Element, lowest: float, highest: float) -> np.ndarray:
    """Find the levels with a success probability of 1/2 by bisection, shape (items, draws).

    A level is infinite where the success probability is above 1/2, or below, in the whole range.
    """
    chances = chances_at(fit, element)

    def below(level: np.ndarray | float) -> np.ndarray:
        """Return where the success probability is below 1/2 with the element at a level."""
        return np.asarray(chances(level) < _EVEN)

    below_at_lowest, below_at_highest = below(lowest), below(highest)
    low, high = (np.full(below_at_lowest.shape, end) for end in (lowest, highest))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        same = below(middle) == below_at_lowest
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    beyond = np.where(below_at_lowest, np.inf, -np.inf)
    return np.where(below_at_lowest != below_at_highest, (low + high) / 2, beyond)


def chances_at(fit: Posterior, element: Element) -> Callable[[np.ndarray | float], np.ndarray]:
    """Return the average subject's success by the level of one element, shape (items, draws)."""
    layout, draws, name = fit.layout, _average_subject(fit), element.latent.name
    columns = {node.name: fit.constants[node.name].to_numpy() for node in layout.row_features}
    items = fit.constants.sizes[ITEM]
    draws[name] = np.broadcast_to(draws[name], (items, *draws[name].shape[1:])).copy()
    levels = {
        latent.name: np.arange(items)
        for latent in layout.latents
        if len(draws[latent.name]) == items
    }
    evaluator = Evaluator(layout, [layout.outcome], columns, items, levels)
    moved = draws[name].reshape(items, -1, draws[name].shape[-1])

    def chances(level: np.ndarray | float) -> np.ndarray:
        """Compute the success probabilities with the element at a level."""
        moved[:, element.label_index] = level
        with np.errstate(all="ignore"):
            (values,) = evaluator(draws)
        return np.asarray(values[evaluator.row])

    return chances
