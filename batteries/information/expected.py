"""How much the data are expected to tell, before they are looked at."""

from dataclasses import dataclass

import numpy as np

from ...inference.model.alignment import Features
from ...layouts import Layout
from .sensitivity import Sensitivity

DRAWS = 200
CONFOUNDED = 0.7  # posterior correlation from which two latents are hard to tell apart
_ROUNDS = 2  # of averaging information over the posterior it leads to
ENOUGH = 15  # effective draws, from which their variance may be better than a normal law's
APART = 2  # times the variance of the normal law, from which draws lie in several modes
CLEARLY = 0.87  # ... and below which draws know of ends; 200 of them vary by less
TOLD = 0.9  # part of the prior's variance, above which outcomes say nothing of an element
_MOST = 48  # different sets of attempted items that are looked at; others get the nearest one's


@dataclass(frozen=True, eq=False)
class Expected:
    """What the outcomes are expected to teach, before they are looked at.

    Attributes
    ----------
    prior_sd : ndarray, shape (elements,)
        Standard deviations before the data.
    sds : ndarray, shape (subjects, elements)
        Expected posterior standard deviations.
    correlation : ndarray, shape (elements, elements)
        Expected posterior correlation, the mean over draws and subjects.
    matters : ndarray of bool, shape (rows, elements)
        On which items, or steps of their outcomes, success depends on the element.
    """

    prior_sd: np.ndarray
    sds: np.ndarray
    correlation: np.ndarray
    matters: np.ndarray


def expected(layout: Layout, features: Features, trials: np.ndarray, *, seed: int) -> Expected:
    r"""Compute the posterior standard deviations that subjects' attempts lead to on average.

    .. math:: I(\theta) = \sum_i \frac{n_i q_i}{p_i (1 - p_i)} \nabla p_i \nabla p_i^\top, \qquad
        C(\theta) = \left(\bar I(\theta) + \Sigma_{prior}^{-1}\right)^{-1}

    where rows i are items, and q is 1. Where outcomes are several, graded or scores, rows are their
    steps: p is the probability of passing one, given that the one before was passed, and q that of
    coming to it, the product of those below. The sum over an outcome's steps is then the exact
    information of the grade or score.

    The expected standard deviation is the mean of :math:`\sqrt{C_{kk}}` over draws of the profile
    from its prior. Information at the very draw would take a success curve that is steep elsewhere
    for none at all; so it is averaged over draws near by, weighted with the normal density that has
    the covariance C of the round before.

    Such a normal law has one mode and no ends. Outcomes under bands may fit profiles on both sides
    of them, and a handful of items cuts a range off rather than bends a normal law. There variances
    are those of the draws that the outcomes cannot tell from the profile; see `Uncertainty`. With
    one capability this is within 8 % of exact posteriors. For narrow bands it is up to 45 % too low
    where single outcomes decide between modes, since it holds the average outcome against each
    draw; the normal law alone says a half of it, or an eighth.

    Parameters
    ----------
    layout : Layout
        The layout.
    features : dict of str to ndarray
        By meta-feature, hidden ones too, shape (rows,) or (rows, labels).
    trials : ndarray of int, shape (subjects, rows)
        Attempts; of a step, all at its item.
    seed : int
        Of the 200 draws.

    Returns
    -------
    Expected
        In the elements' units.

    References
    ----------
    Chaloner, K. and Verdinelli, I. (1995), Bayesian experimental design: a review, Statistical
    Science 10, section 2.2, for the normal approximation of the posterior.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=10)
    >>> smallness = MetaFeature("smallness", low=0, high=10)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> features = {"smallness": np.linspace(0, 10, 40)}
    >>> found = expected(layout, features, np.ones((1, 40), dtype=int), seed=1)
    >>> found.prior_sd.round(1), found.sds.round(1)
    (array([2.9]), array([[0.5]]))
    """
    source = Sensitivity.of(layout, features, trials.shape[1], DRAWS, seed)
    order, alike = source.block.items, source.block.alike
    starts = np.flatnonzero(np.diff(alike, prepend=-1))
    attempts = np.add.reduceat(trials[:, order], starts, axis=1)
    sets, own = _sets(attempts)
    size = len(source.spread)
    information = np.empty((len(sets), DRAWS, size, size))
    matters = np.zeros((source.block.count, size), dtype=bool)
    for part, scaled in source.slopes():
        matters |= source.matters(scaled)
        turned = scaled.transpose(0, 2, 1)
        for place, counts in enumerate(sets):
            information[place, part] = (turned * counts) @ scaled
    divergence = Divergence.of(source)
    sds, correlations = [], []
    for each, counts in zip(information, sets, strict=True):
        covariance = near(each, source)
        found = Uncertainty.of(covariance, divergence.told(counts), source)
        sds.append(np.sqrt(found.variance).mean(axis=0))
        correlations.append(correlation_of(covariance))
    share = np.bincount(own, minlength=len(sets)) / len(own)
    by_row = np.empty((len(order), size), dtype=bool)
    by_row[order] = matters[alike]
    return Expected(
        source.spread,
        np.array(sds)[own],
        np.tensordot(share, np.array(correlations), axes=1),
        by_row,
    )


def _sets(attempts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find different sets of attempts, or some of very many, and each subject's own or nearest."""
    sets, own = np.unique(attempts, axis=0, return_inverse=True)
    if len(sets) <= _MOST:
        return sets, own.ravel()
    order = np.argsort(sets.sum(axis=1), kind="stable")
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    nearest = np.round(rank * (_MOST - 1) / (len(order) - 1)).astype(int)
    kept = order[np.round(np.linspace(0, len(order) - 1, _MOST)).astype(int)]
    return sets[kept], nearest[own.ravel()]


@dataclass(frozen=True, eq=False)
class Divergence:
    r"""How well outcomes tell profiles apart.

    The divergence of profile e from d is what outcomes on rows i, made by d, say for d and against
    e on average, in nats:

    .. math:: D_{de} = \sum_i n_i q_{id} \left(p_{id} \log \frac{p_{id}}{p_{ie}}
        + (1 - p_{id}) \log \frac{1 - p_{id}}{1 - p_{ie}}\right)

    Attributes
    ----------
    chance, tried : ndarray, shape (draws, rows)
        Success p, and the probability q of coming to the row.
    """

    chance: np.ndarray
    tried: np.ndarray

    @classmethod
    def of(cls, source: Sensitivity) -> "Divergence":
        """Take the different rows and the draws."""
        return cls(*source.chances())

    def told(self, counts: np.ndarray) -> np.ndarray:
        """Sum the divergence over the rows, each as often as it counts; shape (draws, draws)."""
        tried = self.tried * counts
        found = np.zeros((len(tried), len(tried)))
        for chance in (self.chance, 1 - self.chance):
            logs, weights = np.log(chance), tried * chance
            found += (weights * logs).sum(axis=1)[:, None] - weights @ logs.T
        return found


@dataclass(frozen=True, eq=False)
class Uncertainty:
    r"""Posterior variances at every draw, and where each is from.

    .. math:: w_{de} \propto e^{-D_{de}}

    is the posterior probability of draw e when the outcomes are those that d leads to on average.
    It knows of several modes and of ranges that are cut off. Its variance is taken where it is more
    than twice the normal law's, as with modes apart, and where it is smaller, if the draws are
    worth 15 or more: a normal law knows of no ends, and outcomes as they are on average leave a
    posterior wider than outcomes do on average (by 6 to 14 % for the published layout of Animal-AI
    on 60 items, where the normal law is within 4 %).

    Attributes
    ----------
    weights : ndarray, shape (draws, draws)
        Rows sum to 1.
    by_draws : ndarray of bool, shape (draws, elements)
        Which variances are those of the draws under the weights.
    variance : ndarray, shape (draws, elements)
        In the elements' units, squared.
    """

    weights: np.ndarray
    by_draws: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(
        cls, covariance: np.ndarray, divergence: np.ndarray, source: Sensitivity
    ) -> "Uncertainty":
        """Take the covariances of the normal laws, and the divergence of the draws.

        Draws are laid out so that their variance is that of all draws they were chosen from.
        """
        weights = np.exp(-divergence)
        weights /= weights.sum(axis=1, keepdims=True)
        centred = (source.draws - source.draws.mean(axis=0)) / source.draws.std(axis=0, ddof=1)
        centred *= source.spread
        own = np.maximum(weights @ centred**2 - (weights @ centred) ** 2, 0)
        normal = np.diagonal(covariance, axis1=1, axis2=2)
        alone = (weights**2).sum(axis=1)
        many = alone * ENOUGH <= 1
        own /= 1 - np.where(many, alone, 0)[:, None]
        told = normal < TOLD * source.spread**2
        by_draws = own > APART * normal
        by_draws |= many[:, None] & told & (own < CLEARLY * normal)
        return cls(weights, by_draws, np.where(by_draws, own, normal))


def near(information: np.ndarray, source: Sensitivity) -> np.ndarray:
    """Compute covariances at every draw, their information averaged over the draws near by."""
    return near_by(information, source)[0]


def near_by(information: np.ndarray, source: Sensitivity) -> tuple[np.ndarray, np.ndarray]:
    """Compute covariances as `near` does, and the weights of the draws near by each draw."""
    covariance = np.linalg.inv(information + source.precision)
    gaps = source.draws[:, None] - source.draws[None]
    flat = information.reshape(len(information), -1)
    for _ in range(_ROUNDS):
        far = ((gaps @ np.linalg.inv(covariance)) * gaps).sum(axis=-1)
        weights = np.exp(-far / 2)
        weights /= weights.sum(axis=1, keepdims=True)
        averaged = (weights @ flat).reshape(information.shape)
        covariance = np.linalg.inv(averaged + source.precision)
    return np.asarray(covariance), weights


def correlation_of(covariance: np.ndarray) -> np.ndarray:
    """Average posterior correlations over draws, shape (elements, elements)."""
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return np.asarray((covariance / (sd[:, :, None] * sd[:, None])).mean(axis=0))
