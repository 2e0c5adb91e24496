"""How well a fit measures: reliability, item curves, test information, and raw scores."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...layouts.elements import Element
from ...layouts.plates import ITEM
from ..model.unseen import refuse_unseen
from ..posterior.diagnostics import profiles
from ..posterior.posterior import Posterior
from .item_places import capabilities_of, chances_at

_LEVELS = 81  # levels at which curves are computed
_STEP = 1e-4  # of a numerical derivative, as a share of the range of levels


def reliability(fit: Posterior) -> pd.DataFrame:
    r"""Compute the reliability of each profile element: what share of its variance is not error.

    .. math:: 1 - \frac{\overline{\mathrm{var}}_{post}}
       {\mathrm{var}(\mathrm{mean}_{post}) + \overline{\mathrm{var}}_{post}}

    over the subjects of the fit. It describes these subjects: among more alike ones it is lower.

    Parameters
    ----------
    fit : Posterior
        A fit, joint or not, of two subjects or more.

    Returns
    -------
    DataFrame
        One row per element: ``node``, ``label``, ``subjects``, ``error_variance`` (mean posterior
        variance), ``variance`` (total) and ``reliability``, in [0, 1].

    Raises
    ------
    FitError
        When the fit has fewer than two subjects.

    References
    ----------
    Bechger, Maris, Verstralen and Beguin (2003), Applied Psychological Measurement 27, 319-334, on
    the reliability of estimates and the marginal reliability of posterior means.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-60"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> bool(reliability(result)["reliability"].between(0, 1).all())
    True
    """
    if len(fit.subjects) < 2:
        raise FitError("reliability compares subjects, and the fit has one; fit two or more")
    table = profiles(fit)
    table = table.assign(error=table["sd"] ** 2)
    by = table.groupby(["node", "label"], sort=False)
    error, between = by["error"].mean(), by["mean"].var(ddof=1)
    total = error + between
    columns = {"subjects": by.size(), "error_variance": error, "variance": total}
    return pd.DataFrame({**columns, "reliability": 1 - error / total}).reset_index()


def item_curves(
    fit: Posterior,
    node: str | None = None,
    items: Sequence[object] | None = None,
    prob: float = 0.9,
) -> pd.DataFrame:
    """Compute the average subject's success on each item by the level of a capability.

    Parameters
    ----------
    fit : Posterior
        A fit, joint or not.
    node : str, optional
        Capability, or element ``node[label]`` (default: the first).
    items : sequence, optional
        Items (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per item and level: ``item``, ``level``, ``success`` (mean over draws), ``low`` and
        ``high``.

    Raises
    ------
    FitError
        As in `item_places`, and when an item is unknown.

    References
    ----------
    Lord (1980), Applications of item response theory to practical testing problems.
    """
    tail = (1 - inside("prob", prob, such_as=0.9)) / 2
    element, levels = _levels(fit, node)
    names = fit.constants.indexes[ITEM].map(str)
    chosen = list(names) if items is None else [str(item) for item in items]
    unknown = [item for item in chosen if item not in names]
    if unknown:
        raise FitError(f"no item {unknown[0]} in this fit; it has {names[0]} and others")
    rows, chances = names.get_indexer(pd.Index(chosen)), chances_at(fit, element)
    tables = []
    for level in levels:
        values = chances(level)[rows]
        low, high = np.quantile(values, [tail, 1 - tail], axis=1)
        columns = {"item": chosen, "level": level, "success": values.mean(axis=1)}
        tables.append(pd.DataFrame({**columns, "low": low, "high": high}))
    return pd.concat(tables, ignore_index=True)


def information(fit: Posterior, node: str | None = None, prob: float = 0.9) -> pd.DataFrame:
    r"""Compute what all items tell about a capability, by its level.

    .. math:: I(x) = \sum_i \frac{P_i'(x)^2}{P_i(x)\,(1 - P_i(x))}, \qquad
       \mathrm{se}(x) = \frac{1}{\sqrt{I(x)}}

    for one trial of each item by the average subject, whose other values are held at their means.

    Parameters
    ----------
    fit : Posterior
        A fit, joint or not.
    node : str, optional
        Capability, or element ``node[label]`` (default: the first).
    prob : float, default 0.9
        Mass of the equal-tailed intervals over the draws, in (0, 1).

    Returns
    -------
    DataFrame
        One row per level: ``level``, ``information`` (median over draws), ``low``, ``high``,
        ``se``, and ``score``, the expected number of items that are solved.

    Raises
    ------
    FitError
        As in `item_places`.

    References
    ----------
    Birnbaum (1968), in Lord and Novick, Statistical theories of mental test scores, chapter 20.
    """
    tail = (1 - inside("prob", prob, such_as=0.9)) / 2
    element, levels = _levels(fit, node)
    chances, step = chances_at(fit, element), _STEP * float(np.ptp(levels))
    rows = []
    for level in levels:
        success = chances(level).clip(1e-12, 1 - 1e-12)
        slope = (chances(level + step) - chances(level - step)) / (2 * step)
        values = (slope**2 / (success * (1 - success))).sum(axis=0)
        low, middle, high = np.quantile(values, [tail, 0.5, 1 - tail])
        rows.append((level, middle, low, high, middle**-0.5, success.sum(axis=0).mean()))
    return pd.DataFrame(rows, columns=["level", "information", "low", "high", "se", "score"])


def raw_scores(fit: Posterior, node: str | None = None) -> pd.DataFrame:
    """Turn numbers of solved items into levels of a capability, with their standard errors.

    The level of a score is that at which the average subject is expected to solve so many items, if
    it tries each once: under a Rasch model the maximum-likelihood estimate.

    Parameters
    ----------
    fit : Posterior
        A fit, joint or not.
    node : str, optional
        Capability, or element ``node[label]`` (default: the first).

    Returns
    -------
    DataFrame
        One row per score from 1 to the number of items minus 1 that is reached within the range of
        levels: ``score``, ``estimate`` and ``se``.

    Raises
    ------
    FitError
        As in `item_places`.

    References
    ----------
    Wright and Stone (1979), Best test design, chapter 7.
    """
    table = information(fit, node)
    scores = np.arange(1, fit.constants.sizes[ITEM])
    rising = table["score"].cummax().drop_duplicates()
    curve = table.loc[rising.index]
    scores = scores[(scores >= curve["score"].min()) & (scores <= curve["score"].max())]
    estimates = np.interp(scores, curve["score"], curve["level"])
    errors = np.interp(estimates, table["level"], table["se"])
    return pd.DataFrame({"score": scores, "estimate": estimates, "se": errors})


def _levels(fit: Posterior, node: str | None) -> tuple[Element, np.ndarray]:
    """Find a capability, and levels around those of the subjects and within its range."""
    if fit.layout.steps is not None:
        raise FitError("curves need one success per item; give a fit of a layout without steps")
    refuse_unseen(fit.layout, "item_curves", "give a fit of items of one trial each")
    element = capabilities_of(fit, node)[0]
    table = profiles(fit)
    own = table[(table["node"] == element.latent.name) & (table["label"] == element.label)]
    room = 2 * (own["mean"].std(ddof=0) + own["sd"].mean())
    span = element.latent.range
    low, high = own["mean"].min() - room, own["mean"].max() + room
    inner = 1e-3 * (high - low)  # a derivative needs levels on both sides
    ends = max(low, span.low + inner), min(high, span.high - inner)
    return element, np.linspace(*ends, _LEVELS)
