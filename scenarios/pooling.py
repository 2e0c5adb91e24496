"""What the layouts of several studies share where subjects share something."""

from ..layouts import Bias, Capability, Prior, Spread
from ..linking import Expr


def normal(mu: Expr | float, sigma: Expr | float) -> Prior:
    """Write a normal prior.

    Parameters
    ----------
    mu, sigma : expression or float
        Mean and standard deviation.

    Returns
    -------
    Prior
        Of the family "Normal".

    Examples
    --------
    >>> print(normal(0, 2))
    Prior('Normal', mu=0, sigma=2)
    """
    return Prior("Normal", mu=mu, sigma=sigma)


def pooled(
    name: str, mean: float, width: float, unit: str | None = None, about: str = ""
) -> Capability:
    r"""Return a capability that subjects have about a mean, as far apart as they are.

    .. math:: \theta_s \sim \mathrm{Normal}(\mu, \tau), \quad
        \mu \sim \mathrm{Normal}(m, w), \quad \tau \sim \mathrm{HalfNormal}(w)

    Parameters
    ----------
    name : str
        Of the capability; its mean and its spread bear it, too.
    mean, width : float
        Where the mean lies about, m, and how widely it and the subjects may lie, w.
    unit : str, optional
        Of all three.
    about : str
        Of the capability.

    Returns
    -------
    Capability
        One value for each subject.

    Examples
    --------
    >>> print(pooled("skill", 2, 1).prior)
    Prior('Normal', mu=skillMean, sigma=skillSpread)
    """
    centre = Bias(f"{name}Mean", unit=unit, per="population", prior=normal(mean, width))
    spread = Spread(f"{name}Spread", unit=unit, prior=Prior("HalfNormal", sigma=width))
    return Capability(name, unit=unit, prior=normal(centre, spread), about=about)


def item_ease(scale: float = 1.0) -> Bias:
    r"""Return what items have of their own beyond their demands, in log-odds.

    .. math:: e_i \sim \mathrm{Normal}(0, \tau), \quad \sum_i e_i = 0, \quad
        \tau \sim \mathrm{HalfNormal}(s)

    Parameters
    ----------
    scale : float
        How far apart items may be expected to be, s.

    Returns
    -------
    Bias
        One value for each item.

    Examples
    --------
    >>> print(item_ease().prior)
    Prior('ZeroSumNormal', sigma=easeSpread)
    """
    spread = Spread("easeSpread", prior=Prior("HalfNormal", sigma=scale))
    return Bias("ease", per="item", prior=Prior("ZeroSumNormal", sigma=spread))
