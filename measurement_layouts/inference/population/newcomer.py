"""A new subject's profile, given the joint fit of the others."""

import json

import numpy as np

from ...common.errors import FitError
from ...common.options import whole
from ...common.seeds import subject_seed
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import row_names
from ...layouts.plates import ITEM, SUBJECT
from ..posterior.assembly import assemble, data_jointly, marks
from ..posterior.posterior import FAULTS, Posterior
from ..sampling.convergence import ESS_PER_CHAIN, RHAT_LIMIT, rhat_ess
from ..sampling.draws import SamplingOptions
from ..sampling.particles import Sample, sample_particles
from .joining import Joined, shared_draws
from .target import Target

_OPTIONS = SamplingOptions(draws=1000, chains=4)
_SINGLED_OUT = 100, 0.1  # fewer effective shared draws, and a smaller part of all, are a fault


def newcomer(fit: Posterior, evaluation: Evaluation, seed: int | None = None) -> Posterior:
    r"""Fit a new subject, given the joint fit of the others.

    With the others' data D, the shared values :math:`\varphi`, and the newcomer's own values
    :math:`\theta` and outcomes y,

    .. math:: p(\theta, \varphi \mid y, D)
        \propto p(\varphi \mid D)\, p(\theta \mid \varphi)\, p(y \mid \theta, \varphi),

    which is the joint posterior of all subjects. The draws of the fit represent the first factor,
    and each is in effect weighted by the newcomer's marginal likelihood. An item, school or other
    level that is not in the fit has one draw from its prior for each draw of the fit.

    Parameters
    ----------
    fit : Posterior
        The joint fit of the other subjects.
    evaluation : Evaluation
        One subject's outcomes, with the properties of items and subject that the layout needs.
        Items of the fit are found by name; items that were not attempted do not matter.
    seed : int, optional
        Seed of the draws (default: the seed of the fit). The draws depend on the seed and on the
        subject's name.

    Returns
    -------
    Posterior
        Posterior of this subject alone, with 4 chains of 1,000 draws, on all items of the fit. The
        draws of the shared values are a selection from those of the fit, so that they are not more
        precise than these.

    Raises
    ------
    DataError
        When the evaluation does not have exactly one subject, or the subject is in the fit already;
        when an item of the fit is given other properties, or a new item does not fit the layout.
    FitError
        When the fit is not joint, the seed is not a whole number, or a new value has a prior of a
        family whose new levels cannot be drawn.

    References
    ----------
    Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Effect, Layout, Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> about = Prior("Normal", mu=Effect("mean"), sigma=Spread("spread"))
    >>> effects = Prior("ZeroSumNormal", sigma=Spread("easeSpread"))
    >>> margin = Capability("ability", prior=about) + Effect("ease", per="item", prior=effects)
    >>> rasch = Layout("Rasch", Success("solved", logistic(margin)))
    >>> outcomes = pd.DataFrame(np.tri(9, 8, dtype=int), [*"abcdefghi"]).rename(columns=str)
    >>> everybody = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> others = fit(rasch, everybody.select(subjects=[*"abcdefgh"]), draws=200, tune=300, seed=1,
    ...              progressbar=False)
    >>> found = newcomer(others, everybody.select(subjects=["i"]))
    >>> found
    <Posterior of 'Rasch': 1 subject, 4 chains of 1000 draws, 0 failed>
    >>> bool(found.posterior["ability"].mean() > 3)  # passed all eight items, in log-odds
    True
    """
    refuse_no_evaluation(evaluation)
    layout = fit.layout
    if not layout.joint:
        raise FitError(
            f"layout {layout.name!r} shares nothing between subjects, so a newcomer does not "
            "depend on the others; fit it separately: fit(layout, evaluation)"
        )
    seed = int(fit.data.attrs["seed"]) if seed is None else whole("seed", seed)
    joined = Joined.of(fit, evaluation)
    (name,) = joined.own.levels[SUBJECT]
    rng = np.random.default_rng(subject_seed(seed, f"levels of {name}"))
    target = Target(joined, shared_draws(fit, joined))
    sample = sample_particles(
        target.log_likelihood,
        int(target.active.sum()),
        target.count,
        _OPTIONS.chains,
        _OPTIONS.draws,
        subject_seed(seed, name),
    )
    return _assembled(target, sample, seed, rng)


def _assembled(target: Target, sample: Sample, seed: int, rng: np.random.Generator) -> Posterior:
    """Assemble the draws as a posterior."""
    cohort, shape = target.joined.own, sample.picks.shape
    layout, picks = cohort.layout, sample.picks.ravel()
    scores = rng.normal(size=(len(picks), len(target.active)))
    scores[:, target.active] = sample.scores.reshape(len(picks), -1)
    draws = {name: values[picks] for name, values in target.shared.items()}
    draws |= target.values(scores, picks)
    posterior = {}
    for latent in layout.latents:
        values = draws[latent.name]
        posterior[latent.name] = values.reshape(*shape, *values.shape[1:])
    steps, names = layout.steps, list(cohort.levels[ITEM])
    rows = None if steps is None else row_names(names, steps)
    data = data_jointly(cohort, rows)
    faults = json.dumps(_faults(target, sample))
    data.attrs = marks(layout, _OPTIONS, seed, "newcomer") | {FAULTS: faults}
    statistics = {"diverging": np.zeros(shape, dtype=bool), "lp": sample.log_likelihood}
    return assemble(layout, data, posterior, statistics, {}, {})


def _faults(target: Target, sample: Sample) -> list[str]:
    """Describe faults of the draws, in the form of `convergence.faults`."""
    enough = ESS_PER_CHAIN * len(sample.picks)
    jointly = "fit all subjects jointly: fit(layout, others + newcomer)"
    faults = []
    mixed = rhat_ess(np.moveaxis(sample.scores, -1, 0))
    rhat = mixed.rhat.max(initial=0)
    least = min(mixed.ess_bulk.min(initial=np.inf), mixed.ess_tail.min(initial=np.inf))
    if not rhat <= RHAT_LIMIT:
        faults.append(f"R-hat {rhat:.4f} above {RHAT_LIMIT}: groups of particles differ; {jointly}")
    if not least >= enough:
        faults.append(f"effective sample size {least:.0f} below {enough}; {jointly}")
    effective, number, shared = sample.effective, target.count, "draws of the shared values"
    if target.joined.new:
        shared += f" (new to the fit, so drawn from priors: {target.joined.new})"
    few, tenth = _SINGLED_OUT
    agree = f"the outcomes agree with an effective {effective:.0f} of {number:,} {shared}"
    if effective < min(few, tenth * number):
        faults.append(f"{agree}: this subject changes the estimates of the others; {jointly}")
    elif effective < enough:
        faults.append(
            f"few draws: {agree}, below {enough}; fit the others with more draws, or {jointly}"
        )
    return faults
