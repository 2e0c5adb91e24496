"""Simulation of subjects from a layout's prior, their fits, and ranks of the true values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ...common import options
from ...common.errors import DataError
from ...common.progress import track
from ...common.seeds import subject_seed
from ...evaluations.given import refuse_no_layout
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.forecasts.likelihood import Attempted, log_likelihood
from ...inference.model.cohort import Cohort
from ...inference.model.prior import sample_prior
from ...inference.population.truth import draw_truths
from ...inference.posterior.posterior import Posterior, sampled_dims, statistic_of
from ...inference.sampling.convergence import UNTRUSTED, rhat_ess
from ...inference.simulate import simulate
from ...layouts import Latent, Layout
from ...layouts.elements import elements, elements_of
from .result import LOG_LIKELIHOOD, SimulationBasedCalibration

_FEWEST = 20  # simulations
_MOST = 99  # draws that are used of each simulation, so that ranks are 0 to 99

type _Truth = pd.DataFrame | xr.Dataset  # profiles of subjects, or all latents of a joint layout


def draw_truth(
    layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame, *, seed: int
) -> xr.Dataset:
    """Draw all latents of a joint layout from their priors.

    Parameters
    ----------
    layout : Layout
        A joint layout.
    items, subjects : DataFrame
        Meta-features and categories of items; covariates and categories of subjects. Both are
        indexed by name; they have no columns where the layout needs none.
    seed : int
        Seed of the draw.

    Returns
    -------
    Dataset
        True values for `simulate`: one variable per latent, with dimensions (plates, labels) and
        levels as coordinates.

    Raises
    ------
    DataError
        When a column is missing, the properties do not match the layout, or the layout is not a
        joint one.
    FitError
        When `seed` is not a whole number.
    LayoutError
        When `layout` is something else, or a prior cannot be drawn from.

    Examples
    --------
    >>> from measurement_layouts import Capability, Effect, Prior, Spread, Success, simulate
    >>> from measurement_layouts.linking import logistic
    >>> mean = Effect("mean")
    >>> skill = Capability("skill", prior=Prior("Normal", mu=mean, sigma=1))
    >>> ease = Effect("ease", per="item", prior=Prior("ZeroSumNormal", sigma=Spread("spread")))
    >>> layout = Layout("rasch", Success("solved", logistic(skill + ease)))
    >>> items, subjects = pd.DataFrame(index=["a", "b", "c"]), pd.DataFrame(index=["Ann", "Bob"])
    >>> truth = draw_truth(layout, items, subjects, seed=1)
    >>> dict(truth.sizes)
    {'subject': 2, 'item': 3}
    >>> simulate(layout, items, truth, seed=2)
    <Evaluation: 2 subjects, 3 items, 6 trials, properties none>
    """
    refuse_no_layout(layout)
    if not layout.joint:
        raise DataError(
            f"layout {layout.name!r} is fitted to each subject separately and shares nothing "
            "between subjects; pass simulate a DataFrame of profiles"
        )
    cohort = Cohort.of_tables(layout, items, subjects)
    return draw_truths(cohort, 1, options.whole("seed", seed)).isel(draw=0, drop=True)


def sbc(
    layout: Layout,
    items: pd.DataFrame,
    *,
    subjects: pd.DataFrame | None = None,
    simulations: int = 1000,
    trials: int = 1,
    alpha: float = 0.01,
    draws: int = 600,
    tune: int = 400,
    chains: int = 2,
    target_accept: float = 0.8,
    seed: int = 1,
    method: Literal["nuts", "grid"] | None = None,
    reruns: int = 3,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> SimulationBasedCalibration:
    r"""Check by simulation that a layout's intervals contain known profiles as often as stated.

    Profiles are drawn from the layout's prior and outcomes from the profiles, and all are fitted as
    subjects of one evaluation. If prior, simulator, likelihood and sampler agree, the rank of a
    true value among independent posterior draws is uniform,

    .. math:: \theta \sim p(\theta), \quad y \sim p(y \mid \theta), \quad
        \theta_1, \dots, \theta_L \sim p(\theta \mid y) \quad \Rightarrow \quad
        \#\{l : f(\theta_l, y) < f(\theta, y)\} \sim \mathrm{Uniform}\{0, \dots, L\},

    for every quantity f: each profile element, and the log-likelihood of the outcomes. The
    log-likelihood is needed because a posterior that ignores the outcomes has uniform ranks of all
    profile elements.

    For a joint layout, a simulation is a whole cohort: shared values, item effects and subjects are
    drawn from their priors, and all are fitted together. Quantities are then all latents, shared
    ones and subjects' own ones, and the log-likelihood of all outcomes. Of a latent with one value
    per subject, item or level, each simulation ranks one value, chosen at random, because ranks
    within a simulation depend on each other.

    Ranks are uniform only among independent draws. Of each posterior, draws at equal distances in
    the chains are kept: as many as its smallest effective sample size over the quantities, the
    log-density, and bulk and tail, but at most 99.

    Parameters
    ----------
    layout : Layout
        The layout.
    items : DataFrame
        Meta-features, indexed by item. A small battery is enough: calibration applies to every
        battery, and more simulations show more than more items do.
    subjects : DataFrame, optional
        Subjects of each simulation, with covariates and categories, indexed by name. Needed for a
        joint layout; not allowed for any other.
    simulations : int, default 1000
        Number of simulations, at least 20.
    trials : int, default 1
        Number of attempts per item.
    alpha : float, default 0.01
        Probability that a calibrated layout is judged not calibrated, over all its quantities.
    draws, tune, chains, target_accept, method, reruns, n_jobs, progressbar
        As in `fit`. At most 99 draws of each subject are used, thinned to be approximately
        independent. There are only two short chains, so that for many layouts one simulation in
        ten does not converge in the first or second run; each of these is sampled again up to three
        times, with a higher target acceptance and more draws.
    seed : int, default 1
        Seed from which the random streams of profiles, outcomes, chains and ties are derived.

    Returns
    -------
    SimulationBasedCalibration
        Ranks, a verdict on each quantity and on the layout, and the number of simulations that did
        not converge. Their ranks count like all others, up to 5 % of the simulations; if there are
        more, the verdict is "inconclusive" (see `SimulationBasedCalibration`).

    Raises
    ------
    DataError
        When the items or subjects do not match the layout, when `subjects` is missing for a joint
        layout, or when it is given for a layout that is fitted to each subject separately.
    LayoutError
        When `layout` is something else, or a prior cannot be drawn from.
    FitError
        When an option is out of range, or sampling failed for every simulation.

    References
    ----------
    Talts et al. (2018), arXiv:1804.06788; Modrák et al. (2023), Bayesian Analysis; Säilynoja,
    Bürkner and Vehtari (2022), Statistics and Computing 32.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> items = pd.DataFrame(index=[f"toss {number}" for number in range(10)])
    >>> sbc(layout, items, simulations=50, method="grid", progressbar=False)
    <SimulationBasedCalibration of 'coin': calibrated in 50 simulations, 0 not converged, 0 failed>
    """
    refuse_no_layout(layout)
    count = options.whole("simulations", simulations, _FEWEST)
    alpha = options.inside("alpha", alpha, such_as=0.01)
    if layout.joint and subjects is None:
        raise DataError(
            f"layout {layout.name!r} is fitted to all subjects jointly, and no subjects are given; "
            "give subjects=, a table indexed by their names"
        )
    if subjects is not None and not layout.joint:
        raise DataError(
            f"layout {layout.name!r} is fitted to each subject separately, so that each simulation "
            "is one subject; omit subjects="
        )
    streams = np.random.SeedSequence(options.whole("seed", seed)).spawn(4)
    of_truth, of_outcomes, of_chains, of_ties = (
        int(stream.generate_state(1, np.uint64)[0] >> 1) for stream in streams
    )
    rng = np.random.default_rng(of_ties)
    truths = _truths(layout, items, subjects, count, of_truth)
    tables, statuses = [], []
    for names, truth in track(truths, count, progressbar and layout.joint, "simulations"):
        seeds = [of_outcomes, of_chains]
        if layout.joint:
            seeds = [subject_seed(one, names[0]) for one in seeds]
        evaluation = simulate(layout, items, truth, seed=seeds[0], trials=trials, subjects=subjects)
        fitted = fit(
            layout,
            evaluation,
            draws=draws,
            tune=tune,
            chains=chains,
            target_accept=target_accept,
            seed=seeds[1],
            method=method,
            reruns=reruns,
            n_jobs=n_jobs,
            progressbar=progressbar and not layout.joint,
        )
        status = fitted.diagnostics()[["status", "reason"]]
        failed = (status["status"] == "failed").to_numpy()
        converged = (status["status"] == "ok").to_numpy()
        if layout.joint:  # among thousands of values, a few divergences do not matter
            status.index = pd.Index(names, name="subject")
            converged = ~status["status"].isin(UNTRUSTED).to_numpy()
        status["status"] = np.select([converged, failed], ["ok", "failed"], "not converged")
        statuses.append(status)
        tables.append(ranks(fitted, truth, names, rng))
    ranked = pd.concat(tables, ignore_index=True)
    return SimulationBasedCalibration(layout, ranked, pd.concat(statuses), alpha)


def _truths(
    layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame | None, count: int, seed: int
) -> Iterator[tuple[list[str], _Truth]]:
    """Draw true values from the prior: of one cohort at a time, or of all subjects to fit alone."""
    names = [str(number + 1) for number in range(count)]
    if subjects is not None:
        truths = draw_truths(Cohort.of_tables(layout, items, subjects), count, seed)
        for draw, name in enumerate(names):
            yield [name], truths.isel(draw=draw, drop=True)
    else:
        drawn = sample_prior(layout, count, seed)
        columns = {
            element.name: drawn[element.latent.name].reshape(count, -1)[:, element.index]
            for element in elements(layout)
        }
        yield names, pd.DataFrame(columns, pd.Index(names, name="subject"))


def ranks(
    fitted: Fit, truth: _Truth, names: Sequence[str], rng: np.random.Generator
) -> pd.DataFrame:
    """Rank the true values of one fit among approximately independent draws.

    Parameters
    ----------
    fitted : Fit
        Fit of subjects alone, each of which is a simulation, or of a cohort, which is one.
    truth : DataFrame or Dataset
        True values: a row per subject and a column per profile element, or all latents.
    names : sequence of str
        Names of the simulations; subjects that failed are left out.
    rng : Generator
        Random generator that chooses one level of each latent of a cohort, breaks ties, and places
        a value between two ranks.

    Returns
    -------
    DataFrame
        As `SimulationBasedCalibration.ranks`.
    """
    if fitted.layout.joint:
        simulations = {names[0]: fitted.places()}
    else:
        simulations = {name: np.array([row]) for row, name in enumerate(fitted.subjects)}
    tables = [
        _ranks(fitted, rows, truth, rng).assign(simulation=name)
        for name, rows in simulations.items()
    ]
    return pd.concat(tables, ignore_index=True)


def _ranks(fitted: Fit, rows: np.ndarray, truth: _Truth, rng: np.random.Generator) -> pd.DataFrame:
    """Rank the true values of the subjects that have one posterior, given by position."""
    posterior = fitted.posterior if fitted.layout.joint else fitted.posterior.isel(subject=rows)
    quantities, columns, draws = list[str](), list[np.ndarray](), dict[str, np.ndarray]()
    for latent in fitted.layout.latents:
        labels = [label for dim in latent.dims.values() for label in dim]
        quantities += [f"{latent.name}[{label}]" for label in labels] or [latent.name]
        values = posterior[latent.name].transpose(*sampled_dims(latent))
        flat = values.to_numpy().reshape(-1, *values.shape[2:])
        flat = np.append(flat, [_true_values(truth, latent, values)], axis=0)  # as the last draw
        by_level = flat.reshape(len(flat), -1, max(1, len(labels)))
        draws[latent.name] = flat
        columns.append(by_level[:, rng.integers(by_level.shape[1])])
    ranked = np.concatenate(columns, axis=1)
    series = np.moveaxis(ranked[:-1].reshape(*values.shape[:2], -1), 2, 0)
    if "lp" in fitted.data["sample_stats"]:
        series = np.append(series, statistic_of(fitted, "lp", rows), axis=0)
    ess = rhat_ess(series)
    least = np.nan_to_num(np.fmin.reduce([*ess.ess_bulk, *ess.ess_tail]), nan=1)
    kept = int(np.clip(least, 1, _MOST))
    last = len(ranked) - 1
    at = [*((np.arange(kept) + 0.5) * last / kept).astype(int), last]
    logs = _log_likelihood(fitted, rows, {name: flat[at][None] for name, flat in draws.items()})
    *thinned, right = np.column_stack([ranked[at], logs])
    below, equal = (compare(thinned, right).sum(axis=0) for compare in (np.less, np.equal))
    rank = below + rng.integers(0, equal, endpoint=True)
    return pd.DataFrame(
        {
            "simulation": "",
            "quantity": [*quantities, LOG_LIKELIHOOD],
            "truth": right,
            "draws": kept,
            "rank": rank,
            "position": (rank + rng.random(len(rank))) / (kept + 1),
        }
    )


def _true_values(truth: _Truth, latent: Latent, draws: xr.DataArray) -> np.ndarray:
    """Take the true values of a latent at the levels and labels of its draws."""
    if isinstance(truth, pd.DataFrame):
        columns = [element.name for element in elements_of(latent)]
        return truth.loc[draws["subject"].values, columns].to_numpy().reshape(draws.shape[2:])
    dims = draws.dims[2:]
    indexes = {dim: draws.indexes[dim] for dim in dims}
    return truth[latent.name].sel(indexes).transpose(*dims).to_numpy()


def _log_likelihood(fitted: Fit, rows: np.ndarray, draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute the log-likelihood of some subjects' outcomes for other draws of all latents."""
    groups = {
        name: fitted.data[name].to_dataset().isel(subject=rows, missing_dims="ignore")
        for name in ("posterior", "constant_data")
    }
    variables = {one.name: (sampled_dims(one), draws[one.name]) for one in fitted.layout.latents}
    levels = groups["posterior"].drop_dims(["chain", "draw"]).coords
    tree = xr.DataTree.from_dict(groups | {"posterior": xr.Dataset(variables, levels)})
    posterior = Posterior(fitted.layout, tree, {})
    logs = [
        values[:, 0].sum(axis=0)
        for at, row in enumerate(rows)
        for _, values in log_likelihood(posterior, at, Attempted.of(fitted, row))
    ]
    return np.asarray(np.sum(logs, axis=0))
