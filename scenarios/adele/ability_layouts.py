"""Layouts of the general scales: abilities apart, or about the subject's general level."""

from ...layouts import Capability, Derived, Layout, MetaFeature, Prior, Success
from ...linking import guessing, logistic, product
from .battery import SLOPE
from .scales import DEMANDS

_TOP, _HIGHEST = 5, 10


def apart(guessed: bool = True) -> Layout:
    r"""Declare eighteen abilities that know nothing of each other.

    .. math:: P = c + (1 - c) \prod_d \sigma(2.5 (a_d - l_d)), \quad
       a_d \sim \mathrm{Uniform}(0, 10)

    Parameters
    ----------
    guessed : bool
        Whether an item of ``unguessability`` u is guessed with probability c = 1 - u/100.
        Otherwise c = 0 and the column is not needed.

    Returns
    -------
    Layout
        With `guessed`, that of `battery.rule`.

    Notes
    -----
    A failure says that some ability is lacking and not which, so the data bound most abilities
    from below only, and the prior reaches up to level 10.

    Examples
    --------
    >>> apart()
    <Layout 'abilities-apart': ability, demand, able, unguessability, success>
    """
    return _layout("abilities-apart", Prior("Uniform", lower=0, upper=_HIGHEST), guessed)


def about_a_general_level(guessed: bool = True) -> Layout:
    r"""Declare eighteen abilities that scatter about a level of the same subject.

    .. math:: a_d \sim \mathrm{Normal}(g, s), \quad g \sim \mathrm{Normal}(4, 2), \quad
       \log s \sim \mathrm{Normal}(-0.7, 0.7)

    The rest is as in `apart`. How widely the abilities scatter is inferred, too. What the items say
    of some abilities then bounds the others. It is still one subject's outcomes alone.

    Parameters
    ----------
    guessed : bool
        As in `apart`.

    Returns
    -------
    Layout
        With 20 latents: ``ability``, ``generalLevel``, ``scatter``.

    Examples
    --------
    >>> [latent.name for latent in about_a_general_level(guessed=False).latents]
    ['generalLevel', 'scatter', 'ability']
    """
    level = Capability("generalLevel", unit="level", prior=Prior("Normal", mu=4, sigma=2))
    scatter = Capability("scatter", unit="level", prior=Prior("LogNormal", mu=-0.7, sigma=0.7))
    near = Prior("Normal", mu=level, sigma=scatter)
    return _layout("abilities-about-a-level", near, guessed)


def _layout(name: str, prior: Prior, guessed: bool) -> Layout:
    ability = Capability("ability", prior=prior, unit="level", labels=DEMANDS)
    demand = MetaFeature("demand", low=0, high=_TOP, unit="level", labels=DEMANDS)
    able = Derived("able", product(logistic(ability - demand, SLOPE), over="dimension"))
    if not guessed:
        return Layout(name, Success("success", able))
    unguessability = MetaFeature("unguessability", low=0, high=100)
    return Layout(name, Success("success", guessing(able, 1 - unguessability / 100)))
