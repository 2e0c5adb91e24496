"""Layouts of the Animal-AI Olympics: the published one, a recommended one, and a population."""

import math

from ...layouts import (
    Bias,
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
from ...linking import arrays, linking_function, logistic, mean_failure, mixture
from ...linking.arrays import Array
from ...linking.expression import Expr
from ...linking.interval import Interval
from ..pooling import item_ease, pooled

ARENA = "arena_unit"  # the arena is 40 units wide
_SEEN = "octaves of distance over size"


def published_layout() -> Layout:
    """Return the layout of the paper, node by node.

    ``ScaledBeta(1, 1, low, high)`` is the uniform prior on the range. Ranges of the meta-features
    include all coded data; the paper has only their upper ends.

    References
    ----------
    Burden et al. (2023), Figure 3 and Tables 2 and 3.

    Examples
    --------
    >>> [latent.name for latent in published_layout().latents]
    ['navigationAbility', 'rightLeftBias', 'visualAbility', 'noiseLevel']
    """
    size = MetaFeature("rewardSize", low=-1.9, high=1.9, unit="sd", about="smaller is harder")
    distance = MetaFeature("rewardDistance", low=-2.4, high=2.4, unit="sd")
    behind = MetaFeature(
        "rewardBehind", levels=(0, 0.5, 1), about="0 in front, 0.5 left or right, 1 behind"
    )
    x_pos = MetaFeature("XPos", levels=(-1, 0, 1), about="-1 left, 1 right")
    navigation = Capability("navigationAbility", low=0, high=5.3, unit="sd")
    visual = Capability("visualAbility", low=0, high=1.9, unit="sd")
    side_bias = Bias("rightLeftBias", prior=Prior("Normal", mu=0, sigma=1))
    noise = Noise("noiseLevel")

    effect = Derived("rightLeftEffect", side_bias * x_pos)
    navigate = Derived(
        "navigationPerformance",
        logistic(navigation - distance * (0.5 * behind + 1) + effect),
    )
    see = Derived("visualPerformance", logistic(visual - size))
    outcome = Success("taskPerformance", mixture(navigate * see, by=noise, toward=mean_failure))
    return Layout("animal-ai-olympics", outcome)


def _octaves(distance: Interval, size: Interval) -> Interval:
    return Interval(math.log2(distance.low / size.high), math.log2(distance.high / size.low))


@linking_function(
    range=_octaves,
    domain={"distance": (1e-9, math.inf), "size": (1e-9, math.inf)},
    same_unit=("distance", "size"),
)
def apparent_smallness(distance: Array, size: Array) -> Array:
    r"""Compute the apparent smallness of an object; each octave halves its apparent size.

    .. math:: \log_2 (d / s)

    Parameters
    ----------
    distance, size : expression or array
        Distance and size, which are positive and have the same unit.

    Returns
    -------
    expression or array
        Octaves of distance over size; 0 if the distance equals the size.

    Examples
    --------
    >>> float(apparent_smallness(8.0, 0.5))
    4.0
    """
    return (arrays.log(distance) - arrays.log(size)) / math.log(2)


def recommended_layout() -> Layout:
    """Return our layout: natural units, abilities over the whole range of demands, free slopes.

    Vision depends on the apparent size of the reward, and navigation on its distance, which is
    larger if the agent has to turn first. The ranges of abilities extend beyond the easiest and the
    hardest item, so that agents may fail or pass all items. Slopes are inferred. Noise is small a
    priori, and means guessing with a success rate of one half. Each agent is fitted separately;
    `population_layout` fits all together, and its notes compare the two.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents][:3]
    ['navigationAbility', 'turningCost', 'rightLeftBias']
    """
    navigation = Capability("navigationAbility", low=-20, high=80, unit=ARENA)
    visual = Capability("visualAbility", low=-1, high=9, about=_SEEN)
    return Layout("animal-ai-olympics-recommended", _reached(navigation, visual, None))


def population_layout() -> Layout:
    r"""Return the recommended layout for a population of agents, with an ease of each task.

    .. math:: P = (1 - \nu) \, \sigma(a (\theta - d) + e) \, \sigma(b (\phi - s)) + \nu / 2

    with an agent's navigation :math:`\theta`, vision :math:`\phi`, slopes and noise, the distance
    d, the apparent smallness s, and the task's ease e, in log-odds.

    Notes
    -----
    *Use this layout* to forecast cells of a table of agents and tasks in which agents have tried
    few tasks, or to estimate the part of tasks' difficulty that the declared demands do not
    explain: the eases of tasks have a spread of 3 log-odds. The Brier score of held-out cells is
    0.097, compared with 0.132 for the recommended layout. *Do not use it* for the profile of a
    single agent, or for new tasks, whose ease is unknown: the Brier score of held-out triplets of
    tasks is 0.150, compared with 0.139, worse in nine of ten splits; clustered by the 23 triplets,
    the standard error of the difference is 0.0065.

    The ease is part of navigation. If it is added to the log-odds of success instead, it replaces
    the demands: navigation exceeds the hardest task, and chains hardly mix. The following forms
    were compared on held-out cells of one split: ease in arena units and in log-odds of navigation;
    slopes of each agent, pooled slopes, and one slope for all.

    Examples
    --------
    >>> layout = population_layout()
    >>> [latent.name for latent in layout.latents if latent not in layout.profile]
    ['navigationAbilityMean', 'navigationAbilitySpread', 'easeSpread', 'ease', ...]
    """
    navigation = pooled("navigationAbility", 25, 15, ARENA)
    visual = pooled("visualAbility", 4, 2, about=_SEEN)
    return Layout("animal-ai-olympics-population", _reached(navigation, visual, item_ease(2)))


def _reached(navigation: Capability, visual: Capability, ease: Effect | None) -> Success:
    """Combine an agent's abilities and a task's demands, with the task's ease if there is one."""
    distance = MetaFeature("distance", low=1, high=60, unit=ARENA)
    size = MetaFeature("size", low=0.25, high=8, unit=ARENA, about="diameter of the reward")
    behind = MetaFeature(
        "rewardBehind", levels=(0, 0.5, 1), about="0 in front, 0.5 left or right, 1 behind"
    )
    x_pos = MetaFeature("XPos", levels=(-1, 0, 1), about="-1 left, 1 right")
    unit = None if ease is None else f"1/{ARENA}"
    steep = Prior("LogNormal", mu=-1.9, sigma=0.5)
    navigation_slope = Slope("navigationSlope", unit=unit, prior=steep)
    turning = Bias(
        "turningCost",
        unit=ARENA,
        prior=Prior("HalfNormal", sigma=10),
        about="distance that a reward behind adds",
    )
    side_bias = Bias("rightLeftBias", unit=ARENA, prior=Prior("Normal", mu=0, sigma=10))
    visual_slope = Slope("visualSlope", prior=Prior("LogNormal", mu=0.5, sigma=0.5))
    noise = Noise("noiseLevel", prior=Prior("Beta", alpha=1, beta=9))

    reach = Derived("distanceToGo", distance + turning * behind - side_bias * x_pos)
    margin = navigation - reach
    if ease is None:
        able: Expr = logistic(margin, navigation_slope)
    else:
        able = logistic(margin * navigation_slope + ease)
    navigate = Derived("navigationPerformance", able)
    smallness = Derived("apparentSmallness", apparent_smallness(distance, size))
    see = Derived("visualPerformance", logistic(visual - smallness, visual_slope))
    return Success("taskPerformance", mixture(navigate * see, by=noise, toward=0.5))
