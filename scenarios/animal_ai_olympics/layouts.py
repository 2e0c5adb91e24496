"""Two layouts of the Animal-AI Olympics: the published one and a recommended one."""

import math

from ...layouts import Bias, Capability, Derived, Layout, MetaFeature, Noise, Prior, Slope, Success
from ...linking import arrays, linking_function, logistic, mean_failure, mixture
from ...linking.arrays import Array
from ...linking.interval import Interval

ARENA = "arena_unit"  # the arena is 40 of them wide


def published_layout() -> Layout:
    """Return the layout of the paper, node by node.

    ``ScaledBeta(1, 1, low, high)`` is the uniform prior on the range. Ranges of the meta-features
    hold the whole coded data; the paper gives only their upper ends.

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
    side_bias = Bias("rightLeftBias")
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
    latex=r"\log_2 \frac{<distance>}{<size>}",
    domain={"distance": (1e-9, math.inf), "size": (1e-9, math.inf)},
    same_unit=("distance", "size"),
)
def apparent_smallness(distance: Array, size: Array) -> Array:
    r"""How small something looks: each octave halves its apparent size.

    .. math:: \log_2 (d / s)

    Parameters
    ----------
    distance, size : expression or array
        Both positive and in one unit.

    Returns
    -------
    expression or array
        Octaves: 0 where the distance equals the size.

    Examples
    --------
    >>> float(apparent_smallness(8.0, 0.5))
    4.0
    """
    return (arrays.log(distance) - arrays.log(size)) / math.log(2)


def recommended_layout() -> Layout:
    """Return our layout: natural units, abilities over the whole range of demands, free slopes.

    A reward is seen by its apparent size, reached over its distance, and further away when the
    agent has to turn first. Abilities range beyond the easiest and the hardest item, so that
    neither failing nor passing everything is out of reach; how sharply success falls is inferred;
    noise is expected to be small and guesses half of the time.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents][:3]
    ['navigationAbility', 'turningCost', 'rightLeftBias']
    """
    distance = MetaFeature("distance", low=1, high=60, unit=ARENA)
    size = MetaFeature("size", low=0.25, high=8, unit=ARENA, about="diameter of the reward")
    behind = MetaFeature(
        "rewardBehind", levels=(0, 0.5, 1), about="0 in front, 0.5 left or right, 1 behind"
    )
    x_pos = MetaFeature("XPos", levels=(-1, 0, 1), about="-1 left, 1 right")
    navigation = Capability("navigationAbility", low=-20, high=80, unit=ARENA)
    navigation_slope = Slope("navigationSlope", prior=Prior("LogNormal", mu=-1.9, sigma=0.5))
    turning = Bias(
        "turningCost",
        unit=ARENA,
        prior=Prior("HalfNormal", sigma=10),
        about="distance that a reward behind adds",
    )
    side_bias = Bias("rightLeftBias", unit=ARENA, prior=Prior("Normal", mu=0, sigma=10))
    visual = Capability("visualAbility", low=-1, high=9, about="octaves of distance over size")
    visual_slope = Slope("visualSlope", prior=Prior("LogNormal", mu=0.5, sigma=0.5))
    noise = Noise("noiseLevel", prior=Prior("Beta", alpha=1, beta=9))

    reach = Derived("distanceToGo", distance + turning * behind - side_bias * x_pos)
    navigate = Derived("navigationPerformance", logistic(navigation - reach, navigation_slope))
    smallness = Derived("apparentSmallness", apparent_smallness(distance, size))
    see = Derived("visualPerformance", logistic(visual - smallness, visual_slope))
    outcome = Success("taskPerformance", mixture(navigate * see, by=noise, toward=0.5))
    return Layout("animal-ai-olympics-recommended", outcome)
