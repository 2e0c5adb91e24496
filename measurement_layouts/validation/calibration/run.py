"""Simulation of subjects from a layout's prior, their fits, and ranks of the true values."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from ...common import options
from ...common.errors import DataError
from ...common.progress import track
from ...common.seeds import subject_seed
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_layout
from ...inference.cells import CellEvaluator
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.forecasts.likelihood import Attempted, log_likelihood
from ...inference.model.cohort import Cohort
from ...inference.model.prior import sample_prior
from ...inference.population.truth import draw_truths
from ...inference.posterior.posterior import Posterior, draws_of, sampled_dims, statistic_of
from ...inference.sampling.convergence import UNTRUSTED, convergence, faults, rhat_ess, status
from ...inference.sampling.draws import Draws
from ...inference.simulate import simulate
from ...layouts import Latent, Layout
from ...layouts.elements import elements
from ...layouts.plates import plate_name
from .ranking import independent, places, ranked
from .result import LOG_LIKELIHOOD, SimulationBasedCalibration


@dataclass(frozen=True)
class Options:
    """Options by which each simulation is sampled; as in `fit`."""

    draws: int
    tune: int
    chains: int
    target_accept: float
    method: Literal["nuts", "grid"] | None
    n_jobs: int | None

    def fit(
        self, layout: Layout, evaluation: Evaluation, seed: int, times: int = 1, **others: Any
    ) -> Fit:
        """Fit simulations, with so many times the draws, a higher `target_accept` and options."""
        return fit(
            layout,
            evaluation,
            draws=self.draws * times,
            tune=self.tune * times,
            chains=self.chains,
            target_accept=1 - (1 - self.target_accept) / times**2,
            seed=seed,
            method=self.method,
            n_jobs=self.n_jobs,
            **others,
        )


def rank_jointly(
    layout: Layout,
    items: pd.DataFrame,
    subjects: pd.DataFrame,
    simulations: int,
    trials: int,
    sampling: Options,
    seeds: tuple[int, int, int, int],
    reruns: int,
    progressbar: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate cohorts, fit each, and rank their true values.

    Parameters
    ----------
    layout : Layout
        A joint layout.
    items, subjects : DataFrame
        Items and subjects of every simulation.
    simulations, trials : int
        Number of cohorts, and of attempts per subject and item.
    sampling : Options
        Sampling options of each fit.
    seeds : (int, int, int, int)
        Seeds of true values, outcomes, chains and ties.
    reruns : int
        Largest number of further fits of a cohort whose chains do not mix; each has twice as many
        draws.
    progressbar : bool
        Whether to show progress.

    Returns
    -------
    ranks : DataFrame
        As returned by `run.ranks`: one row per simulation and quantity.
    status : DataFrame
        By simulation: ``ok`` where the chains mix, else ``not converged``, and the reason.
    """
    of_truth, of_outcomes, of_chains, of_ties = seeds
    truths = draw_truths(Cohort.of_tables(layout, items, subjects), simulations, of_truth)
    rng = np.random.default_rng(of_ties)
    ranks, verdicts = [], {}
    names = [str(number + 1) for number in range(simulations)]
    for place, name in enumerate(track(names, simulations, progressbar, "simulations")):
        truth = truths.isel(draw=place, drop=True)
        own = subject_seed(of_outcomes, name)
        evaluation = simulate(layout, items, truth, seed=own, trials=trials, subjects=subjects)
        for attempt in range(reruns + 1):
            chains = subject_seed(subject_seed(of_chains, name), f"attempt {attempt}")
            fitted = sampling.fit(layout, evaluation, chains, 2**attempt, progressbar=False)
            wrong = _faults(fitted)
            if status(wrong) not in UNTRUSTED:
                break
        mixing = status(wrong) not in UNTRUSTED
        verdicts[name] = {"status": "ok" if mixing else "not converged", "reason": "; ".join(wrong)}
        ranks.append(_ranks(fitted, evaluation, truth, name, rng))
    by_name = pd.DataFrame.from_dict(verdicts, orient="index").rename_axis("subject")
    return pd.concat(ranks, ignore_index=True), by_name


def _faults(fitted: Fit) -> list[str]:
    """List the faults of a joint fit's sampling, for shared values and for subjects' own values."""
    drawn = {latent.name: _draws(fitted, latent) for latent in fitted.layout.latents}
    names = [
        f"{name}[{place}]"
        for name, values in drawn.items()
        for place in range(math.prod(values.shape[2:]))
    ]
    (diverging,) = statistic_of(fitted, "diverging")
    used = {name: fitted.data.attrs[name] for name in ("tune", "target_accept")}
    found = convergence(Draws(drawn, {"diverging": diverging}), names, **used)
    return faults(found, len(diverging))


def _draws(fitted: Fit, latent: Latent) -> np.ndarray:
    """Take the draws of a latent, with shape (chain, draw, levels..., labels...)."""
    return fitted.posterior[latent.name].transpose(*sampled_dims(latent)).to_numpy()


def _ranks(
    fitted: Fit, evaluation: Evaluation, truth: xr.Dataset, name: str, rng: np.random.Generator
) -> pd.DataFrame:
    """Rank one simulation's true values: each latent and label at one level, and the likelihood."""
    layout = fitted.layout
    cohort = Cohort.of_evaluation(layout, evaluation)
    drawn = {latent.name: _draws(fitted, latent) for latent in layout.latents}
    true = {latent.name: _truth(latent, truth, cohort) for latent in layout.latents}
    quantities, series, right = list[str](), list[np.ndarray](), list[float]()
    for latent in layout.latents:
        level = tuple(int(rng.integers(count)) for count in cohort.size(latent.plates))
        labels = [label for own in latent.dims.values() for label in own]
        quantities += [f"{latent.name}[{label}]" for label in labels] or [latent.name]
        at_level: Any = (slice(None), slice(None), *level)
        chosen = drawn[latent.name][at_level]
        series += list(np.moveaxis(chosen.reshape(*chosen.shape[:2], -1), -1, 0))
        right += list(np.ravel(true[latent.name][level]))
    density = statistic_of(fitted, "lp")
    sizes = rhat_ess(np.concatenate([np.stack(series), density]))
    kept = independent(np.array([np.fmin(sizes.ess_bulk, sizes.ess_tail).min()]))
    (at,) = places(kept, series[0].size)
    cells = CellEvaluator(cohort)
    chosen = {one: values.reshape(-1, *values.shape[2:])[at] for one, values in drawn.items()}
    fits = cells.log_likelihood(cells.draws_by_level(chosen))
    values = np.stack([*(own.ravel()[at] for own in series), fits])
    alone = cells.draws_by_level({one: value[None] for one, value in true.items()})
    truths = np.array([*right, *cells.log_likelihood(alone)])
    beside = np.concatenate([values, truths[:, None]], axis=1)
    return ranked([name], [*quantities, LOG_LIKELIHOOD], beside[None], kept, rng)


def _truth(latent: Latent, truth: xr.Dataset, cohort: Cohort) -> np.ndarray:
    """Take the true values of a latent at a cohort's levels."""
    plates = [plate_name(plate) for plate in latent.plates]
    chosen = truth[latent.name].sel({plate: cohort.levels[plate] for plate in plates})
    return chosen.transpose(*plates, *latent.label_dims).to_numpy()


def ranks(fit: Fit, truth: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Rank true values among approximately independent posterior draws.

    Ranks are uniform only among independent draws. The number of draws kept of each subject is its
    smallest effective sample size, over all profile elements and the log-density and over bulk and
    tail, but at most 99; these draws are at equal distances in the chains.

    Parameters
    ----------
    fit : Fit
        The fit.
    truth : DataFrame
        One row per subject, a column per profile element.
    seed : int
        Seed of what breaks ties and places a value between two ranks.

    Returns
    -------
    DataFrame
        One row per subject and quantity (profile elements, then ``log-likelihood``, that of the
        subject's outcomes): ``simulation``, ``quantity``, ``truth``, the draws' ``mean`` and
        ``sd``, the number of ``draws``, the ``rank`` (the number of draws below the truth) and
        the ``position`` (rank + U) / (draws + 1) with U uniform in [0, 1). If the posterior is
        correct, positions are uniform.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari and Gelman (2018), arXiv:1804.06788. Modrák, Moon, Kim,
    Bürkner, Huurre, Faltejsková, Gelman and Vehtari (2023), Simulation-based calibration checking
    for Bayesian computation, Bayesian Analysis: a posterior that equals the prior is only detected
    by a quantity that depends on the outcomes.
    """
    rng = np.random.default_rng(seed)
    kept = _independent(fit)
    total = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    beside = _beside_the_truth(fit, truth.loc[fit.subjects], places(kept, total))
    names = [element.name for element in fit.elements]
    values = np.stack([*_element_draws(beside), _log_likelihoods(beside)], axis=1)
    return ranked(fit.subjects, [*names, LOG_LIKELIHOOD], values, kept, rng)


def _independent(fit: Fit) -> np.ndarray:
    """Estimate how many draws of each subject are independent, 1 to 99."""
    table = fit.profiles()
    sizes = table.groupby("subject", sort=False)[["ess_bulk", "ess_tail"]].min().min(axis=1)
    least = sizes[fit.subjects].to_numpy()
    if "lp" in fit.data["sample_stats"]:
        found = rhat_ess(statistic_of(fit, "lp"))
        least = np.fmin(least, np.fmin(found.ess_bulk, found.ess_tail))
    return independent(least)


def _beside_the_truth(fit: Fit, truth: pd.DataFrame, at: np.ndarray) -> Posterior:
    """Keep some draws of each subject, and append the truth as the last draw."""
    kept = {}
    for latent in fit.layout.latents:
        draws = draws_of(fit, latent)
        flat = draws.reshape(*draws.shape[:2], -1)
        names = [element.name for element in fit.elements if element.latent == latent]
        true = truth[names].to_numpy()[..., None]
        joined = np.concatenate([np.take_along_axis(flat, at[:, None], axis=2), true], axis=2)
        shape = (1, joined.shape[2], len(joined), *map(len, latent.dims.values()))
        kept[latent.name] = (sampled_dims(latent), joined.transpose(2, 0, 1).reshape(shape))
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(kept, {"subject": fit.subjects}),
            "observed_data": fit.observed,
            "constant_data": fit.constants,
        }
    )
    return Posterior(fit.layout, tree, {})


def _element_draws(fit: Posterior) -> list[np.ndarray]:
    """List the draws of each profile element, each of shape (subjects, draws)."""
    return [
        values
        for latent in fit.layout.latents
        for values in np.moveaxis(draws_of(fit, latent)[:, :, 0], 1, 0)
    ]


def _log_likelihoods(fit: Posterior) -> np.ndarray:
    """Compute the log-likelihoods of each subject's outcomes, of shape (subjects, draws)."""
    return np.stack(
        [
            sum(values.sum(axis=0)[0] for _, values in log_likelihood(fit, row, attempted))
            for row in range(len(fit.subjects))
            for attempted in [Attempted.of(fit, row)]
        ]
    )


_FEWEST = 20


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
        independent; see `ranks`. There are only two short chains, so that for many layouts one
        simulation in ten does not converge in the first or second run; each of these is sampled
        again up to three times, with a higher target acceptance and more draws. A joint fit is
        sampled again where its chains do not mix, with twice the draws each time.
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
    streams = np.random.SeedSequence(options.whole("seed", seed)).spawn(4)
    profiles, outcomes, sampler, ties = (
        int(stream.generate_state(1, np.uint64)[0] >> 1) for stream in streams
    )
    sampling = Options(draws, tune, chains, target_accept, method, n_jobs)
    if layout.joint:
        if subjects is None:
            raise DataError(
                f"layout {layout.name!r} is fitted to all subjects jointly, and no subjects are "
                "given; give subjects=, a table indexed by their names"
            )
        seeds = profiles, outcomes, sampler, ties
        found = rank_jointly(
            layout, items, subjects, count, trials, sampling, seeds, reruns, progressbar
        )
        return SimulationBasedCalibration(layout, *found, alpha)
    if subjects is not None:
        raise DataError(
            f"layout {layout.name!r} is fitted to each subject separately, so that each simulation "
            "is one subject; omit subjects="
        )
    truth = _profiles(layout, count, profiles)
    evaluation = simulate(layout, items, truth, seed=outcomes, trials=trials)
    fitted = sampling.fit(layout, evaluation, sampler, reruns=reruns, progressbar=progressbar)
    status = fitted.diagnostics()[["status", "reason"]]
    known = status["status"].isin(["ok", "failed"])  # divergences matter, too
    status["status"] = status["status"].where(known, "not converged")
    return SimulationBasedCalibration(layout, ranks(fitted, truth, ties), status, alpha)


def _profiles(layout: Layout, count: int, seed: int) -> pd.DataFrame:
    """Draw profiles from the prior, one row for each simulation."""
    drawn = sample_prior(layout, count, seed)
    columns = {
        element.name: drawn[element.latent.name].reshape(count, -1)[:, element.index]
        for element in elements(layout)
    }
    index = pd.Index([str(number + 1) for number in range(count)], name="subject")
    return pd.DataFrame(columns, index)
