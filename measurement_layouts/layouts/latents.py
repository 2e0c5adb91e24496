"""Latent nodes of a layout: the elements of cognitive profiles, and shared latents."""

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..common.messages import some
from ..linking import Expr, LayoutError
from ..linking import units as unit_names
from ..linking.errors import check
from ..linking.evaluation import ancestry
from ..linking.expression import Constant, Formula
from ..linking.interval import REALS, UNIT, Interval
from . import fields
from .nodes import Derived, Labelled, MetaFeature, set_fields
from .plates import (
    POPULATION,
    SUBJECT,
    Category,
    Plate,
    chain,
    check_of_subjects,
    coarser,
    determines,
    plate_name,
    read_plates,
    written,
)
from .priors import Prior
from .zero_sum import check_one_width, check_zero_sum

LOG_ODDS = 2.5
"""Standard deviation of a population's mean, and scale of a spread, in log-odds."""


@dataclass(frozen=True, eq=False, repr=False)
class Latent(Labelled):
    """Element of the cognitive profile: unknown, one value per subject (and label).

    Parameters
    ----------
    name : str
        Name of the variable in models, tables and figures.
    low, high : float, optional
        Range of possible values; the prior is uniform on it unless one is given.
    unit : str, optional
        Unit of the demand that it opposes: the name of a unit in pint, or any other word.
    prior : Prior or mapping of str to Prior, optional
        Prior of any family, whose support is then the range, or one prior for each label, by label.
    labels, dim : optional
        Names of the labels, each of which has a value, and the name of their dimension.
    about : str
        Description, shown in diagrams and tables.
    per : {"subject", "item", "population"}, Category or tuple of them, optional
        One value for each subject (default), item or level of a category, or for the population.

    Raises
    ------
    LayoutError
        When there is neither a prior nor a range, or the range is reversed, is empty or does not
        contain the support of the prior.
    """

    low: float | None = None
    high: float | None = None
    unit: Any = None
    prior: Prior | Mapping[str, Prior] | tuple[Prior, ...] | None = None
    labels: tuple[str, ...] | None = None
    dim: str = Labelled.default_dim
    about: str = ""
    per: Any = None
    default_per: ClassVar[str] = SUBJECT
    joins_any_unit: ClassVar[bool] = False
    subjects_only: ClassVar[bool] = False
    possible: ClassVar[Interval] = REALS

    def __post_init__(self) -> None:
        super().__post_init__()
        usual = read_plates(self.name, self.default_per)
        plates = usual if self.per is None else read_plates(self.name, self.per)
        set_fields(self, per=None if plates == usual else plates)
        if self.subjects_only:
            check_of_subjects(self.name, self.kind, plates)
        free = self.unit is None and self.joins_any_unit
        set_fields(self, unit=None if free else unit_names.parse(fields.unit(self.name, self.unit)))
        set_fields(self, prior=self._read_prior(self.prior))
        if self.low is not None or self.high is not None:
            low, high = fields.ends(self.name, self.low, self.high)
            set_fields(self, low=low, high=high)
            if self.prior is None:
                set_fields(self, prior=self._uniform(Interval(low, high)))
        elif self.prior is None and not self.by_layout:
            set_fields(self, prior=self.default_prior)
        for prior in self.priors:
            self._check_prior(prior)
        check_zero_sum(self.name, self.priors, self.plates, self.labels)

    def _read_prior(self, prior: object) -> Prior | tuple[Prior, ...] | None:
        """Read the prior; one for each label becomes a tuple in the order of the labels."""
        if prior is None or isinstance(prior, Prior):
            return prior
        labels, by_label = self.labels or (), prior
        if isinstance(prior, tuple) and len(prior) == len(labels):
            by_label = dict(zip(labels, prior, strict=True))
        entries = list(by_label.values()) if isinstance(by_label, Mapping) else [by_label]
        are_priors = not isinstance(by_label, tuple) and all(isinstance(x, Prior) for x in entries)
        advice = "give Prior('Normal', mu=0, sigma=1), or {'label': Prior(...), ...}"
        check(self.name, are_priors, f"prior={prior!r} is not a prior", advice)
        names = list(by_label)  # type: ignore[call-overload]
        problem = f"it has a prior for each of {some(names)}, but no labels"
        check(self.name, labels, problem, "give it labels=, or a single prior")
        missing = [label for label in labels if label not in names]
        unknown = [label for label in names if label not in labels]
        lacks = f"lacks one for {some(missing)}" if missing else f"has one for {some(unknown)}"
        advice = f"give a prior for each of its labels {some(labels)} and no other"
        check(self.name, not missing and not unknown, f"prior= {lacks}", advice)
        return tuple(by_label[label] for label in labels)  # type: ignore[index]

    def _uniform(self, declared: Interval) -> Prior:
        """Return a uniform prior on the declared range."""
        problem = f"a uniform prior needs a finite range, but the range is {declared}"
        check(self.name, declared.is_finite, problem, "give finite ends, or a prior=")
        return Prior("Uniform", lower=declared.low, upper=declared.high)

    def _check_prior(self, prior: Prior) -> None:
        """Refuse an impossible prior, and parameters of items or with other labels."""
        if self.low is not None and self.high is not None:
            declared = Interval(self.low, self.high)
            problem = f"its range {declared} does not contain the support {prior.support} of "
            advice = "widen it, or leave out low= and high="
            check(self.name, prior.support in declared, f"{problem}{prior}", advice)
        problem = f"a {self.kind} must be within {self.possible}, but {prior} ranges over "
        advice = "choose a prior on that interval"
        check(self.name, prior.support in self.possible, f"{problem}{prior.support}", advice)
        per_label = isinstance(self.prior, tuple)
        own_dims = {} if per_label else self.dims
        for parameter in prior.parents:
            depends = f"its prior depends on {parameter}"
            for node in ancestry(parameter, stop_at=lambda of: isinstance(of, Latent)):
                self._check_part(node, prior)
            problem = f"{depends}, which has the label dimensions {sorted(parameter.dims)} that "
            advice = "give a single prior for all" if per_label else "give both the same"
            advice = f"{advice} labels, or reduce it with over="
            fits = set(parameter.dims.items()) <= set(own_dims.items())
            check(self.name, fits, f"{problem}{self.name} lacks", advice)

    def _check_part(self, part: Expr, prior: Prior) -> None:
        """Refuse a part of a prior that is no latent, or has plates that it lacks."""
        depends = f"its prior depends on {part}"
        of_subject = isinstance(part, MetaFeature) and part.per == SUBJECT
        inferred = isinstance(part, Latent | Constant | Formula | Derived) or of_subject
        advice = "use numbers, latents and MetaFeature(..., per='subject'), or add "
        advice = f"{advice}{part} to the margin of the outcome"
        check(self.name, inferred, f"{depends}, which is not a latent node", advice)
        plates = plates_of(part)
        lacking = [plate for plate in plates if not determines(self.plates, [plate])]
        if lacking:
            raise LayoutError(
                f"{self.name}: {depends}, which has one value per {written(lacking)}, but "
                f"{self.name} has one per {written(self.plates)}; "
                f"{coarser(self.name, self.plates, lacking[0], str(part))}"
            )
        check_one_width(self.name, prior, self.plates, str(part), plates)
        alone = isinstance(part, Spread) and self._is_one_of(part)
        problem = f"{depends}, a spread per {written(plates)}, and so is {self.name}"
        advice = f"one value has no spread: declare {part} per='population' or a coarser Category"
        check(self.name, not alone, problem, advice)

    def _is_one_of(self, spread: "Spread") -> bool:
        """Whether each of the latent's values has a spread to itself."""
        same_labels = set(self.dims) <= set(spread.dims)
        return same_labels and bool(self.plates) and determines(spread.plates, self.plates)

    @functools.cached_property
    def plates(self) -> tuple[Plate, ...]:
        """Plates for each of which it has a value; empty for one value of the population."""
        return read_plates(self.name, self.default_per if self.per is None else self.per)

    @property
    def is_profile(self) -> bool:
        """Whether it is an element of the cognitive profile: one value per subject (and label)."""
        return self.plates == (SUBJECT,)

    @property
    def by_layout(self) -> bool:
        """Whether a layout states its prior, where none is given: from the range of a demand."""
        return False

    @property
    def default_prior(self) -> Prior | None:
        """The prior where none is given; outside of a layout, if a layout states it."""
        return None

    @property
    def priors(self) -> tuple[Prior, ...]:
        """The prior, given or by default; several where each label has its own."""
        if self.prior is None and self.default_prior is not None:
            return (self.default_prior,)
        if self.prior is None:
            raise LayoutError(
                f"{self.name}: a {self.kind} needs a range or a prior; give low= and high= in the "
                "unit of the demand that it opposes, or prior="
            )
        return self.prior if isinstance(self.prior, tuple) else (self.prior,)  # type: ignore[return-value]

    @property
    def parents(self) -> tuple[Expr, ...]:
        return tuple(
            parameter
            for prior in self.priors
            for parameter in prior.parents
            if not isinstance(parameter, Constant)
        )

    @property
    def range(self) -> Interval:
        first, *others = (prior.support for prior in self.priors)
        return functools.reduce(Interval.hull, others, first)


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
    def default_prior(self) -> Prior | None:
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

    @property
    def by_layout(self) -> bool:
        return True

    @property
    def default_prior(self) -> Prior | None:
        return Prior("HalfNormal", sigma=2)


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

    @property
    def default_prior(self) -> Prior | None:
        return Prior("Uniform", lower=0, upper=1)


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

    @property
    def by_layout(self) -> bool:
        return True

    @property
    def default_prior(self) -> Prior | None:
        return Prior("HalfNormal", sigma=LOG_ODDS)


def plates_of(expression: Expr) -> tuple[Plate, ...]:
    """List the plates of an expression: those of its latents, and of subjects' covariates."""
    plates: dict[str, Plate] = {}
    for node in ancestry(expression, stop_at=lambda of: isinstance(of, Latent)):
        if isinstance(node, Latent):
            plates |= {plate_name(plate): plate for plate in node.plates}
        elif isinstance(node, MetaFeature):
            plates |= {node.per: node.per}
    return tuple(plates.values())


def categories_of(parts: Iterable[Expr]) -> list[Category]:
    """List the categories among the plates of latents and their parents; repetitions are kept.

    Parameters
    ----------
    parts : iterable of Expr
        Parts of a layout; only latents have categories.

    Examples
    --------
    >>> ease = Effect("ease", per=Category("benchmark", per=Category("task")))
    >>> [category.name for category in categories_of([ease])]
    ['benchmark', 'task']
    """
    plates = (plate for node in parts if isinstance(node, Latent) for plate in node.plates)
    return [category for plate in plates for category in chain(plate)]
