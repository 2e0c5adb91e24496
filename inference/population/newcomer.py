"""A new subject's profile, given the joint fit of the others."""

import json

import numpy as np

from ...common.errors import FitError
from ...common.options import whole
from ...common.seeds import subject_seed
from ...evaluations.evaluation import Evaluation
from ...layouts.plates import ITEM, SUBJECT
from ..posterior.assembly import FAULTS, Training, Tried, assemble, marks
from ..posterior.posterior import Posterior
from ..sampling.convergence import ESS_PER_CHAIN, RHAT_LIMIT, rhat_ess
from ..sampling.draws import SamplingOptions
from ..sampling.particles import Sample, sample_particles
from .joining import Joined, shared_draws
from .marginal import log_marginal, log_ways
from .target import Target

_OPTIONS = SamplingOptions(draws=1000, chains=4)
_SINGLED_OUT = 100, 0.1  # effective draws of what is shared, and their part of all, for an alarm


def newcomer(fit: Posterior, evaluation: Evaluation, seed: int | None = None) -> Posterior:
    r"""Fit a subject that was not fitted, given the joint fit of the others.

    With the others' data D, what is shared :math:`\varphi` and the newcomer's own values
    :math:`\theta` and outcomes y,

    .. math:: p(\theta, \varphi \mid y, D)
        \propto p(\varphi \mid D)\, p(\theta \mid \varphi)\, p(y \mid \theta, \varphi),

    which is the joint posterior of all. The first factor is the draws of the fit, each of which is
    weighted, in effect, by the newcomer's marginal likelihood. An item, school or other level that
    the fit does not know has one draw from its prior beside each draw of the fit.

    Parameters
    ----------
    fit : Posterior
        Of the others.
    evaluation : Evaluation
        One subject's outcomes, with the properties of items and subject that the layout needs.
        Items are known by name; those not attempted do not matter.
    seed : int, optional
        Of the draws; that of the fit by default. They depend on it and the subject's name.

    Returns
    -------
    Posterior
        Of this subject alone, 4 chains of 1,000 draws, on all items of the fit: what is shared as
        the newcomer, too, has it. Its draws are among those of the fit, so that it is no better
        known than there.

    Raises
    ------
    DataError
        When there is not one subject, or it is in the fit already; when an item that the fit knows
        comes with other properties, or a new one does not fit the layout.
    FitError
        When nothing is shared in the fit, the seed is no whole number, or a new value is to be
        drawn from a family of which PyMC has no quantiles.

    References
    ----------
    Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Bias, Capability, Layout, Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> about = Prior("Normal", mu=Bias("mean", per="population"), sigma=Spread("spread"))
    >>> effects = Prior("ZeroSumNormal", sigma=Spread("easeSpread"))
    >>> margin = Capability("ability", prior=about) + Bias("ease", per="item", prior=effects)
    >>> rasch = Layout("Rasch", Success("solved", logistic(margin)))
    >>> outcomes = pd.DataFrame(np.tri(9, 8, dtype=int), [*"abcdefghi"]).rename(columns=str)
    >>> everybody = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> others = fit(rasch, everybody.select(subjects=[*"abcdefgh"]), draws=200, tune=300, seed=1,
    ...              progressbar=False)
    >>> found = newcomer(others, everybody.select(subjects=["i"]))
    >>> found
    <Posterior of 'Rasch': 1 subject, 4 chains of 1000 draws, 0 failed>
    >>> print(f"{found.posterior['ability'].mean():.2f}")  # passed all eight items, in log-odds
    3...
    """
    layout = fit.layout
    if not layout.joint:
        raise FitError(
            f"layout {layout.name!r} shares nothing between subjects, so that the others say "
            "nothing about a newcomer; fit it alone: fit(layout, evaluation)"
        )
    found = int(fit.data.attrs["seed"]) if seed is None else whole("seed", seed)
    joined = Joined.of(fit, evaluation)
    (who,) = joined.own.levels[SUBJECT]
    rng = np.random.default_rng(subject_seed(found, f"levels of {who}"))
    target = Target(joined, shared_draws(fit, joined, rng))
    sample = sample_particles(
        target.log_likelihood,
        int(target.active.sum()),
        target.count,
        _OPTIONS.chains,
        _OPTIONS.draws,
        subject_seed(found, who),
    )
    return _assembled(target, sample, found, rng)


def log_predictive(fit: Posterior, evaluation: Evaluation, seed: int) -> np.ndarray:
    """Compute a new subject's log-likelihood for each draw, its own values integrated over.

    Parameters
    ----------
    fit : Posterior
        A joint fit of others.
    evaluation : Evaluation
        One subject's outcomes, as for `newcomer`.
    seed : int
        Of levels that the fit does not know, and of points where several values are integrated
        over.

    Returns
    -------
    ndarray, shape (draws,)
        In nats.

    Raises
    ------
    DataError, FitError
        As `newcomer` and `log_marginal` do.
    """
    joined = Joined.of(fit, evaluation)
    own = joined.own
    (who,) = own.levels[SUBJECT]
    rng = np.random.default_rng(subject_seed(seed, f"levels of {who}"))
    found = log_marginal(Target(joined, shared_draws(fit, joined, rng)), who, seed)
    return found.values + log_ways(own.successes, own.trials)


def _assembled(target: Target, sample: Sample, seed: int, rng: np.random.Generator) -> Posterior:
    """Put the draws into one tree."""
    from ..model.prior import draw_prior  # PyMC is slow to import

    cohort = target.joined.own
    layout, chains, draws = cohort.layout, *sample.shared.shape
    scores = rng.normal(size=(chains * draws, len(target.active)))
    scores[:, target.active] = sample.scores.reshape(chains * draws, -1)
    places = sample.shared.ravel()
    posterior, own = {}, target.values(scores, places)
    for latent in layout.latents:
        mine = latent.name in own
        values = own[latent.name] if mine else target.shared[latent.name][places]
        values = values.reshape(chains, draws, *values.shape[1:])
        if mine:
            values = np.moveaxis(values, 2 + latent.plates.index(SUBJECT), 0)
        posterior[latent.name] = values
    items = len(cohort.levels[ITEM])
    successes, trials = np.zeros((2, 1, items), dtype=int)
    successes[0, cohort.item], trials[0, cohort.item] = cohort.successes, cohort.trials
    (who,) = cohort.levels[SUBJECT]
    return assemble(
        layout,
        Training([who], cohort.levels[ITEM], dict(cohort.features), successes, trials, {}),
        {name: drawn[None] for name, drawn in draw_prior(layout).items()},
        posterior,
        {
            "diverging": np.zeros((1, chains, draws), dtype=bool),
            "lp": sample.log_likelihood[None],
        },
        marks(layout, _OPTIONS, seed, "newcomer") | {FAULTS: json.dumps(_faults(target, sample))},
        {who: Tried(1, None)},
        cohort,
    )


def _faults(target: Target, sample: Sample) -> list[str]:
    """Say what is wrong with the draws, in the manner of `convergence.faults`."""
    chains = len(sample.shared)
    jointly = "fit all subjects jointly: fit(layout, others + newcomer)"
    found = []
    measured = rhat_ess(np.moveaxis(sample.scores, -1, 0))
    if measured.rhat.size:
        rhat, least = measured.rhat.max(), min(measured.ess_bulk.min(), measured.ess_tail.min())
        if not rhat <= RHAT_LIMIT:
            found.append(
                f"R-hat {rhat:.4f} above {RHAT_LIMIT}: groups of particles differ; {jointly}"
            )
        if not least >= ESS_PER_CHAIN * chains:
            enough = ESS_PER_CHAIN * chains
            found.append(f"effective sample size {least:.0f} below {enough}; {jointly}")
    left, number, part = sample.effective, target.count, "draws of what is shared"
    if target.joined.new:
        part += f" (new to the fit, so drawn from priors: {target.joined.new})"
    few, tenth = _SINGLED_OUT
    if left < few and left < tenth * number:
        found.append(
            f"the outcomes single out {left:.0f} of {number:,} {part}: this subject changes what "
            f"is believed of the others; {jointly}"
        )
    elif left < ESS_PER_CHAIN * chains:
        found.append(
            f"few draws: the outcomes leave {left:.0f} of {number:,} {part}, below "
            f"{ESS_PER_CHAIN * chains}; fit the others with more draws, or {jointly}"
        )
    return found
