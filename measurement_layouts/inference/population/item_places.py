"""Places of items on the scale of a capability: the level with a success probability of 1/2."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...layouts import Capability
from ...layouts.elements import Element, find_elements
from ...layouts.plates import SUBJECT, Category, root
from ..evaluator import Evaluator
from ..model.unseen import refuse_unseen
from ..posterior.posterior import Posterior, some_draws, stacked

_DRAWS = 400  # posterior draws that are used
_CELLS = 2**21  # draws times items times labels that are computed at a time
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
    average = _AverageSubject(fit)
    size = max(1, _CELLS // (_DRAWS * math.prod(map(len, layout.dims.values()))))
    items = np.arange(len(average.items))
    blocks = np.split(items, items[size::size])
    tables = []
    for element in _capabilities(fit, nodes):
        places = np.concatenate([average.places(element, block) for block in blocks])
        tail = (1 - prob) / 2
        ends = [tail, 0.5, 1 - tail]
        low, middle, high = np.quantile(places, ends, axis=1, method="inverted_cdf")
        beyond = np.select([middle == np.inf, middle == -np.inf], [HARDER, EASIER], "")
        columns = {
            "node": element.latent.name,
            "label": element.label,
            "item": average.items,
            "place": np.where(beyond == "", middle, np.nan),
            "low": low,
            "high": high,
            "reached": np.isfinite(places).mean(axis=1),
            "beyond": beyond,
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def _capabilities(fit: Posterior, nodes: str | Sequence[str] | None) -> list[Element]:
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


class _AverageSubject:
    """The subject whose values are the means over the fit's subjects, in each of some draws."""

    def __init__(self, fit: Posterior) -> None:
        layout, constants = fit.layout, fit.constants
        self._fit, self._draws = fit, some_draws(fit, _DRAWS)
        self.items = constants.indexes["item"].map(str)
        rows = np.arange(len(self.items))
        self._columns = {one.name: constants[one.name].to_numpy() for one in layout.row_features}
        for node in (*layout.covariates, *layout.constants):
            mean = constants[node.name].to_numpy().mean(axis=0)
            self._columns[str(node.name)] = np.broadcast_to(mean, (len(rows), *mean.shape))
        self._levels, self._values = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for latent in layout.latents:
            values, codes = stacked(fit, latent, self._draws), list[np.ndarray]()
            for axis, plate in reversed(list(enumerate(latent.plates, start=1))):
                of = constants[plate.name].to_numpy() if isinstance(plate, Category) else None
                if root(plate) == SUBJECT:
                    of_subjects = values if of is None else np.take(values, of, axis)
                    values = of_subjects.mean(axis=axis)
                else:
                    codes.insert(0, rows if of is None else of)
            sizes = values.shape[1 : 1 + len(codes)]
            if codes:
                self._levels[latent.name] = np.ravel_multi_index(codes, sizes)
            flat = values.reshape(len(values), math.prod(sizes), *values.shape[1 + len(codes) :])
            self._values[latent.name] = np.moveaxis(flat, 0, -1)

    def places(self, element: Element, items: np.ndarray) -> np.ndarray:
        """Find the levels with a success probability of 1/2 by bisection, shape (items, draws).

        A level is infinite where the success probability is above 1/2, or below, in the whole
        range.
        """
        name = element.latent.name
        evaluator = Evaluator(
            self._fit.layout,
            [self._fit.layout.outcome],
            {column: values[items] for column, values in self._columns.items()},
            len(items),
            {latent: codes[items] for latent, codes in self._levels.items()}
            | {name: np.arange(len(items))},
        )
        moved = np.repeat(self._values[name], len(items), axis=0)
        flat = moved.reshape(len(items), -1, len(self._draws))

        def below(levels: np.ndarray) -> np.ndarray:
            flat[:, element.label_index] = levels
            with np.errstate(all="ignore"):
                (chances,) = evaluator(self._values | {name: moved})
            return np.asarray(chances[evaluator.row] < _EVEN)

        low, high = (np.full((len(items), len(self._draws)), end) for end in self._ends(element))
        below_at_low, below_at_high = below(low), below(high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            same = below(middle) == below_at_low
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        beyond = np.where(below_at_low, np.inf, -np.inf)
        return np.where(below_at_low != below_at_high, (low + high) / 2, beyond)

    def _ends(self, element: Element) -> tuple[float, float]:
        """Return the levels between which the search for an element's place runs."""
        of_subjects = stacked(self._fit, element.latent, self._draws)
        values = of_subjects.reshape(*of_subjects.shape[:2], -1)[..., element.label_index]
        reach, span = _REACH * values.std(), element.latent.range
        low = span.low if np.isfinite(span.low) else values.mean() - reach
        high = span.high if np.isfinite(span.high) else values.mean() + reach
        return float(low), float(high)
