"""Ranks of true values in joint layouts, where each simulation is a cohort."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import xlog1py, xlogy

from ...common.progress import track
from ...common.seeds import subject_seed
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import EDGE
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.model.cohort import Cohort
from ...inference.population.drawing import draw_truths
from ...inference.population.truth import cell_chances, whole_cohort
from ...inference.sampling.convergence import UNTRUSTED, convergence, faults, rhat_ess, status
from ...inference.sampling.draws import Draws
from ...inference.simulate import simulate
from ...layouts import Latent, Layout
from ...layouts.plates import plate_name
from .ranking import independent, places, ranked
from .result import LOG_LIKELIHOOD


@dataclass(frozen=True)
class Options:
    """Options by which each simulation is sampled; as in `fit`."""

    draws: int
    tune: int
    chains: int
    target_accept: float
    method: Literal["nuts", "grid"]
    starts: Literal["prior", "modes"]
    reruns: int
    n_jobs: int | None
    progressbar: bool

    def fit(self, layout: Layout, evaluation: Evaluation, seed: int, attempt: int) -> Fit:
        """Fit a simulation; each further attempt doubles the draws and raises `target_accept`."""
        times = 2**attempt
        return fit(
            layout,
            evaluation,
            draws=self.draws * times,
            tune=self.tune * times,
            chains=self.chains,
            target_accept=1 - (1 - self.target_accept) / times**2,
            seed=subject_seed(seed, f"attempt {attempt}"),
            method=self.method,
            starts=self.starts,
            n_jobs=self.n_jobs,
            progressbar=False,
        )


def rank_jointly(
    layout: Layout,
    items: pd.DataFrame,
    subjects: pd.DataFrame,
    simulations: int,
    trials: int,
    sampling: Options,
    seeds: tuple[int, int, int, int],
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

    Returns
    -------
    ranks : DataFrame
        As returned by `run.ranks`: one row per simulation and quantity.
    status : DataFrame
        By simulation: ``ok`` where the chains mix, else ``not converged``, and the reason.
    """
    of_truth, of_outcomes, of_chains, of_ties = seeds
    truths = draw_truths(whole_cohort(layout, items, subjects), simulations, of_truth)
    rng = np.random.default_rng(of_ties)
    ranks, verdicts = [], {}
    names = [str(number + 1) for number in range(simulations)]
    shown = track(iter(names), simulations, sampling.progressbar, "simulations")
    for place, name in enumerate(shown):
        truth = truths.isel(draw=place, drop=True)
        own = subject_seed(of_outcomes, name)
        evaluation = simulate(layout, items, truth, seed=own, trials=trials, subjects=subjects)
        for attempt in range(sampling.reruns + 1):
            fitted = sampling.fit(layout, evaluation, subject_seed(of_chains, name), attempt)
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
        f"{name}[{place}]" for name, values in drawn.items() for place in range(_count(values))
    ]
    diverging = fitted.data["sample_stats"]["diverging"].to_numpy()[0]
    used = {name: fitted.data.attrs[name] for name in ("tune", "target_accept")}
    found = convergence(Draws(drawn, {"diverging": diverging}), names, **used)
    return faults(found, len(diverging))


def _count(values: np.ndarray) -> int:
    return int(np.prod(values.shape[2:], dtype=int))


def _draws(fitted: Fit, latent: Latent) -> np.ndarray:
    """Take the draws of a latent, with shape (chain, draw, levels..., labels...)."""
    order = ("chain", "draw", *map(plate_name, latent.plates), *latent.label_dims)
    return fitted.posterior[latent.name].transpose(*order).to_numpy()


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
    density = fitted.data["sample_stats"]["lp"].to_numpy()[:1]
    sizes = rhat_ess(np.concatenate([np.stack(series), density]))
    kept = independent(np.array([np.fmin(sizes.ess_bulk, sizes.ess_tail).min()]))
    (at,) = places(kept, series[0].size)
    flat = {one: values.reshape(-1, *values.shape[2:]) for one, values in drawn.items()}
    fits = [
        _log_likelihood(cohort, {one: values[draw] for one, values in flat.items()}) for draw in at
    ]
    values = np.stack([*(own.ravel()[at] for own in series), np.array(fits)])
    truths = np.array([*right, _log_likelihood(cohort, true)])
    beside = np.concatenate([values, truths[:, None]], axis=1)
    return ranked([name], [*quantities, LOG_LIKELIHOOD], beside[None], kept, rng)


def _truth(latent: Latent, truth: xr.Dataset, cohort: Cohort) -> np.ndarray:
    """Take the true values of a latent at a cohort's levels."""
    plates = [plate_name(plate) for plate in latent.plates]
    chosen = truth[latent.name].sel({plate: cohort.levels[plate] for plate in plates})
    return chosen.transpose(*plates, *latent.label_dims).to_numpy()


def _log_likelihood(cohort: Cohort, values: Mapping[str, np.ndarray]) -> float:
    """Compute the log-likelihood of all outcomes, without binomial coefficients."""
    chance = np.clip(cell_chances(cohort, values), EDGE, 1 - EDGE)
    lost = cohort.trials - cohort.successes
    return float((xlogy(cohort.successes, chance) + xlog1py(lost, -chance)).sum())
