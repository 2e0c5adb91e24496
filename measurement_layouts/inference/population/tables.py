"""Tables of a joint fit's estimates for items and for the population."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...evaluations.steps import Rows
from ...layouts import Latent
from ...layouts.elements import elements_of
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name, root
from ..posterior.cohort import cohort_of
from ..posterior.conflicts import shared_conflicts
from ..posterior.posterior import Posterior, draws_of
from ..posterior.summaries import summarise

_INTERVAL = ("mean", "sd", "low", "high")
_MIXED = ("ess_bulk", "ess_tail", "rhat")


def items(fit: Posterior, *, prob: float = 0.9) -> pd.DataFrame:
    """Summarise the effects of items and of their categories.

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        One row per node, level and label, in the nodes' units: ``node``, ``label``, a column for
        each plate (``item``, or a category such as ``task``; empty where the node has no such
        plate), ``mean``, ``sd``, ``low``, ``high``, ``ess_bulk``, ``ess_tail``, ``rhat`` (NaN for a
        single chain); and the numbers of ``trials`` at the level and of ``subjects`` that attempted
        it. The table has no rows if items have no effects.

    Raises
    ------
    FitError
        When the fit is not joint, or `prob` is not between 0 and 1.

    References
    ----------
    Vehtari et al. (2021) for R-hat and the effective sample sizes.

    Examples
    --------
    >>> from measurement_layouts import Capability, Effect, Evaluation, Layout
    >>> from measurement_layouts import Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", prior=Prior("Normal", mu=0, sigma=Spread("spread")))
    >>> ease = Effect("ease", per="item", prior=Prior("Normal", mu=0, sigma=1))
    >>> layout = Layout("quiz", Success("solved", logistic(skill + ease)))
    >>> solved = pd.DataFrame([[1, 0], [1, 1], [0, 0]], ["Ann", "Bob", "Cy"], ["sum", "product"])
    >>> found = fit(layout, Evaluation.from_wide(solved, pd.DataFrame(index=solved.columns)),
    ...             draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> items(found)[["node", "item", "trials", "subjects"]]
       node     item  trials  subjects
    0  ease      sum       3         3
    1  ease  product       3         3
    """
    prob = _checked(fit, "items()", prob)
    effects = [one for one in fit.shared if any(root(plate) == ITEM for plate in one.plates)]
    plates = list(dict.fromkeys(plate_name(plate) for one in effects for plate in one.plates))
    tables = []
    for latent in effects:
        table, counts = _summarised(fit, latent, prob), _attempted(fit, latent.plates)
        levels = pd.DataFrame(table["level"].tolist(), columns=[*map(plate_name, latent.plates)])
        repeated = np.repeat(np.arange(len(counts)), len(table) // len(counts))
        counts_by_row = counts.iloc[repeated].reset_index(drop=True)
        tables.append(pd.concat([table, levels, counts_by_row], axis=1))
    columns = dict.fromkeys(("node", "label", *plates), "str")
    columns |= dict.fromkeys((*_INTERVAL, *_MIXED), "float")
    columns |= dict.fromkeys(("trials", "subjects"), "int")
    table = _concatenated(tables, columns)
    return table.fillna(dict.fromkeys(plates, "")).astype(columns)


def population(fit: Posterior, *, prob: float = 0.9) -> pd.DataFrame:
    r"""Summarise values that subjects share: means, weights, spreads, and effects of groups.

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        One row per node, level and label, in the nodes' units: ``node``, ``label``, ``level``
        (empty without plates; of several plates, joined by commas), ``mean``, ``sd``, ``low``,
        ``high``, ``ess_bulk``, ``ess_tail``, ``rhat`` (NaN for a single chain), ``shrinkage``
        (:math:`1 - \mathrm{var}_{post} / \mathrm{var}_{prior}`) and ``prior_conflict``, whether
        the outcomes and a prior of fixed parameters disagree on the value (in at most about 1 % of
        values that come from their prior; see `conflicts.shared_conflicts`).

    Raises
    ------
    FitError
        When the fit is not joint, or `prob` is not between 0 and 1.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", prior=Prior("Normal", mu=0, sigma=Spread("spread")))
    >>> layout = Layout("quiz", Success("solved", logistic(skill)))
    >>> solved = pd.DataFrame([[1, 0], [1, 1], [0, 0]], ["Ann", "Bob", "Cy"], ["sum", "product"])
    >>> found = fit(layout, Evaluation.from_wide(solved, pd.DataFrame(index=solved.columns)),
    ...             draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> population(found)["node"].tolist()
    ['spread']
    """
    prob = _checked(fit, "population()", prob)
    conflicts = {one.latent.name: one.surprising.ravel() for one in shared_conflicts(fit)}
    tables = []
    for latent in fit.shared:
        if all(root(plate) == SUBJECT for plate in latent.plates):
            table = _summarised(fit, latent, prob)
            levels = [", ".join(level) for level in table["level"]]
            conflict = conflicts.get(latent.name, np.zeros(len(table), dtype=bool))
            tables.append(table.assign(level=levels, prior_conflict=conflict))
    columns = dict.fromkeys(("node", "label", "level"), "str")
    columns |= dict.fromkeys((*_INTERVAL, *_MIXED, "shrinkage"), "float")
    columns["prior_conflict"] = "bool"
    return _concatenated(tables, columns).astype(columns)


def _checked(fit: Posterior, what: str, prob: float) -> float:
    """Check the mass of intervals, and that the fit is joint."""
    if not fit.layout.joint:
        raise FitError(
            f"{what}: under layout {fit.layout.name!r} each subject was fitted alone, so there are "
            "no shared values; use profiles() for estimates of subjects, or fit a layout with a "
            "node per='item' or per='population'"
        )
    return inside("prob", prob, such_as=0.9)


def _summarised(fit: Posterior, latent: Latent, prob: float) -> pd.DataFrame:
    """Summarise a shared latent, with one row per level and label; levels are tuples."""
    elements = elements_of(latent, fit.levels)
    numbers = summarise(draws_of(fit, latent), fit.prior[latent.name], prob)
    columns = {name: numbers[name].ravel() for name in (*_INTERVAL, *_MIXED, "shrinkage")}
    labels = [", ".join(one.labels) for one in elements]
    levels = pd.Series([one.levels for one in elements], dtype=object)
    return pd.DataFrame({"node": latent.name, "label": labels, "level": levels} | columns)


def _concatenated(tables: Sequence[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Join tables, which may be none, with the given columns."""
    empty = pd.DataFrame(columns=list(columns), dtype=object)
    return pd.concat(tables, ignore_index=True)[empty.columns] if tables else empty


def _attempted(fit: Posterior, plates: Sequence[Plate]) -> pd.DataFrame:
    """Count trials at each combination of levels, and the subjects that attempted it."""
    cohort = cohort_of(fit)
    begins = np.ones(len(cohort.row), dtype=bool)
    if fit.layout.steps is not None:  # an attempt is a trial of the first step of an outcome
        first = Rows.read(map(str, fit.constants.indexes[ITEM])).first
        begins = (first == np.arange(len(first)))[cohort.row]
    sizes, subject = cohort.size(plates), cohort.subject[begins]
    codes = np.ravel_multi_index([cohort.codes(plate)[begins] for plate in plates], sizes)
    cells = pd.DataFrame({"trials": cohort.trials[begins], "subjects": subject}).groupby(codes)
    counts = cells.agg({"trials": "sum", "subjects": "nunique"})
    return counts.reindex(range(math.prod(sizes)), fill_value=0)
