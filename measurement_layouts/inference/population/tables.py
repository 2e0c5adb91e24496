"""Tables of a joint fit's estimates for items and for the population."""

from collections.abc import Sequence

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
    own = [one for one in fit.shared if any(root(plate) == ITEM for plate in one.plates)]
    plates = list(dict.fromkeys(plate_name(plate) for latent in own for plate in latent.plates))
    columns = {name: "str" for name in ("node", "label", *plates)}
    columns |= dict.fromkeys((*_INTERVAL, *_MIXED), "float")
    columns |= dict.fromkeys(("trials", "subjects"), "int")
    parts = []
    for latent in own:
        table = _summarised(fit, latent, prob)
        names = [plate_name(plate) for plate in latent.plates]
        levels = pd.DataFrame(table.pop("level").tolist(), columns=names)
        counted = _attempted(fit, latent.plates)
        labels = len(table) // len(counted["trials"])
        counts = pd.DataFrame({name: np.repeat(own, labels) for name, own in counted.items()})
        parts.append(pd.concat([table, levels, counts], axis=1))
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
    for name in plates:
        whole[name] = whole[name].fillna("")
    return whole[list(columns)].astype(columns)


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
    columns = {"node": "str", "label": "str", "level": "str"}
    columns |= dict.fromkeys((*_INTERVAL, *_MIXED, "shrinkage"), "float")
    parts = [
        _summarised(fit, latent, prob)
        for latent in fit.shared
        if all(root(plate) == SUBJECT for plate in latent.plates)
    ]
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
    whole["level"] = [", ".join(level) for level in whole["level"]]
    conflicts = {each.latent.name: each.surprising.ravel() for each in shared_conflicts(fit)}
    counts = [len(part) for part in parts]
    names = [part["node"].iloc[0] for part in parts]
    flags = [conflicts.get(n, np.zeros(c, bool)) for n, c in zip(names, counts, strict=True)]
    table = whole[list(columns)].astype(columns)
    return table.assign(prior_conflict=np.concatenate([np.zeros(0, bool), *flags]))


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
    own = elements_of(latent, fit.levels)
    table = pd.DataFrame({"node": latent.name, "label": [", ".join(one.labels) for one in own]})
    table["level"] = [one.levels for one in own]
    numbers = summarise(draws_of(fit, latent), fit.prior[latent.name], prob)
    columns = (*_INTERVAL, *_MIXED, "shrinkage")
    return table.assign(**{name: numbers[name].ravel() for name in columns})


def _attempted(fit: Posterior, plates: Sequence[Plate]) -> dict[str, np.ndarray]:
    """Count trials at each combination of levels, and the subjects that attempted it."""
    cohort = cohort_of(fit)
    begins = np.ones(len(cohort.row), dtype=bool)
    if fit.layout.steps is not None:  # an attempt is a trial of the first step of an outcome
        first = Rows.read(map(str, fit.constants.indexes[ITEM])).first
        begins = (first == np.arange(len(first)))[cohort.row]
    sizes, subject = cohort.size(plates), cohort.subject[begins]
    flat = np.ravel_multi_index([cohort.codes(plate)[begins] for plate in plates], sizes)
    counts = np.bincount(flat, weights=cohort.trials[begins], minlength=np.prod(sizes))
    pairs = np.unique(np.stack([flat, subject]), axis=1)[0]
    return {
        "trials": counts.astype(int),
        "subjects": np.bincount(pairs, minlength=np.prod(sizes)),
    }
