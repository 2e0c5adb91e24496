"""Each subject's profile compared with the population, and its dependence on the population."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...common.errors import FitError
from ...common.messages import some
from ...common.options import inside
from ...layouts import Layout
from ...layouts.elements import Element, Levels, elements, find_elements
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ...linking.expression import Expr
from ..model.alignment import leaves
from ..model.cohort import Cohort
from ..model.new_levels import new_values, parents
from ..posterior.cohort import cohort_of
from ..posterior.diagnostics import profiles
from ..posterior.posterior import Posterior, rows_of, some_draws, stacked, success_rates

_DRAWS = 4000  # simulated newcomers for each subject
_SEED = 20231
_MOST = 0.95  # with a larger `population_weight`, `alone` is not computed


def standing(
    fit: Posterior,
    nodes: str | Sequence[str] | None = None,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
) -> pd.DataFrame:
    r"""Compare every subject's profile with the distribution of its population.

    .. math:: \ell = \min\left(1, \frac{\mathrm{var}_{post}}{\mathrm{var}_{pop}}\right), \qquad
       m_{post} = \ell\, m_{pop} + (1 - \ell)\, m_{alone}

    The population's distribution for a subject is that of a newcomer with the same covariates and
    categories, drawn from the prior of the latent given each posterior draw of the shared values.
    The weight :math:`\ell` of the population in a profile is the share of the population's variance
    that remains in the posterior. The second equation gives :math:`m_{alone}`, the mean that the
    subject's own outcomes alone would lead to. It is exact if prior and likelihood are normal, and
    an approximation if only the prior is normal.

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]``, of the profile whose prior depends on shared values
        (default: all of these, see `populated`).
    subjects : iterable, optional
        Subjects (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per element and subject: ``node``, ``label``, ``subject``; ``mean``, ``sd``,
        ``low`` and ``high`` of the profile; ``population_mean``, ``population_sd``,
        ``population_low`` and ``population_high``; ``population_weight``, in [0, 1]; and
        ``alone``, which is NaN where all outcomes of a subject are equal and so bound it on one
        side only, where ``population_weight`` is above .95, and where the prior is not normal.

    Raises
    ------
    FitError
        When no prior of the profile depends on shared values, or that of a named node does not, a
        node or subject is unknown, `prob` is out of range, or new levels of a prior's family cannot
        be drawn.
    DataError
        When a subject is named twice.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> mean = ml.Effect("mean")
    >>> ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=1))
    >>> layout = ml.Layout("coins", ml.Success("heads", logistic(ability)))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1]], list("abc"))
    >>> evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=range(4)))
    >>> result = ml.fit(layout, evaluation, draws=200, tune=200, chains=2, seed=1,
    ...                 progressbar=False)
    >>> standing(result).set_index("subject")[["alone", "mean", "population_weight"]].round(1)
             alone  mean  population_weight
    subject
    a          1...  1...                0...
    b         -0... -0...                0...
    c          NaN   1...                0...
    """
    prob = inside("prob", prob, such_as=0.9)
    found = populated(layout := fit.layout, nodes, fit.levels)
    if not found:
        raise FitError(
            f"the profiles of layout {layout.name!r} share nothing, as their priors are fixed, so "
            "there is no population to compare them with; declare the parameters of a prior, such "
            "as its mean and spread, with per='population'"
        )
    who = fit.subjects if subjects is None else fit.named(subjects)
    rows = fit.places(who)
    drawn = _newcomers(fit, rows)
    table = profiles(fit, prob=prob, subjects=who)
    rates = success_rates(fit, rows).to_numpy()
    tail = (1 - prob) / 2
    parts = []
    for element in found:
        own = rows_of(table, element, who)
        draws = drawn[element.latent.name][..., element.index]
        low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
        mean, variance = draws.mean(axis=0), draws.var(axis=0, ddof=1)
        normal = element.prior.family == "Normal"
        weight = np.minimum(own["sd"].to_numpy() ** 2 / variance, 1.0)
        told = normal & (weight <= _MOST) & (rates > 0) & (rates < 1)
        alone = (own["mean"].to_numpy() - weight * mean) / np.where(told, 1 - weight, np.nan)
        parts.append(
            pd.DataFrame(
                {
                    "node": element.latent.name,
                    "label": element.label,
                    "subject": who,
                    **{name: own[name].to_numpy() for name in ("mean", "sd", "low", "high")},
                    "population_mean": np.broadcast_to(mean, len(who)),
                    "population_sd": np.broadcast_to(np.sqrt(variance), len(who)),
                    "population_low": np.broadcast_to(low, len(who)),
                    "population_high": np.broadcast_to(high, len(who)),
                    "population_weight": weight,
                    "alone": alone,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def populated(
    layout: Layout, nodes: str | Sequence[str] | None = None, levels: Levels | None = None
) -> list[Element]:
    """Find the elements of the profile that have a population: their prior has shared values.

    Parameters
    ----------
    layout : Layout
        The layout.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]`` (default: all that have a population).
    levels : mapping of str to sequence of str, optional
        Levels of the layout's categories, such as those of a fit.

    Returns
    -------
    list of Element
        The elements, whose prior depends on values that are not of single subjects, directly or
        through the prior of another element.

    Raises
    ------
    FitError
        When a named element has a fixed prior. The error names it.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic, mixture
    >>> mean = ml.Effect("mean")
    >>> ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=1))
    >>> solved = ml.Success("solved", mixture(logistic(ability), by=ml.Noise("slips"), toward=0))
    >>> [element.name for element in populated(ml.Layout("test", solved))]
    ['ability']
    """
    shared = set[str]()

    def uses_shared(values: Iterable[Expr]) -> bool:
        return any(latent.name in shared for value in values for latent in parents(value))

    for latent in layout.latents:
        if latent not in layout.profile or uses_shared(latent.parents):
            shared.add(latent.name)
    chosen = find_elements(elements(layout, levels), nodes)
    found = [element for element in chosen if uses_shared(element.prior.parents)]
    fixed = [element.name for element in chosen if element not in found]
    if fixed and nodes is not None:
        raise FitError(
            f"the prior of {some(fixed)} is fixed in layout {layout.name!r}, so that there is no "
            "population to compare it with; leave it out, or declare the prior's parameters with "
            "per='population'"
        )
    return found


def _newcomers(fit: Posterior, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Draw profiles of newcomers like the subjects in some rows, given posterior draws.

    Returns
    -------
    dict of str to ndarray, shape (draws, rows, elements)
        By latent of the profile; a single row if the distribution is the same for all subjects.
    """
    cohort, draws = _of_rows(cohort_of(fit), rows), np.resize(some_draws(fit, _DRAWS), _DRAWS)
    fitted = {name: len(levels) for name, levels in fit.levels.items()}
    even = ndtri((np.arange(_DRAWS) + 0.5) / _DRAWS)  # standard normal quantiles, permuted below
    known = {name: values[None] for name, values in cohort.covariates.items()}
    plates_of, profiles = fit.layout.plates_of_nodes, {}
    for place, latent in enumerate(fit.layout.latents):
        if ITEM in latent.plates:
            continue  # values of items, on which no profile depends
        if SUBJECT not in latent.plates:
            known[latent.name] = stacked(fit, latent, draws)
            continue
        own = [element for element in fit.elements if element.latent is latent]
        scores = np.broadcast_to(even[:, None], (_DRAWS, len(own)))
        scores = np.random.default_rng([_SEED, place]).permuted(scores, axis=0)
        sizes = [1 if plate == SUBJECT else fitted[plate_name(plate)] for plate in latent.plates]
        scores = scores.reshape(_DRAWS, *sizes, *map(len, latent.dims.values()))
        axis = 1 + latent.plates.index(SUBJECT)
        above = [part for value in latent.parents for part in leaves(value)]
        if any(root(plate) == SUBJECT for part in above for plate in plates_of[part.name]):
            scores = np.repeat(scores, len(rows), axis=axis)
        values = new_values(latent, scores, known, cohort, fitted)
        known[latent.name] = np.repeat(values, len(rows) // values.shape[axis], axis=axis)
        values = np.moveaxis(values, axis, 1)
        profiles[latent.name] = values.reshape(*values.shape[:2], -1)
    return profiles


def _of_rows(cohort: Cohort, rows: np.ndarray) -> Cohort:
    """Keep some subjects of a cohort, without their outcomes."""
    roots = {category.name: category.root for category in cohort.layout.categories}
    return replace(
        cohort,
        levels={**cohort.levels, SUBJECT: [cohort.levels[SUBJECT][row] for row in rows]},
        of={
            name: codes[rows] if roots[name] == SUBJECT else codes
            for name, codes in cohort.of.items()
        },
        covariates={name: values[rows] for name, values in cohort.covariates.items()},
    )
