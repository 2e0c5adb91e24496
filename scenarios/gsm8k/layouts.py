"""Layouts of school word problems, whose demands are steps, numbers and words."""

from ...layouts import Capability, Derived, Layout, MetaFeature, Noise, Prior, Slope, Success
from ...linking import logistic, logit, mixture
from ...linking.expression import Expr
from ..pooling import item_ease, normal, pooled

STEP, DIGIT = "step", "digit"
MOST_STEPS, MOST_DIGITS, MOST_DOUBLINGS = 12, 8, 8


def plain_layout() -> Layout:
    """Return the layout of two capabilities: calculations marked in the solution, and numbers.

    This is `recommended_layout` without reading, and with steps counted by the marks, which some
    solutions lack.

    Examples
    --------
    >>> [latent.name for latent in plain_layout().latents][:2]
    ['planningAbility', 'planningSlope']
    """
    marked = MetaFeature(
        "markedSteps", low=0, high=MOST_STEPS, unit=STEP, about="calculations marked in a solution"
    )
    return Layout("gsm8k-plain", Success("answer", _but_for_slips(_plan(marked) * _calculate())))


def recommended_layout() -> Layout:
    r"""Return the layout of three capabilities that are all needed, and of slips.

    .. math:: (1 - \nu) \, \sigma(a_1 (\theta_1 - steps)) \, \sigma(a_2 (\theta_2 - digits)) \,
        \sigma(a_3 (\theta_3 - doublings))

    The digits are :math:`\log_{10}(1 + x)` of the largest number x, the doublings :math:`\log_2` of
    the words. Priors of capabilities are centred at the hardest problems and extend far beyond,
    since most models fail at few problems. A slip turns any solution into a wrong answer. Each
    model is fitted separately; `population_layout` fits all together, and its notes compare the
    two.

    Notes
    -----
    Forms were compared on ten models and all problems by leave-one-out (elpd relative to this
    layout; standard errors of the difference from the best are between 2 and 18). Without reading:
    -90. Steps counted by marks instead of lines: -54; both: -160. One ability for a weighted sum of
    the demands: -19. Without numbers: -10, with two latents fewer for each model. Without slips:
    +5; they are kept for models whose answers cannot be read.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents if latent.kind == "capability"]
    ['planningAbility', 'calculationAbility', 'readingAbility']
    """
    return Layout("gsm8k", Success("answer", _solved()))


def population_layout() -> Layout:
    r"""Return the recommended layout for a population of models, with an ease of each problem.

    .. math:: \mathrm{logit}(P) = \mathrm{logit}\bigl((1 - \nu) \textstyle\prod_k
        \sigma(a_k (\theta_k - l_k))\bigr) + e

    with the problem's ease e. Slopes :math:`a_k` are the same for all models, so that the
    capabilities of weak and strong models are comparable; each model has separate slips.

    Notes
    -----
    *Use this layout* to forecast cells of a table of models and problems, for models that have
    answered few problems, and to compare capabilities: the Brier score of held-out cells is 0.068,
    compared with 0.104 for the recommended layout. *Do not use it* for new problems: steps, digits
    and words explain only a small part of the difficulty of a problem, and the ease of a new
    problem is unknown. The Brier score of held-out problems is 0.103, compared with 0.099, and
    worse in both splits. One form was tried.

    Examples
    --------
    >>> layout = population_layout()
    >>> [latent.name for latent in layout.profile if latent.kind == "capability"]
    ['planningAbility', 'calculationAbility', 'readingAbility']
    """
    margin = logit(_solved(shared=True)) + item_ease(2)
    return Layout("gsm8k-population", Success("answer", logistic(margin)))


LAYOUTS = {"plain layout": plain_layout, "recommended layout": recommended_layout}
"""Layouts by the names that a study shows; no layout has been published."""


def _solved(shared: bool = False) -> Expr:
    """Return the three parts; in a population, means, spreads and slopes are shared."""
    steps = MetaFeature(
        "steps", low=0, high=MOST_STEPS, unit=STEP, about="lines of the worked solution"
    )
    return _but_for_slips(_plan(steps, shared) * _calculate(shared) * _read(shared))


def _plan(steps: MetaFeature, shared: bool = False) -> Expr:
    ability = _ability("planningAbility", 10, 5, STEP, shared)
    return _part("planning", ability, steps, -0.7, shared)


def _calculate(shared: bool = False) -> Expr:
    about = "log10 of 1 + the largest number"
    digits = MetaFeature("digits", low=0, high=MOST_DIGITS, unit=DIGIT, about=about)
    ability = _ability("calculationAbility", 7, 3, DIGIT, shared)
    return _part("calculation", ability, digits, 0, shared)


def _read(shared: bool = False) -> Expr:
    about = "log2 of the words"
    doublings = MetaFeature("doublings", low=0, high=MOST_DOUBLINGS, about=about)
    return _part("reading", _ability("readingAbility", 9, 3, None, shared), doublings, 0, shared)


def _ability(name: str, mean: float, width: float, unit: str | None, shared: bool) -> Capability:
    if shared:
        return pooled(name, mean, width, unit)
    return Capability(name, prior=normal(mean, width), unit=unit)


def _part(name: str, ability: Capability, demand: MetaFeature, steep: float, shared: bool) -> Expr:
    """Return the logistic probability of a capability minus its demand."""
    prior = Prior("LogNormal", mu=steep, sigma=0.5)
    slope = Slope(f"{name}Slope", per="population" if shared else "subject", prior=prior)
    return Derived(name, logistic(ability - demand, slope))


def _but_for_slips(solved: Expr) -> Expr:
    slips = Noise("slips", prior=Prior("Beta", alpha=1, beta=9))
    answered: Expr = mixture(solved, by=slips, toward=0.0)
    return answered
