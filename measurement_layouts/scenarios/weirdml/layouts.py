"""Layouts of time horizons: the published one, two with differences of tasks, a population."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...layouts import (
    Bias,
    Capability,
    Category,
    Derived,
    Effect,
    Layout,
    MetaFeature,
    Prior,
    Slope,
    Spread,
    Success,
)
from ...linking import arrays, linking_function, logistic, total, walk
from ...linking.arrays import Array
from ...linking.expression import Expr
from ..pooling import normal, pooled
from .data import SINCE, TASKS

DOUBLING = "doubling"  # doubling of an hour
_AT_EVEN_ODDS = "human hours at even odds, in doublings of one"
_LOWEST, _HIGHEST = -12, 16  # about a second, and thirty years of work
_KNOTS = tuple(quarter / 4 for quarter in range(-7, 13))  # from April 2023 to January 2028
_KINK = -1.25, 0.75  # from October 2023 to October 2025
_USUAL = Prior("Normal", mu=1, sigma=4)  # two hours; 90 % of the mass is from 1 minute to 200 hours


def published_layout() -> Layout:
    r"""Return the layout behind the published horizons.

    .. math:: P = \sigma(a (\theta - h))

    with h the human hours and :math:`\theta` the horizon, both in doublings of an hour: at
    :math:`2^\theta` hours success has a probability of one half. Outcomes are assumed to be
    independent.

    Examples
    --------
    >>> print(published_layout())
    time-horizon
      reached = logistic(horizon − logHours, slope)
    """
    horizon, hours = _horizon(), _hours()
    half = Prior("HalfNormal", sigma=2)
    slope = Slope("slope", prior=half, about="per doubling of the hours")
    return Layout("time-horizon", Success("reached", logistic(horizon - hours, slope)))


def recommended_layout(tasks: Sequence[str] = TASKS) -> Layout:
    r"""Return our layout, in which tasks of the same hours differ in difficulty.

    .. math:: P = \sigma(a (\theta + \tau z_j - h)), \qquad z_j \sim N(0, 1)

    for task j. The spread :math:`\tau` of tasks is inferred for each subject. The horizon then
    refers to a new task, at a success probability of one half. Thresholds of a task are not assumed
    to be independent, since they share :math:`z_j`. Each subject is fitted separately;
    `population_layout` fits all together, and its notes compare the two.

    Parameters
    ----------
    tasks : sequence of str
        Names of tasks, as in the columns ``isTask[name]``.

    Notes
    -----
    A cost of the threshold beyond its hours was tried for new tasks, with each of the 17 tasks held
    out in turn and the form chosen on the others. The Brier score is then 0.101 instead of 0.103,
    with a standard error of 0.003, and the AUROC 0.891 instead of 0.878, but the calibration error
    of all forecasts together is 0.020 instead of 0.008.

    Examples
    --------
    >>> print(recommended_layout())
    time-horizon-by-task
      effectiveHorizon = horizon + taskSpread × total(ease × isTask, over=task)
      reached = logistic(effectiveHorizon − logHours, slope)
    """
    reach = _effective(tasks)
    outcome = Success("reached", logistic(reach - _hours(), _slope()))
    return Layout("time-horizon-by-task", outcome)


def population_layout() -> Layout:
    r"""Return the layout of a population of models, with an ease of each task beyond its hours.

    .. math:: P = \sigma(a (\theta_s + e_i + u_{st} - h_i)), \quad
        e_i \sim \mathrm{Normal}(b_t, \tau_e), \quad u_{st} \sim \mathrm{Normal}(0, \tau_u)

    for model s and threshold i of task t. A task's ease :math:`b_t` is the same for all models, and
    eases of all tasks sum to zero; thresholds vary about the ease of their task; and each model has
    an individual effect on each task, :math:`u_{st}`, which all thresholds of the task share. All
    are in doublings.

    Notes
    -----
    Outcomes are the counts of `recommended_layout`: runs that reached each threshold, out of all. A
    run counts at every threshold below the one that it reached; the dependence that this causes is
    included in :math:`u_{st}`.

    *Use this layout* to forecast cells of a table of models and tasks, and for models that have
    tried few tasks: the Brier score of held-out cells is 0.058, compared with 0.076 for the
    recommended layout. *Do not use it* for the published horizons, in which difficulty depends only
    on hours, or for new tasks, whose ease is unknown: the Brier score of held-out tasks is 0.139,
    compared with 0.118, and worse in both splits.

    Examples
    --------
    >>> print(population_layout())
    time-horizon-population
      effectiveHorizon = horizon + ease + own
      reached = logistic(effectiveHorizon − logHours, slope)
    """
    task = Category("task")
    of_tasks = Prior("ZeroSumNormal", sigma=_spread("taskSpread", 2))
    of_task = Effect("taskEase", unit=DOUBLING, per=task, prior=of_tasks)
    ease = Effect(
        "ease", unit=DOUBLING, per="item", prior=normal(of_task, _spread("easeSpread", 1))
    )
    of_subject = Effect(
        "own", unit=DOUBLING, per=("subject", task), prior=normal(0, _spread("ownSpread", 2))
    )
    horizon = pooled("horizon", 1, 4, DOUBLING, _AT_EVEN_ODDS)
    reach = Derived("effectiveHorizon", horizon + ease + of_subject)
    return Layout(
        "time-horizon-population", Success("reached", logistic(reach - _hours(), _slope()))
    )


def trend_layout(shape: Literal["line", "kink", "walk"] = "line") -> Layout:
    r"""Return the layout in which horizons grow with the models' dates of release.

    .. math:: P = \sigma(a (\theta_s - h)), \quad
        \theta_s \sim \mathrm{Normal}(f(t_s), \tau), \quad
        f(t) = \alpha + \beta t + \begin{cases} 0 & \text{line} \\
        \gamma \, (|t - c| - |c|) / 2 & \text{kink} \\
        \omega \, (w(t) - w(0)) & \text{walk} \end{cases}

    with t in years since 2025, :math:`\beta` in doublings a year, and a random walk w by quarters
    (see `walk`). Horizons, spread and trend have one joint posterior; the doubling time of a line
    is :math:`12 / \beta` months. With a kink, :math:`\beta` is the mean of the rates before and
    after the time c, between October 2023 and October 2025, and :math:`\gamma` is their difference.

    Parameters
    ----------
    shape : {"line", "kink", "walk"}
        A constant rate; a rate that changes once; or a rate that varies, with an inferred spread.
        The walk continues to January 2028 with its prior.

    Notes
    -----
    All models share the slope, and difficulty depends only on hours, as in `published_layout`.
    Intervals of single horizons are therefore too short. Differences between tasks of equal hours
    are part of the spread :math:`\tau`, and thus of the interval of the trend.

    Examples
    --------
    >>> print(trend_layout("line").nodes["horizon"].prior)
    Prior('Normal', mu=start + rate × released, sigma=horizonSpread)
    """
    first, last = _KNOTS[0], _KNOTS[-1]
    since = f"in years since {SINCE}"
    released = MetaFeature("released", first, last, unit="year", per="subject", about=since)
    start = Effect("start", unit=DOUBLING, prior=normal(1, 4))
    course = start + _rate("rate", 3) * released
    if shape == "kink":
        when = Effect("when", *_KINK, unit="year", about=since)
        bent = np.absolute(released - when) - np.absolute(when)
        course = course + _rate("change", 2) * bent / 2
    elif shape == "walk":
        quarters = tuple(f"{2025 + knot:.2f}" for knot in _KNOTS[:-1])
        step = Effect("step", labels=quarters, dim="quarter", prior=normal(0, 1))
        there, now = (walk(at, step, knots=_KNOTS, over="quarter") for at in (released, 0))
        course = course + _spread("pace", 1) * (there - now)
    about = normal(course, _spread("horizonSpread", 4))
    horizon = Capability("horizon", unit=DOUBLING, prior=about, about=_AT_EVEN_ODDS)
    outcome = Success("reached", logistic(horizon - _hours(), _slope("population")))
    return Layout(f"time-horizon-{shape}", outcome)


def nested_layout(tasks: Sequence[str] = TASKS) -> Layout:
    r"""Return our layout for the counts of `conditional_counts`.

    .. math:: P(\mathrm{reached} \mid \mathrm{reached\ below}) = \frac{\sigma(a (\theta + \tau z_j -
        h))}{\sigma(a (\theta + \tau z_j - h + s))}

    where s is the ``step`` to the next lower threshold. The product over a task's thresholds is the
    likelihood of its runs, each of which counts once. For items with ``nested`` 0, forecasts refer
    to all runs, as in `recommended_layout`.

    Parameters
    ----------
    tasks : sequence of str
        Names of tasks, as in the columns ``isTask[name]``; if there are none, difficulty depends
        only on hours.

    Examples
    --------
    >>> [latent.name for latent in nested_layout(tasks=()).latents]
    ['horizon', 'slope']
    """
    slope, hours = _slope(), _hours()
    nested = MetaFeature("nested", levels=(0, 1), about="0: the lowest threshold of its task")
    step = MetaFeature(
        "step", low=0, high=10, unit=DOUBLING, given=nested, about="to the one below"
    )
    margin = Derived("margin", (_effective(tasks) if tasks else _horizon(_USUAL)) - hours)
    outcome = Success("reached", reached(margin, slope, nested, step))
    return Layout("time-horizon-nested", outcome)


@linking_function(range=(0, 1), same_unit=("margin", "step"))
def reached(margin: Array, slope: Array, nested: Array, step: Array) -> Array:
    r"""Compute the probability to reach a threshold given that the one below was reached.

    .. math:: \frac{\sigma(a m)}{\sigma(a (m + s))}, \quad \mathrm{or} \quad \sigma(a m)

    Parameters
    ----------
    margin : expression or array
        Capability minus demand of this threshold.
    slope : expression or array
        Slope, positive.
    nested : expression or array
        0 if there is no threshold below, otherwise 1.
    step : expression or array
        Demand of this threshold minus that of the threshold below; not negative.

    Returns
    -------
    expression or array
        Probability, in [0, 1].

    Examples
    --------
    Half of all runs reach the threshold, and three quarters the one below, so that the conditional
    probability is two thirds:

    >>> import math
    >>> round(float(reached(0.0, 1.0, 1.0, math.log(3))), 4)
    0.6667
    """
    here, below = arrays.softplus(-slope * margin), arrays.softplus(-slope * (margin + step))
    return arrays.exp(nested * below - here)


def _hours() -> MetaFeature:
    about = "human hours, in doublings of one"
    return MetaFeature("logHours", low=-10, high=14, unit=DOUBLING, about=about)


def _horizon(prior: Prior | None = None) -> Capability:
    anywhere = Prior("Uniform", lower=_LOWEST, upper=_HIGHEST)
    return Capability("horizon", unit=DOUBLING, prior=prior or anywhere, about=_AT_EVEN_ODDS)


def _slope(per: str = "subject") -> Slope:
    prior = Prior("LogNormal", mu=0, sigma=0.7)
    return Slope("slope", prior=prior, about="per doubling of the hours", per=per)


def _rate(name: str, scale: float) -> Effect:
    return Effect(name, unit=f"{DOUBLING}/year", prior=normal(0, scale))


def _spread(name: str, scale: float) -> Spread:
    return Spread(name, unit=DOUBLING, prior=Prior("HalfNormal", sigma=scale))


def _effective(tasks: Sequence[str]) -> Expr:
    """Return the horizon for the item's task."""
    names = tuple(tasks)
    each = normal(0, 1)
    ease = Bias("ease", labels=names, dim="task", prior=each, about="of a task for its hours")
    is_task = MetaFeature("isTask", levels=(0, 1), labels=names, dim="task")
    prior = Prior("HalfNormal", sigma=2)
    spread = Slope("taskSpread", unit=DOUBLING, prior=prior, about="of tasks of equal hours")
    return Derived(
        "effectiveHorizon", _horizon(_USUAL) + spread * total(ease * is_task, over="task")
    )
