"""The Animal-AI Olympics: vision, navigation and noise of 68 agents."""

import math
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
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
from ..files import Files
from ..pooling import item_ease, pooled
from ..scenario import Cohort, Scenario

ARENA = "arena_unit"  # the arena is 40 units wide
_SEEN = "octaves of distance over size"
_SIDE = "0 in front, 0.5 left or right, 1 behind"
BEHIND = MetaFeature("rewardBehind", levels=(0, 0.5, 1), about=_SIDE)
X_POS = MetaFeature("XPos", levels=(-1, 0, 1), about="-1 left, 1 right")


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
    navigation = Capability("navigationAbility", low=0, high=5.3, unit="sd")
    visual = Capability("visualAbility", low=0, high=1.9, unit="sd")
    side_bias = Bias("rightLeftBias", prior=Prior("Normal", mu=0, sigma=1))
    noise = Noise("noiseLevel")

    effect = Derived("rightLeftEffect", side_bias * X_POS)
    effort = distance * (0.5 * BEHIND + 1)
    navigate = Derived("navigationPerformance", logistic(navigation - effort + effect))
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
    unit = None if ease is None else f"1/{ARENA}"
    steep = Prior("LogNormal", mu=-1.9, sigma=0.5)
    navigation_slope = Slope("navigationSlope", unit=unit, prior=steep)
    cost, about = Prior("HalfNormal", sigma=10), "distance that a reward behind adds"
    turning = Bias("turningCost", unit=ARENA, prior=cost, about=about)
    side_bias = Bias("rightLeftBias", unit=ARENA, prior=Prior("Normal", mu=0, sigma=10))
    visual_slope = Slope("visualSlope", prior=Prior("LogNormal", mu=0.5, sigma=0.5))
    noise = Noise("noiseLevel", prior=Prior("Beta", alpha=1, beta=9))

    reach = Derived("distanceToGo", distance + turning * BEHIND - side_bias * X_POS)
    margin = navigation - reach
    able: Expr = logistic(margin, navigation_slope)
    if ease is not None:
        able = logistic(margin * navigation_slope + ease)
    navigate = Derived("navigationPerformance", able)
    smallness = Derived("apparentSmallness", apparent_smallness(distance, size))
    see = Derived("visualPerformance", logistic(visual - smallness, visual_slope))
    return Success("taskPerformance", mixture(navigate * see, by=noise, toward=0.5))


COMMIT = "ee3d90e2f630c0fbce5d0d62937e7a7b075473e3"
ADDRESS = f"https://raw.githubusercontent.com/RyanBurnell/NotANumber/{COMMIT}/"
FILES = Files("aaio", ADDRESS)
TASKS = tuple(
    f"{level}-{task}-{variant}"
    for level, tasks in ((1, 17), (7, 6))
    for task in range(1, tasks + 1)
    for variant in (1, 2, 3)
)
SPELLING = {"Trrrrr": "Trrrr", "mmIA": "mmlA", "Gyutan": "Gytan"}
"""Three names in the data, and the same names in the paper's Figure 9."""
_BEHIND = {"straight": 0.0, "left": 0.5, "right": 0.5, "random": 0.5, "behind": 1.0}


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes and code the meta-features as the published profiles need them.

    Parameters
    ----------
    folder : Path, optional
        Folder of the two files, or a folder with them in its folder ``aaio`` (default: the folder
        in the environment variable ``MEASUREMENT_LAYOUTS_DATA``; without it, the files are
        downloaded and cached).

    Returns
    -------
    Evaluation
        68 subjects, 69 items. Coded for the published layout: ``rewardSize``, ``rewardDistance``
        (z-scores over the tasks), ``rewardBehind`` (one half if the side is random),
        ``XPos``. As recorded: ``size``, ``distance``, ``colour``, ``lights``.

    Raises
    ------
    DataError
        When a file does not exist and cannot be downloaded, or is not the published one.

    References
    ----------
    Burnell et al. (2022), "Not a Number", IJCAI; the data have the licence GPL-3.0.
    """
    paths = FILES.find(folder)
    codes = pd.read_csv(paths["task_codes.csv"], index_col="task").loc[list(TASKS)]
    scores = pd.read_csv(paths["scores_all.csv"], index_col="team")[list(TASKS)]
    return Evaluation.from_wide(scores, code(codes))


def code(codes: pd.DataFrame) -> pd.DataFrame:
    """Turn recorded task properties into meta-features.

    Parameters
    ----------
    codes : DataFrame
        The columns of ``task_codes.csv``.

    Returns
    -------
    DataFrame
        The columns described in `load`.

    Notes
    -----
    The paper's Table 2 has the upper ends of the ranges but no formula. The coding of the reward's
    size was chosen: of the codings tried, its posterior means are the closest to Figure 9. The
    correlation of 0.997 between ``visualAbility`` and the figure therefore shows that the coding is
    right, but is not a test of the layout. ``XPos`` is the recorded side; see
    `reproduction.published.beside` on the bias, which it hardly reproduces.

    References
    ----------
    Burden et al. (2023), Table 2 and Figure 9.
    """
    size, distance = (codes[f"reward_{name}"].astype(float) for name in ("size", "distance"))
    side = codes["reward_side"]
    return pd.DataFrame(
        {
            "rewardSize": _z(-np.log1p(_z(size))),
            "rewardDistance": _z(distance),
            "rewardBehind": side.map(_BEHIND),
            "XPos": side.map({"left": -1, "right": 1}).fillna(0).astype(int),
            "size": size,
            "distance": distance,
            "colour": codes["reward_colour"],
            "lights": codes["lights"],
        }
    )


def _z(values: pd.Series) -> pd.Series:
    return (values - values.mean()) / values.std(ddof=1)


ITEMS = 69
_SIZES = (0.5, 1.0, 3.0, 5.0)
_SIDES = ("straight", "left", "right", "behind")


def battery(seed: int = 1) -> pd.DataFrame:
    """Make 69 items: all combinations of sizes and sides, with distances spread over the arena.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery.

    Examples
    --------
    >>> battery().shape
    (69, 8)
    """
    rng = np.random.default_rng(seed)
    numbers = range(1, ITEMS + 1)
    codes = pd.DataFrame(index=[f"item-{number:02d}" for number in numbers])
    codes["reward_size"] = np.resize(np.repeat(_SIZES, len(_SIDES)), ITEMS)
    codes["reward_distance"] = rng.permutation(np.linspace(2, 54, ITEMS))
    codes["reward_side"] = np.resize(_SIDES, ITEMS)
    return code(codes.assign(reward_colour="green", lights="on"))


def true_profiles() -> pd.DataFrame:
    """Return the published profiles of 68 agents, which are the true profiles of the simulation.

    References
    ----------
    Burden et al. (2023), Figure 9 (posterior means).
    """
    with resources.files(__package__).joinpath("profiles.csv").open() as file:
        return pd.read_csv(file, index_col="subject")


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate the 68 subjects on the embedded battery, under the published layout.

    Parameters
    ----------
    seed : int
        Seed of battery and outcomes.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 68 subjects, 69 items, 4692 trials, properties rewardSize, rewardDistance, ...>
    """
    return Cohort.drawn(published_layout(), battery(seed), true_profiles(), seed)


SCENARIO = Scenario(
    name="animal-ai-olympics",
    title="Animal-AI Olympics: 68 agents look for and reach a reward",
    source="Burden et al. (2023), section 4",
    layouts={"published layout": published_layout, "recommended layout": recommended_layout},
    load=load,
    simulate=simulated_cohort,
    columns=("rewardSize", "rewardDistance", "rewardBehind", "XPos"),
    tables=True,
    population=population_layout,
)
