"""Draws from a posterior that was integrated."""

import numpy as np

from ....evaluations.evaluation import SubjectData
from ..draws import Draws, SamplingOptions
from ..engine import Battery
from .posterior import ExactPosterior
from .quadrature import draw

_GOLDEN = (5**0.5 - 1) / 2  # its multiples, modulo 1, lie more evenly than any other number's


def integrate(battery: Battery, data: SubjectData, options: SamplingOptions, seed: int) -> Draws:
    r"""Draw from one subject's posterior without a Markov chain.

    The posterior of a profile of one or two elements,

    .. math:: p(\theta \mid k) \propto
       p(\theta) \prod_i \mathrm{Binomial}\left(k_i; n_i, P_i(\theta)\right),

    is integrated by adaptive quadrature until its mass, means and variances are settled to 1e-6.
    There is no start to choose and no mode is too far away: modes are looked for wherever a success
    probability changes. What can be missed is a change and its return within 1/2000 of the range.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        How many draws and chains; the rest is for Markov chains.
    seed : int
        Of the draws.

    Returns
    -------
    Draws
        Spread evenly over the posterior, then dealt to the chains in random order: independent
        draws as far as R-hat can tell, with a mean that is ten times closer or more. The statistics
        are those of NUTS: ``lp`` is the same log-density, interpolated; nothing diverges,
        ``tree_depth`` is 0 and ``energy``, which has no meaning here, is NaN.

    Raises
    ------
    FitError
        When the profile has more than two elements, or the posterior cannot be normalised or has
        too much detail.
    LayoutError
        When PyMC does not take a prior, or it cannot be drawn from.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> data = SubjectData(successes=np.array([16]), trials=np.array([24]), constants={})
    >>> draws = integrate(Battery(coin, {}, items=1), data, SamplingOptions(), seed=1)
    >>> drawn = draws.posterior["p"]
    >>> drawn.shape, float(drawn.mean().round(4)), round(17 / 26, 4)
    ((4, 1000), 0.6538, 0.6538)
    """
    posterior = ExactPosterior(battery, data)
    boxes = posterior.boxes()
    count = options.chains * options.draws
    rng = np.random.default_rng(seed)
    first = (np.arange(count) + rng.random(count)) / count
    second = (np.arange(count) * _GOLDEN + rng.random()) % 1
    points, logs = draw(boxes, np.stack([first, second][: boxes.axes], axis=1))
    order = rng.permutation(count)
    profile, _, stretch = posterior.coordinates.profile(list(points[order].T))
    shape = (options.chains, options.draws)
    return Draws(
        {name: values.reshape(*shape, *values.shape[1:]) for name, values in profile.items()},
        {
            "diverging": np.zeros(shape, dtype=bool),
            "energy": np.full(shape, np.nan),
            "tree_depth": np.zeros(shape, dtype=np.uint64),
            "lp": (logs[order] - stretch + posterior.ways).reshape(shape),
        },
    )
