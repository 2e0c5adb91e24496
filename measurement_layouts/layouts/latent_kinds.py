"""Kinds of latent nodes, from capabilities to spreads, and their priors outside of a layout."""

import math
from typing import ClassVar

from ..linking.interval import UNIT, Interval
from .latents import Latent
from .plates import POPULATION
from .priors import Prior

LOG_ODDS = 2.5
"""Standard deviation of a population's mean, and scale of a spread, in log-odds."""


class Capability(Latent):
    """Level of a subject in the unit of the demand that it opposes; more is never worse.

    The prior is uniform on the range unless one is given. This is the ``ScaledBeta(1, 1, low,
    high)`` of the published layouts.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range of possible values, in the unit; required unless a prior is given.
    unit : str, optional
        Unit of the demand that it opposes: the name of a unit in pint, or any other word.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family (default: uniform on the range), or one prior for each label, by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"subject", "item", "population"}, Category or tuple of them, optional
        One value for each subject (default), item or level of a category, or for the population.

    Raises
    ------
    LayoutError
        When there is neither a range nor a prior, or the range is empty or does not contain the
        support of the prior.

    Examples
    --------
    >>> Capability("navigation", low=0, high=40, unit="m").prior
    Prior('Uniform', lower=0, upper=40)
    """

    kind: ClassVar[str] = "capability"
    subjects_only: ClassVar[bool] = True


class Propensity(Latent):
    """Position of a subject on a scale; success requires that it lies within the band of the item.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range of possible values, in the unit; required unless a prior is given.
    unit : str, optional
        Unit of the ends of the bands: the name of a unit in pint, or any other word.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family (default: uniform on the range), or one prior for each label, by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"subject", "item", "population"}, Category or tuple of them, optional
        One value for each subject (default), item or level of a category, or for the population.

    Raises
    ------
    LayoutError
        When there is neither a range nor a prior, or the range is empty or does not contain the
        support of the prior.

    Examples
    --------
    >>> Propensity("risk", low=-4, high=4).range
    [-4, 4]
    """

    kind: ClassVar[str] = "propensity"
    subjects_only: ClassVar[bool] = True


class Bias(Latent):
    r"""Preference that raises or lowers performance; standard normal by default.

    A mean of the population, ``per="population"``, has by default, in a layout, the prior

    .. math:: \mu \sim \mathrm{Normal}(c, w / 4), \quad \mathrm{or} \quad
        \mu \sim \mathrm{Normal}(0, 2.5) \text{ in log-odds}

    with the width w and the midpoint c of the range of the demand that is subtracted from the
    values whose mean it is, or of their own range: w / 4 is 2.5 log-odds at the usual slope of ten
    divided by w. Where no unit is declared and the slope a is a number, the standard deviation is
    at least 2.5 / a. The midpoint is for the mean alone: a weight of a covariate, or a further
    term, has the same standard deviation about 0. The mean of logarithms, in a ``LogNormal``, has
    Normal(log(10 / w), 1) for slopes, and Normal(0, 1) otherwise.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range of possible values; the prior is uniform on it unless one is given.
    unit : str, optional
        Unit of the margin: the name of a unit in pint, or any other word. Without a unit, it can be
        added to a margin in any unit.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family (default: standard normal; as above for the population), or one prior
        for each label, by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"subject", "item", "population"}, Category or tuple of them, optional
        One value for each subject (default), item or level of a category, or for the population.

    Raises
    ------
    LayoutError
        When the range is empty or does not contain the support of the prior.

    Examples
    --------
    >>> Bias("leftRight").prior
    Prior('Normal', mu=0, sigma=1)
    """

    kind: ClassVar[str] = "bias"
    joins_any_unit: ClassVar[bool] = True

    @property
    def by_layout(self) -> bool:
        return not self.plates

    @property
    def usual(self) -> Prior | None:
        return Prior("Normal", mu=0, sigma=1 if self.plates else LOG_ODDS)


class Effect(Bias):
    """Shared value of any sign: a mean, a weight, or the ease of an item or a task.

    There is one value for the population unless `per` is given. A preference of each subject is a
    `Bias`, and the standard deviation of several values a `Spread`.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range of possible values; the prior is uniform on it unless one is given.
    unit : str, optional
        Unit of what it is added to, or multiplies to: the name of a unit in pint, or any other
        word. Without a unit, it can be added to a margin in any unit.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family (default: that of a `Bias`), or one prior for each label, by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"population", "item", "subject"}, Category or tuple of them, optional
        One value for the population (default), or for each item, subject or level of a category.

    Raises
    ------
    LayoutError
        When the range is empty or does not contain the support of the prior.

    Examples
    --------
    >>> Effect("mean").plates, Effect("ease", per="item").plates
    ((), ('item',))
    """

    kind: ClassVar[str] = "effect"
    default_per: ClassVar[str] = POPULATION


class Slope(Latent):
    r"""How steeply the probability of success falls as a demand exceeds a capability; positive.

    A slope is the second argument of `logistic`. By default, in a layout, it has the prior

    .. math:: \log a \sim \mathrm{Normal}(\log(10 / w), \log 2)

    with the width w of the range that is subtracted in ``logistic(ability - demand, slope)``: over
    this range success then goes from almost certain to almost impossible. The standard deviation is
    a factor of two. Of several logistics with one slope it is the mean of ``log(10 / w)``. Where no
    finite range is subtracted, the prior is half-normal of scale 2.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range, from 0 up; the prior is uniform on it unless one is given.
    unit : str, optional
        One over the unit of the margin. Without a unit, it can be used with a margin in any unit.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family on positive numbers (default: as above), or one prior for each label,
        by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"subject", "item", "population"}, Category or tuple of them, optional
        One value for each subject (default), item or level of a category, or for the population.

    Raises
    ------
    LayoutError
        When the range is empty or does not contain the support of the prior, or a value may be
        negative.

    Examples
    --------
    >>> from measurement_layouts import Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> reach, distance = Capability("reach", 0, 40), MetaFeature("distance", 0, 40)
    >>> outcome = Success("found", logistic(reach - distance, Slope("slope")))
    >>> prior = Layout("search", outcome).nodes["slope"].prior
    >>> prior.family, round(math.exp(dict(prior.parameters)["mu"].value), 6)
    ('LogNormal', 0.25)
    """

    kind: ClassVar[str] = "slope"
    joins_any_unit: ClassVar[bool] = True
    possible: ClassVar[Interval] = Interval(0.0, math.inf)
    usual = Prior("HalfNormal", sigma=2)
    by_layout = True


class Noise(Latent):
    """Weight of the outcomes that the layout does not explain; uniform on [0, 1] by default.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range within [0, 1]; the prior is uniform on it unless one is given.
    unit : None
        Must be left out: a weight is a pure number.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family on [0, 1] (default: uniform), or one prior for each label, by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"subject", "item", "population"}, Category or tuple of them, optional
        One value for each subject (default), item or level of a category, or for the population.

    Raises
    ------
    LayoutError
        When the range is empty or does not contain the support of the prior, or a value may be
        outside [0, 1].

    Examples
    --------
    >>> Noise("noiseLevel").range
    [0, 1]
    """

    kind: ClassVar[str] = "noise"
    possible: ClassVar[Interval] = UNIT
    usual = Prior("Uniform", lower=0, upper=1)


class Spread(Latent):
    r"""Standard deviation of a quantity, such as of abilities among subjects; positive.

    By default, in a layout, it has the prior

    .. math:: \tau \sim \mathrm{HalfNormal}(w / 4), \quad \mathrm{or} \quad
        \tau \sim \mathrm{HalfNormal}(2.5) \text{ in log-odds}

    with the width w of the range of the demand that is subtracted from the values that vary, or of
    their own range: w / 4 is 2.5 log-odds at the usual slope of ten divided by w. Where no unit is
    declared and the slope a is a number, the scale is at least 2.5 / a. The spread of logarithms,
    in a ``LogNormal``, has HalfNormal(1). There is one value for the population unless `per` is
    given.

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range, from 0 up; the prior is uniform on it unless one is given.
    unit : str, optional
        Unit of the quantity that varies. A spread with a unit needs a range or a prior, unless a
        demand in that unit has a finite range.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family on positive numbers (default: as above), or one prior for each label,
        by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"population", "subject", "item"}, Category or tuple of them, optional
        One value for the population (default), or for each subject, item or level of a category.

    Raises
    ------
    LayoutError
        When a value may be negative; in a layout, also when it has a unit but neither a range nor a
        prior, and nothing in that unit has a finite range.

    Examples
    --------
    >>> from measurement_layouts import Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> apart = Prior("Normal", mu=20, sigma=Spread("spread"))
    >>> span = Capability("span", unit="m", prior=apart)
    >>> distance = MetaFeature("distance", low=0, high=40, unit="m")
    >>> Layout("search", Success("found", logistic(span - distance, 0.25))).nodes["spread"].prior
    Prior('HalfNormal', sigma=10)
    """

    kind: ClassVar[str] = "spread"
    default_per: ClassVar[str] = POPULATION
    joins_any_unit: ClassVar[bool] = True
    possible: ClassVar[Interval] = Interval(0.0, math.inf)
    usual = Prior("HalfNormal", sigma=LOG_ODDS)
    by_layout = True
