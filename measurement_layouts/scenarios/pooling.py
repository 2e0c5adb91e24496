"""Parts of population layouts that several studies use."""

from ..layouts import Capability, Effect, Prior, Spread
from ..linking import Expr


def normal(mu: Expr | float, sigma: Expr | float) -> Prior:
    """Return a normal prior.

    Parameters
    ----------
    mu, sigma : expression or float
        Mean and standard deviation.

    Returns
    -------
    Prior
        Prior of the family "Normal".

    Examples
    --------
    >>> print(normal(0, 2))
    Prior('Normal', mu=0, sigma=2)
    """
    return Prior("Normal", mu=mu, sigma=sigma)


def pooled(
    name: str, mean: float, width: float, unit: str | None = None, about: str = ""
) -> Capability:
    r"""Return a capability of subjects that varies about a mean, with an inferred spread.

    .. math:: \theta_s \sim \mathrm{Normal}(\mu, \tau), \quad
        \mu \sim \mathrm{Normal}(m, w), \quad \tau \sim \mathrm{HalfNormal}(w)

    Parameters
    ----------
    name : str
        Name of the capability, which is also part of the names of its mean and its spread.
    mean, width : float
        Prior mean m of the mean, and scale w of the priors of mean and spread.
    unit : str, optional
        Unit of all three.
    about : str
        Description of the capability.

    Returns
    -------
    Capability
        Capability with one value for each subject.

    Examples
    --------
    >>> print(pooled("skill", 2, 1).prior)
    Prior('Normal', mu=skillMean, sigma=skillSpread)
    """
    centre = Effect(f"{name}Mean", unit=unit, per="population", prior=normal(mean, width))
    spread = Spread(f"{name}Spread", unit=unit, prior=Prior("HalfNormal", sigma=width))
    return Capability(name, unit=unit, prior=normal(centre, spread), about=about)


def item_ease(scale: float = 1.0) -> Effect:
    r"""Return the effects of items beyond their demands, in log-odds.

    .. math:: e_i \sim \mathrm{Normal}(0, \tau), \quad \sum_i e_i = 0, \quad
        \tau \sim \mathrm{HalfNormal}(s)

    Parameters
    ----------
    scale : float
        Scale s of the prior of the spread.

    Returns
    -------
    Effect
        Effect with one value for each item.

    Examples
    --------
    >>> print(item_ease().prior)
    Prior('ZeroSumNormal', sigma=easeSpread)
    """
    spread = Spread("easeSpread", prior=Prior("HalfNormal", sigma=scale))
    return Effect("ease", per="item", prior=Prior("ZeroSumNormal", sigma=spread))
