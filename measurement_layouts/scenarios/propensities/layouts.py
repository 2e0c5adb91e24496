"""Layouts of a propensity: the published one, the recommended one, and one of two parameters."""

from ...layouts import Layout, MetaFeature, Noise, Prior, Propensity, Spread, Success, Unseen
from ...linking import Expr, arrays, band, linking_function, mixture, uncertain_band
from ...linking.arrays import Array

PUBLISHED, RECOMMENDED = "published layout", "recommended layout"

LEVEL = "level"  # the unit of the rubrics' scale
_WIDTH = 2 / 3  # sd of the prior per level of `furthest`, so that most mass is within the levels
_CHANCE = 1 / 3  # probability of a right guess among three options


@linking_function(range=(0, 1), domain={"p": (0, 1)})
def clipped(p: Array, *, margin: float) -> Array:
    r"""Clip a probability off 0 and 1.

    .. math:: \min(\max(p, \epsilon), 1 - \epsilon)

    Parameters
    ----------
    p : expression or array
        Probability, in [0, 1].
    margin : float
        Least distance from 0 and 1.

    Returns
    -------
    expression or array
        Probability in [margin, 1 - margin].

    Examples
    --------
    >>> float(clipped(1.0, margin=0.1)), float(clipped(0.4, margin=0.1))
    (0.9, 0.4)
    """
    return arrays.minimum(arrays.maximum(p, margin), 1 - margin)


def published_layout(furthest: float = 3) -> Layout:
    """Return the model of the paper: success needs the propensity inside the item's band.

    Probabilities are clipped at 1e-10 as in the released code, so that log-likelihoods are the
    published ones. The paper has no prior; N(0, 2) covers the whole scale from -3 to 3, and the
    prior of a longer scale is wider in proportion.

    Parameters
    ----------
    furthest : float
        Largest distance of an end of a band from 0, in levels.

    References
    ----------
    Propensities paper, Eq. 5 and 6.

    Examples
    --------
    >>> [latent.name for latent in published_layout().latents]
    ['propensity']
    """
    propensity, lower, upper = _nodes(furthest)
    return Layout(
        "propensity-published",
        Success("rightAnswer", clipped(band(propensity, lower, upper), margin=1e-10)),
    )


def recommended_layout(furthest: float = 3) -> Layout:
    """Return a layout for bands that were annotated in whole levels, with noise.

    - An annotated end is the last whole level at which a subject answers rightly, so that the
      probability is one half between it and the next level: the end is moved outwards by half a
      level, and is uncertain by half a level on either side.
    - The slope of 8 distinguishes a level from the next.
    - A share of the answers does not depend on the propensity; these choose one of three options at
      random.

    The layout includes the uncertainty of the ends, and no outcome is impossible, so that the
    likelihood has no steep steps, and no local optima as in the published model. Its structure was
    chosen by hold-out scores on the real risk-aversion study.

    Parameters
    ----------
    furthest : float
        Largest distance of an end of a band from 0, in levels.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents]
    ['propensity', 'noise']
    """
    propensity, lower, upper = _nodes(furthest)
    return Layout("propensity-recommended", _slipping(propensity, lower, upper))


def firmness_layout(furthest: float = 3) -> Layout:
    r"""Return the recommended layout with two parameters: place and firmness of a propensity.

    .. math:: P_i = (1 - \nu) \int B_i(\theta + \omega z) \, \varphi(z) \, dz + \frac{\nu}{3}

    with the place :math:`\theta`, the wobble :math:`\omega`, the noise :math:`\nu`, the standard
    normal density :math:`\varphi` and the band :math:`B_i` of `recommended_layout`. For each item,
    the subject has a different state about its place. A small wobble is a firm propensity: the
    place is inside or outside a band. With a large wobble, subjects fail some items on either side
    of an end. With a wobble of 0 this is the recommended layout.

    Only the ends of bands are informative about the wobble, so that items are needed whose bands
    end near the place: `check` gives the shrinkage of the wobble that a battery leads to. Without
    noise, a single slip far from every end would increase the wobble.

    Parameters
    ----------
    furthest : float
        Largest distance of an end of a band from 0, in levels.

    References
    ----------
    Propensities paper, section 6, which names one parameter as a limit of its model.

    Examples
    --------
    >>> print(firmness_layout())
    propensity-firmness
      state ~ Normal(propensity, wobble)
      rightAnswer = mixture(uncertain_band(state, lower − 0.5, upper + 0.5, 0.5, 8), noise, ...
    """
    place, lower, upper = _nodes(furthest)
    wide = Prior("HalfNormal", sigma=furthest / 3)
    wobble = Spread("wobble", per="subject", unit=LEVEL, prior=wide, about="small: held firmly")
    state = Unseen("state", mean=place, spread=wobble)
    return Layout("propensity-firmness", _slipping(state, lower, upper))


def _slipping(theta: Expr, lower: MetaFeature, upper: MetaFeature) -> Success:
    """Return success if an expression is inside a band annotated in whole levels, with noise."""
    noise = Noise("noise", prior=Prior("Beta", alpha=1, beta=9))
    inside = uncertain_band(theta, lower - 0.5, upper + 0.5, spread=0.5, slope=8)
    return Success("rightAnswer", mixture(inside, by=noise, toward=_CHANCE))


def _nodes(furthest: float) -> tuple[Propensity, MetaFeature, MetaFeature]:
    prior = Prior("Normal", mu=0, sigma=_WIDTH * furthest)
    return (
        Propensity("propensity", prior=prior, unit=LEVEL),
        MetaFeature(
            "lower",
            low=-furthest,
            high=furthest,
            unit=LEVEL,
            about="lowest level that answers rightly",
        ),
        MetaFeature("upper", low=-furthest, high=furthest, unit=LEVEL, about="highest such level"),
    )


LAYOUTS = {PUBLISHED: published_layout, RECOMMENDED: recommended_layout}
"""The study's layouts by name, the published one first."""
