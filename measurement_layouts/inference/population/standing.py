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
from ...layouts.plates import ITEM, SUBJECT
from ...linking.expression import Expr
from ..model.new_levels import parents
from ..posterior.cohort import cohort_of
from ..posterior.diagnostics import profiles
from ..posterior.posterior import Posterior, rows_of, some_draws, stacked, success_rates
from .joining import Joined
from .selection import selected
from .target import Target

_DRAWS = 4000  # simulated newcomers for each subject
_SEED = 20231
_SUMMARY = ("mean", "sd", "low", "high")
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
    layout = fit.layout
    chosen = populated(layout, nodes, fit.levels)
    if not chosen:
        raise FitError(
            f"the profiles of layout {layout.name!r} share nothing, as their priors are fixed, so "
            "there is no population to compare them with; declare the parameters of a prior, such "
            "as its mean and spread, with per='population'"
        )
    names = fit.subjects if subjects is None else fit.named(subjects)
    rows = fit.places(names)
    populations = _populations(fit, rows, chosen, prob)
    profile_table, rates = (
        profiles(fit, prob=prob, subjects=names),
        success_rates(fit, rows).to_numpy(),
    )
    tables = []
    for element, population in zip(chosen, populations, strict=True):
        profile = rows_of(profile_table, element, names)
        columns: dict[str, object] = {"node": element.latent.name, "label": element.label}
        columns["subject"] = names
        columns |= {name: profile[name].to_numpy() for name in _SUMMARY}
        columns |= {f"population_{name}": population[at] for at, name in enumerate(_SUMMARY)}
        table = pd.DataFrame(columns)
        weight = np.minimum((table["sd"] / table["population_sd"]) ** 2, 1.0)
        normal = element.prior.family == "Normal"
        informative = normal & (weight <= _MOST) & (rates > 0) & (rates < 1)
        alone = (table["mean"] - weight * table["population_mean"]) / (1 - weight)
        tables.append(table.assign(population_weight=weight, alone=alone.where(informative)))
    return pd.concat(tables, ignore_index=True)


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
    named = find_elements(elements(layout, levels), nodes)
    chosen = [element for element in named if uses_shared(element.prior.parents)]
    fixed = [element.name for element in named if element not in chosen]
    if fixed and nodes is not None:
        raise FitError(
            f"the prior of {some(fixed)} is fixed in layout {layout.name!r}, so that there is no "
            "population to compare it with; leave it out, or declare the prior's parameters with "
            "per='population'"
        )
    return chosen


def _populations(
    fit: Posterior, rows: np.ndarray, chosen: Sequence[Element], prob: float
) -> np.ndarray:
    """Summarise newcomers like the subjects in some rows, given posterior draws.

    Returns
    -------
    ndarray, shape (elements, 4, rows)
        Mean, standard deviation and the ends of the interval.
    """
    fitted, draws = cohort_of(fit), np.resize(some_draws(fit, _DRAWS), _DRAWS)
    none = np.zeros(0, dtype=int)
    cohort = replace(fitted, subject=none, row=none, successes=none, trials=none)
    levels = {name: len(names) for name, names in fit.levels.items()}
    shared = {
        latent.name: stacked(fit, latent, draws)
        for latent in fit.layout.latents
        if not {SUBJECT, ITEM} & set(latent.plates)
    }
    of_subjects = [one.name for one in fit.layout.categories if one.root == SUBJECT]
    numbers = [cohort.covariates[one.name] for one in fit.layout.covariates]
    numbers += [cohort.of[name] for name in of_subjects]
    even = ndtri((np.arange(_DRAWS) + 0.5) / _DRAWS)  # standard normal quantiles, permuted below
    rng, ends = np.random.default_rng(_SEED), [(1 - prob) / 2, (1 + prob) / 2]
    scores, of_properties = np.empty((_DRAWS, 0)), dict[bytes, np.ndarray]()
    summaries = np.empty((len(chosen), 4, len(rows)))
    for place, row in enumerate(rows):
        properties = b"".join(np.ascontiguousarray(values[row]).tobytes() for values in numbers)
        if properties not in of_properties:
            own = selected(cohort, SUBJECT, np.array([row]))
            target = Target(Joined(own, cohort, levels), shared)
            if not of_properties:
                columns = np.broadcast_to(even[:, None], (_DRAWS, len(target.active)))
                scores = rng.permuted(columns, axis=0)
            values = target.values(scores, np.arange(_DRAWS))
            flat = [values[one.latent.name].reshape(_DRAWS, -1)[:, one.index] for one in chosen]
            draws_of = np.stack(flat)
            moments = draws_of.mean(axis=1), draws_of.std(axis=1, ddof=1)
            of_properties[properties] = np.stack(
                [*moments, *np.quantile(draws_of, ends, axis=1)], axis=1
            )
        summaries[:, :, place] = of_properties[properties]
    return summaries
