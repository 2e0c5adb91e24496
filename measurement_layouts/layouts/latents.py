"""What latent nodes have in common: range, unit, prior, labels and plates."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..common.messages import some
from ..linking import Expr
from ..linking import units as unit_names
from ..linking.errors import check, refuse
from ..linking.evaluation import ancestry
from ..linking.expression import Constant, Formula
from ..linking.interval import REALS, Interval
from . import fields
from .nodes import Derived, Labelled, MetaFeature, set_fields
from .plates import (
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
                span, advice = Interval(low, high), "give finite ends, or a prior="
                problem = f"a uniform prior needs a finite range, but the range is {span}"
                check(self.name, span.is_finite, problem, advice)
                set_fields(self, prior=Prior("Uniform", lower=low, upper=high))
        elif self.prior is None and not self.by_layout:
            set_fields(self, prior=self.usual)
        for prior in self.priors:
            self._check_prior(prior)
        check_zero_sum(self.name, self.priors, self.plates, self.labels)

    def _read_prior(self, prior: object) -> Prior | tuple[Prior, ...] | None:
        """Read the prior; one for each label becomes a tuple in the order of the labels."""
        if prior is None or isinstance(prior, Prior):
            return prior
        labels = self.labels or ()
        if isinstance(prior, tuple) and len(prior) == len(labels):
            prior = dict(zip(labels, prior, strict=True))
        priors: Mapping[str, Any] = prior if isinstance(prior, Mapping) else {"": None}
        are_priors = all(isinstance(value, Prior) for value in priors.values())
        advice = "give Prior('Normal', mu=0, sigma=1), or {'label': Prior(...), ...}"
        check(self.name, are_priors, f"prior={prior!r} is not a prior", advice)
        problem = f"prior= has one for {some(priors)}, and its labels are {some(labels) or 'none'}"
        advice = "give a prior for each of its labels and no other, or a single one"
        check(self.name, labels and {*labels} == {*priors}, problem, advice)
        return tuple(priors[label] for label in labels)

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
            problem = f"{depends}, which has one value per {written(lacking)}, but {self.name} has "
            advice = coarser(self.name, self.plates, lacking[0], str(part))
            refuse(self.name, f"{problem}one per {written(self.plates)}", advice)
        check_one_width(self.name, prior, self.plates, str(part), plates)
        alone = self.plates and determines(plates, self.plates) and {*self.dims} <= {*part.dims}
        alone = alone and getattr(part, "kind", "") == "spread"
        problem = f"{depends}, a spread per {written(plates)}, and so is {self.name}"
        advice = f"one value has no spread: declare {part} per='population' or a coarser Category"
        check(self.name, not alone, problem, advice)

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
    def usual(self) -> Prior | None:
        """The prior where none is given; outside of a layout, if a layout states it."""
        return None

    @property
    def priors(self) -> tuple[Prior, ...]:
        """The prior, given or by default; several where each label has its own."""
        prior = self.usual if self.prior is None else self.prior
        if prior is None:
            advice = "give low= and high= in the unit of the demand that it opposes, or prior="
            refuse(self.name, f"a {self.kind} needs a range or a prior", advice)
        return prior if isinstance(prior, tuple) else (prior,)  # type: ignore[return-value]

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
    >>> from measurement_layouts import Effect
    >>> ease = Effect("ease", per=Category("benchmark", per=Category("task")))
    >>> [category.name for category in categories_of([ease])]
    ['benchmark', 'task']
    """
    plates = (plate for node in parts if isinstance(node, Latent) for plate in node.plates)
    return [category for plate in plates for category in chain(plate)]
