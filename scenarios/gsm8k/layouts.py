"""Layouts of school word problems: steps to take, numbers to handle, words to read."""

from ...layouts import Capability, Derived, Layout, MetaFeature, Noise, Prior, Slope, Success
from ...linking import logistic, mixture
from ...linking.expression import Expr

STEP, DIGIT = "step", "digit"
MOST_STEPS, MOST_DIGITS, MOST_DOUBLINGS = 12, 8, 8


def plain_layout() -> Layout:
    """Return the layout of two capabilities: calculations marked in the solution, and numbers.

    As `recommended_layout` without reading, and with steps counted by the marks, which some
    solutions lack.

    Examples
    --------
    >>> [latent.name for latent in plain_layout().latents][:2]
    ['planningAbility', 'planningSlope']
    """
    marked = MetaFeature(
        "markedSteps", low=0, high=MOST_STEPS, unit=STEP, about="calculations marked in a solution"
    )
    return Layout("gsm8k-plain", _answer(_plan(marked) * _calculate()))


def recommended_layout() -> Layout:
    r"""Return the layout of three capabilities that are all needed, and of slips.

    .. math:: (1 - \nu) \, \sigma(a_1 (\theta_1 - steps)) \, \sigma(a_2 (\theta_2 - digits)) \,
        \sigma(a_3 (\theta_3 - doublings))

    The digits are :math:`\log_{10}(1 + x)` of the largest number x, the doublings :math:`\log_2` of
    the words. Priors of capabilities lie about the hardest problems, and reach well beyond: most
    models fail at few problems. A slip turns any solution into a wrong answer.

    Notes
    -----
    Forms were compared on ten models, all problems, by leave-one-out (elpd against this layout, se
    of the difference from the best between 2 and 18). Without reading: -90. Steps counted
    by marks instead of lines: -54; both: -160. One ability for a weighted sum of the demands: -19.
    Without numbers: -10, for two latents of each model. Without slips: +5; they are kept for models
    whose answers cannot be read.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents if latent.kind == "capability"]
    ['planningAbility', 'calculationAbility', 'readingAbility']
    """
    steps = MetaFeature(
        "steps", low=0, high=MOST_STEPS, unit=STEP, about="lines of the worked solution"
    )
    return Layout("gsm8k", _answer(_plan(steps) * _calculate() * _read()))


LAYOUTS = {"plain layout": plain_layout, "recommended layout": recommended_layout}
"""By the name under which a study shows them; nobody has published one."""


def _plan(steps: MetaFeature) -> Expr:
    ability = Capability("planningAbility", prior=Prior("Normal", mu=10, sigma=5), unit=STEP)
    slope = Slope("planningSlope", prior=Prior("LogNormal", mu=-0.7, sigma=0.5))
    return Derived("planning", logistic(ability - steps, slope))


def _calculate() -> Expr:
    digits = MetaFeature(
        "digits", low=0, high=MOST_DIGITS, unit=DIGIT, about="log10 of 1 + the largest number"
    )
    ability = Capability("calculationAbility", prior=Prior("Normal", mu=7, sigma=3), unit=DIGIT)
    slope = Slope("calculationSlope", prior=Prior("LogNormal", mu=0, sigma=0.5))
    return Derived("calculation", logistic(ability - digits, slope))


def _read() -> Expr:
    doublings = MetaFeature("doublings", low=0, high=MOST_DOUBLINGS, about="log2 of the words")
    ability = Capability("readingAbility", prior=Prior("Normal", mu=9, sigma=3))
    slope = Slope("readingSlope", prior=Prior("LogNormal", mu=0, sigma=0.5))
    return Derived("reading", logistic(ability - doublings, slope))


def _answer(solved: Expr) -> Success:
    slips = Noise("slips", prior=Prior("Beta", alpha=1, beta=9))
    return Success("answer", mixture(solved, by=slips, toward=0.0))
