"""Layouts of school word problems, whose demands are steps, numbers and words."""

from ...layouts import (
    Capability,
    Derived,
    Effect,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Slope,
    Success,
)
from ...linking import logistic, mixture
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
    r"""Return a layout for a population of models, with an ease of each problem.

    .. math:: \mathrm{logit}(P) = \theta_s - w_1 (steps - 3) - w_2 (digits - 2)
        - w_3 (doublings - 6) + e_i

    with an ability :math:`\theta_s` of model s, in log-odds of a correct answer to a problem of
    three steps, numbers below one hundred and 64 words, and the ease :math:`e_i` of problem i. The
    weights :math:`w_k` of the demands are the same for all models.

    Notes
    -----
    *Use this layout* to forecast cells of a table of models and problems, for models that have
    answered few problems, and to compare abilities: the Brier score of held-out cells is 0.067,
    compared with 0.103 for the recommended layout. New problems are forecast equally well (0.0975
    and 0.0974 in ten splits): steps, digits and words explain only a small part of the difficulty
    of a problem, and the ease of a new problem is unknown.

    Forms were compared on the training problems of one split of 400 problems, by problems and by
    cells held out of them (Brier scores; those of the recommended layout are 0.0938 and 0.1043).
    This layout: 0.0919 and 0.0674; with demands from zero: 0.0924 and 0.0674. Three capabilities
    that are all needed, with slips inside the log-odds: 0.0973 and 0.0676; without slips: 0.0934
    and 0.0675. The same with a planning capability of each model and the others shared by all: with
    slips 0.0980 and 0.0677, with slips applied last 0.0951 and 0.0674, without slips 0.0930 and
    0.0675. The outcomes of 44 models do not distinguish three capabilities: the spreads of two of
    them may be zero, that of the third trades with its slope, and chains do not converge. Demands
    are measured from typical values, because otherwise the mean ability trades with the weights.

    Examples
    --------
    >>> [latent.name for latent in population_layout().profile]
    ['solvingAbility']
    """
    demands = (_steps(), 3), (_digits(), 2), (_doublings(), 6)
    margin: Expr = pooled("solvingAbility", 2, 2) + item_ease(2)
    for demand, typical in demands:
        weight = Effect(f"{demand.name}Weight", prior=normal(0.5, 0.5))
        margin = margin - weight * (demand - typical)
    return Layout("gsm8k-population", Success("answer", logistic(margin)))


LAYOUTS = {"plain layout": plain_layout, "recommended layout": recommended_layout}
"""Layouts by the names that a study shows; no layout has been published."""


def _solved() -> Expr:
    """Return the three parts."""
    return _but_for_slips(_plan(_steps()) * _calculate() * _read())


def _steps() -> MetaFeature:
    about = "lines of the worked solution"
    return MetaFeature("steps", low=0, high=MOST_STEPS, unit=STEP, about=about)


def _digits() -> MetaFeature:
    about = "log10 of 1 + the largest number"
    return MetaFeature("digits", low=0, high=MOST_DIGITS, unit=DIGIT, about=about)


def _doublings() -> MetaFeature:
    return MetaFeature("doublings", low=0, high=MOST_DOUBLINGS, about="log2 of the words")


def _plan(steps: MetaFeature) -> Expr:
    return _part("planning", _ability("planningAbility", 10, 5, STEP), steps, -0.7)


def _calculate() -> Expr:
    return _part("calculation", _ability("calculationAbility", 7, 3, DIGIT), _digits(), 0)


def _read() -> Expr:
    return _part("reading", _ability("readingAbility", 9, 3), _doublings(), 0)


def _ability(name: str, mean: float, width: float, unit: str | None = None) -> Capability:
    return Capability(name, prior=normal(mean, width), unit=unit)


def _part(name: str, ability: Capability, demand: MetaFeature, steep: float) -> Expr:
    """Return the logistic probability of a capability minus its demand."""
    slope = Slope(f"{name}Slope", prior=Prior("LogNormal", mu=steep, sigma=0.5))
    return Derived(name, logistic(ability - demand, slope))


def _but_for_slips(solved: Expr) -> Expr:
    slips = Noise("slips", prior=Prior("Beta", alpha=1, beta=9))
    answered: Expr = mixture(solved, by=slips, toward=0.0)
    return answered
