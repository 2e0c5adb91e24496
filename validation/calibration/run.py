"""Simulate subjects from a layout's prior, fit them, and rank the truth."""

from typing import Literal

import numpy as np
import pandas as pd

from ...common import options
from ...inference.fitting import fit
from ...inference.model.prior import sample_prior
from ...inference.simulate import simulate
from ...layouts import Layout
from ...layouts.elements import elements
from .ranks import ranks
from .result import SimulationBasedCalibration

_FEWEST = 20


def sbc(
    layout: Layout,
    items: pd.DataFrame,
    *,
    simulations: int = 1000,
    trials: int = 1,
    alpha: float = 0.01,
    draws: int = 600,
    tune: int = 400,
    chains: int = 2,
    target_accept: float = 0.8,
    seed: int = 1,
    method: Literal["nuts", "grid"] = "nuts",
    starts: Literal["prior", "modes"] = "prior",
    reruns: int = 3,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> SimulationBasedCalibration:
    r"""Check that posteriors hold known profiles as often as they say.

    Profiles are drawn from the layout's prior, outcomes from the profiles, and all of them are
    fitted as subjects of one evaluation. If prior, simulator, likelihood and sampler agree, the
    rank of a true value among independent posterior draws is uniform,

    .. math:: \theta \sim p(\theta), \quad y \sim p(y \mid \theta), \quad
        \theta_1, \dots, \theta_L \sim p(\theta \mid y) \quad \Rightarrow \quad
        \#\{l : f(\theta_l, y) < f(\theta, y)\} \sim \mathrm{Uniform}\{0, \dots, L\},

    for every quantity f: each profile element, and the log-likelihood of the outcomes. Without the
    latter a posterior that ignores the outcomes would pass.

    Parameters
    ----------
    layout : Layout
        What joins items and profiles.
    items : DataFrame
        Meta-features, indexed by item. A small battery serves: calibration holds for every one, and
        many simulations see more than many items.
    simulations : int, default 1000
        How many, at least 20.
    trials : int, default 1
        Attempts per item.
    alpha : float, default 0.01
        Chance that a calibrated layout is found wanting, over all its quantities.
    draws, tune, chains, target_accept, method, starts, reruns, n_jobs, progressbar
        As in `fit`. 99 draws of each subject are used, thinned to be about independent; see
        `ranks.ranks`. Chains are short and two, so that of many layouts one simulation in ten does
        not converge at first or second; each is sampled again up to three times, with more care.
    seed : int, default 1
        Profiles, outcomes, chains and ties have streams of their own, made of it.

    Returns
    -------
    SimulationBasedCalibration
        Ranks, a verdict on each quantity and on the layout, and how many simulations are
        not_converged: their ranks count like all others, up to 5 % of the simulations. Of more, the
        verdict is "inconclusive"; see there.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    LayoutError
        When a prior cannot be drawn from.
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
    count = options.whole("simulations", simulations, _FEWEST)
    alpha = options.inside("alpha", alpha, such_as=0.01)
    streams = np.random.SeedSequence(options.whole("seed", seed)).spawn(4)
    profiles, outcomes, sampler, ties = (
        int(stream.generate_state(1, np.uint64)[0] >> 1) for stream in streams
    )
    truth = _profiles(layout, count, profiles)
    evaluation = simulate(layout, items, truth, seed=outcomes, trials=trials)
    fitted = fit(
        layout,
        evaluation,
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        seed=sampler,
        method=method,
        starts=starts,
        reruns=reruns,
        n_jobs=n_jobs,
        progressbar=progressbar,
    )
    status = fitted.diagnostics()[["status", "reason"]]
    return SimulationBasedCalibration(layout, ranks(fitted, truth, ties), status, alpha)


def _profiles(layout: Layout, count: int, seed: int) -> pd.DataFrame:
    """Draw profiles from the prior, a row for each simulation."""
    drawn = sample_prior(layout, count, seed)
    columns = {
        element.name: drawn[element.latent.name].reshape(count, -1)[:, element.index]
        for element in elements(layout)
    }
    index = pd.Index([str(number + 1) for number in range(count)], name="subject")
    return pd.DataFrame(columns, index)
