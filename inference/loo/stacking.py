"""Stacking: weights of layouts whose predictions are mixed."""

import numpy as np
from scipy.optimize import LinearConstraint, minimize

_FAR_BEHIND = -50.0  # nats behind the best layout on one point; more would move no weight


def stacking_weights(elpd: np.ndarray) -> np.ndarray:
    r"""Find the mixture of layouts' predictions that foresees all points best.

    .. math:: \max_w \sum_i \log \sum_l w_l \exp \mathrm{elpd}_{il}, \qquad w_l \ge 0, \;
        \sum_l w_l = 1

    Parameters
    ----------
    elpd : ndarray, shape (points, layouts)
        Log predictive densities of points that were left out, in nats.

    Returns
    -------
    ndarray, shape (layouts,)
        Weights, which add up to 1.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman (2018), Using stacking to average Bayesian predictive
    distributions, Bayesian Analysis 13(3), section 3.

    Examples
    --------
    >>> stacking_weights(np.log([[0.9, 0.1], [0.8, 0.2], [0.2, 0.9]])).round(2)
    array([0.78, 0.22])
    """
    layouts = elpd.shape[1]
    behind = elpd - elpd.max(axis=1, keepdims=True)
    likelihood = np.exp(np.maximum(behind, _FAR_BEHIND))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = likelihood @ weights
        return -np.log(mixed).mean(), -(likelihood / mixed[:, None]).mean(axis=0)

    found = minimize(
        loss,
        np.full(layouts, 1 / layouts),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * layouts,
        constraints=LinearConstraint(np.ones(layouts), 1, 1),
        tol=1e-9,
    )
    weights = np.clip(found.x, 0, 1)
    return np.asarray(weights / weights.sum())
