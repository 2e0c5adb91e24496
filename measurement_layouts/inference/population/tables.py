"""Tables of a joint fit's estimates for items and for the population."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...layouts import Latent
from ...layouts.elements import elements_of
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ..posterior.cohort import cohort_of
from ..posterior.posterior import Posterior, draws_of
from ..posterior.summaries import summarise

_INTERVAL = ("mean", "sd", "low", "high")
_MIXED = ("ess_bulk", "ess_tail", "rhat")


def items(fit: Posterior, prob: float = 0.9) -> pd.DataFrame:
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
    >>> from measurement_layouts import Bias, Capability, Evaluation, Layout, Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", prior=Prior("Normal", mu=0, sigma=Spread("spread")))
    >>> ease = Bias("ease", per="item", prior=Prior("Normal", mu=0, sigma=1))
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
        counted = _attempted(fit, names)
        labels = len(table) // len(counted["trials"])
        counts = pd.DataFrame({name: np.repeat(own, labels) for name, own in counted.items()})
        parts.append(pd.concat([table, levels, counts], axis=1))
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
    for name in plates:
        whole[name] = whole[name].fillna("")
    return whole[list(columns)].astype(columns)


def population(fit: Posterior, prob: float = 0.9) -> pd.DataFrame:
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
        ``high``, ``ess_bulk``, ``ess_tail``, ``rhat`` (NaN for a single chain) and ``shrinkage``
        (:math:`1 - \mathrm{var}_{post} / \mathrm{var}_{prior}`).

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
    return whole[list(columns)].astype(columns)


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


def _attempted(fit: Posterior, plates: Sequence[str]) -> dict[str, np.ndarray]:
    """Count trials at each combination of levels, and the subjects that attempted it."""
    cohort = cohort_of(fit)
    trials = fit.observed["trials"].to_numpy()
    subject, item = np.nonzero(trials)
    places = {SUBJECT: subject, ITEM: item}
    roots = {category.name: category.root for category in fit.layout.categories}
    codes = [
        places[name] if name in places else cohort.of[name][places[roots[name]]] for name in plates
    ]
    sizes = [len(cohort.levels[name]) for name in plates]
    flat = np.ravel_multi_index(codes, sizes)
    counts = np.bincount(flat, weights=trials[subject, item], minlength=np.prod(sizes))
    pairs = np.unique(np.stack([flat, subject]), axis=1)[0]
    return {
        "trials": counts.astype(int),
        "subjects": np.bincount(pairs, minlength=np.prod(sizes)),
    }
