"""Layouts of a propensity: the published one and a recommended one."""

from ...layouts import Layout, MetaFeature, Noise, Prior, Propensity, Success
from ...linking import arrays, band, linking_function, mixture, uncertain_band
from ...linking.arrays import Array

PUBLISHED, RECOMMENDED = "published layout", "recommended layout"

LEVEL = "level"  # the unit of the rubrics' scale
_PRIOR = Prior("Normal", mu=0, sigma=2)  # most of it within the rubrics' levels -3 to 3
_CHANCE = 1 / 3  # each question offers three answers


def _latex(p: str, margin: float) -> str:
    return rf"\mathrm{{clip}}\left({p}\right)"


@linking_function(range=(0, 1), domain={"p": (0, 1)}, latex=_latex)
def clipped(p: Array, *, margin: float) -> Array:
    r"""Keep a probability off 0 and 1.

    .. math:: \min(\max(p, \epsilon), 1 - \epsilon)

    Parameters
    ----------
    p : expression or array
        In [0, 1].
    margin : float
        How far off.

    Returns
    -------
    expression or array
        In [margin, 1 - margin].

    Examples
    --------
    >>> float(clipped(1.0, margin=0.1)), float(clipped(0.4, margin=0.1))
    (0.9, 0.4)
    """
    return arrays.minimum(arrays.maximum(p, margin), 1 - margin)


def published_layout(furthest: float = 3) -> Layout:
    """Return the model of the paper: success needs the propensity inside the item's band.

    The clip at 1e-10 is the released code's, and with it the log-likelihoods are the published
    ones. The paper has no prior; N(0, 2) holds the whole scale.

    Parameters
    ----------
    furthest : float
        How far from 0 the ends of bands lie at most, in levels.

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


def recommended_layout() -> Layout:
    """Return a layout for bands that were annotated in whole levels, of models that also slip.

    - An annotated end is the last whole level that answers rightly, so that the place of even odds
      lies between it and the next one: the end is moved outwards by half a level, and may lie half
      a level to either side of that.
    - A level is told from the next: slope 8.
    - A part of the answers has nothing to do with the propensity; they hit one of three options.

    What is uncertain about the ends is in the layout, and no outcome is impossible, so that there
    are neither cliffs nor local optima of the published kind. Its structure was chosen by hold-out
    scores on the real risk-aversion study.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents]
    ['propensity', 'noise']
    """
    propensity, lower, upper = _nodes()
    noise = Noise("noise", prior=Prior("Beta", alpha=1, beta=9))
    inside = uncertain_band(propensity, lower - 0.5, upper + 0.5, spread=0.5, slope=8)
    return Layout(
        "propensity-recommended",
        Success("rightAnswer", mixture(inside, by=noise, toward=_CHANCE)),
    )


def _nodes(furthest: float = 3) -> tuple[Propensity, MetaFeature, MetaFeature]:
    return (
        Propensity("propensity", prior=_PRIOR, unit=LEVEL),
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
