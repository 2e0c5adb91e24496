"""Layouts with eighteen demands: all abilities needed, additive demands, and a population."""

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import need_columns
from ...layouts import (
    Bias,
    Capability,
    Category,
    Derived,
    Effect,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Slope,
    Spread,
    Success,
)
from ...linking import Expr, LayoutError, guessing, logistic, mixture, product, total
from ..pooling import item_ease, normal, pooled
from .scales import DEMANDS

PLACE = "place"
_USUAL_LEVEL = 2
_MEAN_WEIGHT_SD = 0.05
_USUAL_UNGUESSABILITY = 85


def capability_layout(
    slopes: Literal["shared", "pooled"] = "shared", *, highest: int = 5
) -> Layout:
    r"""Return a layout in which each demand is opposed by a separate ability.

    .. math:: P = (1 - \nu) \Big(c + (1 - c) \prod_d \sigma(s_d (a_d - l_d))\Big), \quad
        c = 1 - u / 100

    Success needs all 18 abilities. An item with unguessability u is guessed with probability c, and
    the noise is the probability that an answer fails for other reasons. Abilities vary about the
    subject's general level, with a spread that is inferred; this determines the estimates if a
    failure does not show which ability was too low.

    Parameters
    ----------
    slopes : {"shared", "pooled"}
        Slopes of success as a demand exceeds its ability: one slope for all dimensions, or one per
        dimension about a common mean.
    highest : int, default 5
        Highest level of the demands.

    Returns
    -------
    Layout
        Layout whose ``ability`` has one value per demand, in levels.

    Notes
    -----
    On the labelled items of six benchmarks few demands limit a subject, and its other abilities
    have no upper bound. There the order of a subject's abilities is similar to that of its curves
    (rank correlations of 0.7 to 0.8 for three subjects), but means over abilities do not order
    subjects; those of `population_layout` do.

    References
    ----------
    General scales paper, section 8.1, where a layout is proposed.

    Examples
    --------
    >>> [latent.name for latent in capability_layout(slopes="pooled").latents]
    ['generalLevel', 'scatter', 'ability', 'usualSlope', 'slope', 'noise']
    """
    general = Capability("generalLevel", unit="level", prior=Prior("Normal", mu=4, sigma=2))
    scatter = Capability("scatter", unit="level", prior=Prior("LogNormal", mu=-0.7, sigma=0.7))
    near = Prior("Normal", mu=general, sigma=scatter)
    ability = Capability("ability", unit="level", prior=near, labels=DEMANDS)
    demand = MetaFeature("demand", low=0, high=highest, unit="level", labels=DEMANDS)
    enough = Derived("part", logistic(ability - demand, _slope(slopes)))
    able = Derived("able", product(enough, over="dimension"))
    noise = Noise("noise", prior=Prior("Beta", alpha=1, beta=9))
    unguessability = MetaFeature("unguessability", low=0, high=100)
    tried = Derived("tried", guessing(able, 1 - unguessability / 100))
    return Layout("general-scales-abilities", Success("success", mixture(tried, noise, toward=0)))


def additive_layout(places: Sequence[str] = (), spread: float = 0.1, *, highest: int = 5) -> Layout:
    r"""Return a layout in which demands are added, so that none is necessary.

    .. math:: P = \sigma\Big(e - \sum_d w_d (l_d - 2) - v \frac{u - 85}{100} + t_j\Big)

    An easy demand compensates for a hard one. A weight may be negative: if a subject was trained
    for a demand that others find hard, more of it does not lower its success. Each subject is
    fitted separately; `population_layout` fits all together, and its notes compare the two.

    Parameters
    ----------
    places : sequence of str
        Tasks or benchmarks, as returned by `with_places`, each of which has a separate ease. The
        ease of a place without outcomes has the distribution of all places, so that forecasts there
        include the variation between places.
    spread : float
        Prior standard deviation of the weights, in log-odds per level. The best value depends on
        the items to be forecast; `ChosenLayout` chooses it.
    highest : int, default 5
        Highest level of the demands.

    Returns
    -------
    Layout
        Layout with one ``weight`` per demand, and one ``shift`` per place.

    Examples
    --------
    >>> additive_layout(places=("SAT En", "SAT Math"))
    <Layout 'general-scales-additive': ease, weight, demand, ...>
    """
    ease = Bias("ease", prior=normal(0, 2))
    weight = Bias("weight", labels=DEMANDS, prior=normal(0, spread))
    margin = _added(ease, weight, Bias("unguessed", prior=normal(0, 3)), highest)
    if places:
        names = tuple(places)
        shift = Bias("shift", labels=names, dim="where", prior=normal(0, 0.5))
        where = MetaFeature(PLACE, levels=(0, 1), labels=names, dim="where")
        margin = margin + total(shift * where, over="where")
    return Layout("general-scales-additive", Success("success", logistic(margin)))


def population_layout(*, highest: int = 5) -> Layout:
    r"""Return a layout with abilities of weak and strong subjects on one scale.

    .. math:: P = \sigma\Big(s \sum_d q_{id} (a_{jd} - l_{id}) + b_t + e_i\Big), \quad
        q_{id} = \frac{l_{id}^2}{\sum_k l_{ik}^2}

    for subject j and item i of task t. The weight of an ability is proportional to the square of
    its demand level, and abilities compensate for each other. For an item with a single demand, the
    ability is the level at which success has a probability of one half. It is the sum of the
    subject's general level, the difference of the dimension for all subjects, and an individual
    part:

    .. math:: a_{jd} \sim \mathrm{Normal}(g_j + m_d, \tau), \quad
        g_j \sim \mathrm{Normal}(\mu, \omega)

    The slope s and the eases of tasks b and of items e are the same for all subjects, so that
    abilities of different subjects can be compared.

    Parameters
    ----------
    highest : int, default 5
        Highest level of the demands.

    Returns
    -------
    Layout
        Layout whose ``ability`` has one value per subject and demand, in levels.

    Notes
    -----
    *Use this layout* to compare weak and strong subjects on one scale of abilities, and to forecast
    cells of a table of subjects and items: the Brier score of held-out cells is 0.144, compared
    with 0.159 for `additive_layout`. *Do not use it* for new tasks, whose ease is unknown: the
    Brier score of held-out tasks is 0.160, compared with 0.145, and worse in both splits;
    `additive_population_layout` forecasts both better.

    On the real data mean abilities order the twelve models as accuracy does (Spearman's correlation
    0.98), also without any one benchmark (0.93 to 0.99). Between two halves of the 3,328 items the
    abilities of one model have a rank correlation of 0.72 on average, similar to simulated ones
    (0.69); between halves of 800 items it is 0.54 (0.48), so that short batteries hardly
    distinguish a subject's abilities.

    Tasks are few (11 in the real data), and demands hardly differ within some of them. Success on a
    task then cannot be distinguished from the abilities that this task demands. Guessing is part of
    a task's ease, since nearly all items of a task have the same unguessability.

    Six forms were compared, on items that are not among the 800 on which the benchmark judges: by
    cells held out of 500 items (log score), by benchmarks held out of 450, and by halves of 1,400.
    Abilities that are all needed, with or without guesses: -0.444 and -0.453, but chains do not mix
    (R-hat 1.3 and 1.4), with means of 6 to 9 levels. Weights in proportion to levels and to their
    squares: -0.449 and -0.449; the squares mix better. Each subject's own part on each task as
    well: -0.438 with levels, but the rest of a subject's differences then repeats less between
    halves (rank correlation 0.29 instead of 0.61), and benchmarks held out are forecast worse
    (Brier score 0.192 instead of 0.186, three of them). All of these had a weight of the
    unguessability and a spread of the dimensions' levels, which slowed the chains down and were
    left out.

    Examples
    --------
    >>> layout = population_layout()
    >>> [latent.name for latent in layout.profile]
    ['generalLevel', 'ability']
    """
    general = pooled("generalLevel", 3, 2, "level")
    shape = Effect(
        "dimensionLevel", unit="level", per="population", prior=normal(0, 1), labels=DEMANDS
    )
    scatter = Spread("ownSpread", unit="level", prior=Prior("HalfNormal", sigma=2))
    near = normal(general + shape, scatter)
    ability = Capability("ability", unit="level", prior=near, labels=DEMANDS)
    demand = MetaFeature("demand", low=0, high=highest, unit="level", labels=DEMANDS)
    usual = Prior("LogNormal", mu=0, sigma=0.5)
    slope = Slope("slope", unit="1/level", per="population", prior=usual)
    weight = demand * demand
    ahead = total(weight * (ability - demand), over="dimension") / total(weight, over="dimension")
    margin = Derived("ahead", ahead) * slope + _shift("task") + item_ease()
    return Layout("general-scales-population", Success("success", logistic(margin)))


def additive_population_layout(*, highest: int = 5) -> Layout:
    r"""Return a layout of a population in which demands are added, so that none is necessary.

    .. math:: P = \sigma\Big(a_j - \sum_d w_{jd} (l_{id} - 2) - v_j \frac{u_i - 85}{100}
        + b_t + e_i\Big), \quad w_{jd} \sim \mathrm{Normal}(m_d, \tau)

    for subject j and item i of benchmark t. It is `additive_layout` with what subjects share: the
    mean weights m of the demands, and the eases of benchmarks b and of items e. A new task of a
    benchmark of the fit has the ease of that benchmark.

    Parameters
    ----------
    highest : int, default 5
        Highest level of the demands.

    Returns
    -------
    Layout
        Layout whose ``weight`` has one value per subject and demand, in log-odds per level.

    Notes
    -----
    *Use this layout* to forecast cells of a table of subjects and items, and new tasks. *Do not use
    it* to compare subjects by their abilities, which `population_layout` has on one scale.

    Forms were compared on 600 items that are not among the 800 on which the benchmark judges, by
    tasks and by cells held out, three splits of each:

    ======================================================= ===== =====
    mean Brier score of held-out                            tasks cells
    ======================================================= ===== =====
    this layout                                             0.158 0.134
    eases of tasks instead of benchmarks                    0.159 0.134
    the same, one weight of unguessability for all subjects 0.163 0.137
    the same, mean weights with a prior sd of 0.1           0.164 0.137
    the same, mean weights with a prior sd of 0.2           0.165 0.137
    `additive_layout`                                       0.160 0.152
    `population_layout`                                     0.169 0.139
    ======================================================= ===== =====

    "The same" refers to the line above; the prior sd of the mean weights is otherwise 0.05. With
    eases of tasks and of benchmarks, chains diverge. Forms that were no better on one or two splits
    have the same weights for all subjects, weights without a mean, no eases of tasks, a prior sd of
    0.03 or an inferred one, or a subject's own part on each task or benchmark.

    Examples
    --------
    >>> [latent.name for latent in additive_population_layout().profile]
    ['generalEase', 'weight', 'unguessed']
    """
    ease = pooled("generalEase", 0, 2)
    mean = Effect("meanWeight", labels=DEMANDS, prior=normal(0, _MEAN_WEIGHT_SD))
    weight_spread = Spread("weightSpread", prior=Prior("HalfNormal", sigma=0.1))
    weight = Bias("weight", labels=DEMANDS, prior=normal(mean, weight_spread))
    unguessed = Bias("unguessed", prior=normal(0, 3))
    margin = _added(ease, weight, unguessed, highest) + _shift("benchmark") + item_ease()
    return Layout("general-scales-additive-population", Success("success", logistic(margin)))


def with_places(evaluation: Evaluation, column: str = "task") -> tuple[Evaluation, list[str]]:
    """Add columns that mark the tasks or benchmarks of items, for `additive_layout`.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation whose items have the columns ``benchmark`` and `column`.
    column : {"task", "benchmark"}
        Kind of places. The name of a task follows that of its benchmark.

    Returns
    -------
    Evaluation
        Evaluation with one more column per place, ``place[SAT En]`` and so on, which is 1 for the
        items of that place.
    list of str
        The places, in the order of the items.

    Raises
    ------
    DataError
        When a column is missing.

    Examples
    --------
    >>> items = pd.DataFrame({"benchmark": ["SAT", "SAT"], "task": ["En", "Math"]}, ["a", "b"])
    >>> outcomes = pd.DataFrame([[1, 0]], ["Ann"], ["a", "b"])
    >>> marked, places = with_places(Evaluation.from_wide(outcomes, items))
    >>> places, marked.items["place[SAT En]"].tolist()
    (['SAT En', 'SAT Math'], [1, 0])
    """
    items = evaluation.items
    need_columns(items, ("benchmark", column), "the items have")
    where = items["benchmark"].astype(str)
    if column != "benchmark":
        where = where + " " + items[column].astype(str)
    places = list(where.unique())
    flags = {f"{PLACE}[{place}]": (where == place).astype("int64") for place in places}
    marked = pd.concat([items, pd.DataFrame(flags)], axis=1)
    counts, people = (evaluation.successes, evaluation.trials), evaluation.subject_table
    return Evaluation(marked, *counts, subjects=people), places


def _added(ease: Expr, weight: Bias, unguessed: Bias, highest: int) -> Expr:
    """Return the log-odds of success, from which the weighted demands are taken away."""
    demand = MetaFeature("demand", low=0, high=highest, unit="level", labels=DEMANDS)
    unguessability = MetaFeature("unguessability", low=0, high=100)
    burden = Derived("asked", total(weight * (demand - _USUAL_LEVEL), over="dimension"))
    return ease - burden - unguessed * ((unguessability - _USUAL_UNGUESSABILITY) / 100)


def _shift(place: str) -> Effect:
    """Return the eases of tasks or benchmarks, which all subjects share."""
    spread = Spread(f"{place}Spread", prior=Prior("HalfNormal", sigma=1))
    return Effect("shift", per=Category(place), prior=normal(0, spread))


def _slope(slopes: str) -> Slope:
    positive = Prior("HalfNormal", sigma=2)
    if slopes == "shared":
        return Slope("slope", prior=positive)
    if slopes == "pooled":
        usual = Slope("usualSlope", prior=positive)
        return Slope("slope", labels=DEMANDS, prior=Prior("HalfNormal", sigma=usual))
    raise LayoutError(f"capability_layout: slopes={slopes!r}; give 'shared' or 'pooled'")
