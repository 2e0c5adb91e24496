"""Describe each subject's cognitive profile in plain language."""

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...common.digits import chance
from ...common.errors import DataError, FitError
from ...common.findings import Finding, table
from ...common.given import refuse_other
from ...common.messages import many, some
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.forecasts.streaming import every_draw
from ...inference.given import refuse_no_fit
from ...inference.population.standing import populated, standing
from ...inference.posterior.diagnostics import ALL, diagnose, profiles
from ...inference.posterior.posterior import posterior_draws, prior_draws, success_rates
from ...inference.sampling.convergence import RHAT_LIMIT, UNTRUSTED
from ...linking import units
from ...validation.criticism.criticise import Criticism
from ...validation.criticism.dependence import TOGETHER
from .demands import demand_levels
from .judgement import Evidence, judge
from .rules import Rules
from .sentences import Description, paragraph

_MEMORY_MIB = 8.0
_TRADED = 0.6  # correlation of draws from which two elements are said to trade off


class Training(NamedTuple):
    """A subject's training outcomes.

    Attributes
    ----------
    successes, trials, items : int
        Counts of successes and trials, and number of items attempted.
    rate : float
        Success rate; with several outcomes, grades or scores, their mean as a fraction of the
        highest. Counts are then of steps.
    spread : float
        Standard deviation over the items of the expected outcome; NaN where all items are the same,
        so that it cannot vary.
    counted : bool
        Whether counts are of items, and not of steps.
    """

    successes: int
    trials: int
    items: int
    rate: float
    spread: float
    counted: bool

    @classmethod
    def of(cls, fit: Fit, row: int) -> "Training":
        """Read and forecast a subject's outcomes, by its position in the fit."""
        attempted, steps = Attempted.of(fit, row), fit.layout.steps
        features, count = attempted.features, len(attempted.items)
        if attempted.steps is not None:
            _, first = np.unique(attempted.steps.places, return_index=True)
            features = {name: values[first] for name, values in features.items()}
        means = np.zeros(count)
        for outcome in fit.layout.outcomes:
            highest = outcome.range.high * len(fit.layout.outcomes)
            node = () if steps is None else (outcome,)
            draws = every_draw(fit, row, features, count, *node, memory_mib=_MEMORY_MIB)
            for rows, values in draws:
                means[rows] += values.mean(axis=1) / highest
        alike = all((values == values[:1]).all() for values in features.values())
        return cls(
            int(attempted.successes.sum()),
            int(attempted.trials.sum()),
            count,
            float(success_rates(fit, np.array([row])).iloc[0]),
            np.nan if alike else float(means.std()),
            steps is None,
        )

    def silent(self, rules: Rules) -> bool:
        """Whether single elements cannot be judged: success is uniform and not nearly complete."""
        return self.spread < rules.spread and self.rate < rules.nearly_all

    def level(self, rules: Rules) -> str:
        """Class of the success rate: ``nearly all``, ``nearly nothing`` or ``in between``."""
        if self.rate >= rules.nearly_all:
            return "nearly all"
        return "nearly nothing" if self.rate <= rules.nearly_nothing else "in between"

    def finding(self, subject: str, rules: Rules) -> Finding:
        """Describe the success rate, and whether it depends on the items."""
        items = many(self.items, "item")
        tried = items if self.trials == self.items else f"{many(self.trials, 'trial')} on {items}"
        text = f"{subject} solved {self.successes} of {tried}"
        if not self.counted:
            rate = chance(self.rate, 0) if 0 < self.rate < 1 else f"{self.rate:.2f}"
            text = f"{subject} reached {rate} of the highest outcome on {items}"
        elif self.rate in (0, 1):
            text = f"{subject} solved {'all' if self.rate else 'none of'} {tried}"
        if self.silent(rules):
            text += ", and under the layout success hardly depends on the item; strengths and "
            text += "weaknesses cannot be determined"
        elif self.rate in (0, 1):
            text += ", which bounds abilities on one side only"
        return Finding("", "overall", text, size=self.rate)


def describe(
    fit: Fit,
    criticism: Criticism | None = None,
    *,
    subjects: Iterable[object] | None = None,
    rules: Rules = Rules(),  # noqa: B008 (frozen)
) -> Description:
    """Describe each subject's cognitive profile in plain language.

    A description states a subject's strengths, weaknesses, biases and noise, and the elements that
    its data do not determine. With a criticism it also states the properties that the layout seems
    to miss, the properties that it uses in a form that does not fit, outcomes that agree with no
    other subject's, and repeated attempts at an item that depend on each other, so that intervals
    are too short. Every statement follows from the posterior by a rule with a threshold; see
    `judgement.judge` for the formulas.

    A capability is judged by the number of levels of demand in the subject's items that it
    surpasses, not by its declared range. It is uncertain if its interval extends into strengths or
    weaknesses and it is neither, and bounded on one side only, without a rank, if it lies far above
    or below all levels. An element is unknown if the data hardly add to the prior
    (``prior_dominated`` in `Fit.profiles`). If a subject's success hardly depends on the items, and
    it does not solve nearly all of them, its capabilities, propensities and biases are not
    described.

    For a joint layout, the description states the weight of the population in each element whose
    prior has shared values, and its approximate value by the subject's own outcomes alone; see
    `standing.standing`.

    Parameters
    ----------
    fit : Fit
        The fit.
    criticism : Criticism, optional
        Criticism of the same fit. It adds flagged properties (candidates only if their gain is
        large enough), flagged repeated attempts, and outcomes that agree with no other subject's.
    subjects : iterable, optional
        Subjects (default: all, including those whose sampling failed).
    rules : Rules, optional
        Thresholds of the statements.

    Returns
    -------
    Description
        A table of findings, and a paragraph per subject.

    Raises
    ------
    DataError
        When the criticism is of another fit, or a subject is named twice.
    FitError
        When `fit` is something else, a subject is not in the fit, or `rules` is not a `Rules`.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=300, tune=300, chains=2, seed=1, progressbar=False)
    >>> description = describe(result, rules=Rules(certainty=0.8))
    >>> description
    <Description of 2 subjects: ...>
    >>> print(description.texts["sim-01"])
    sim-01 solved ...
    """
    if not isinstance(rules, Rules):
        raise FitError(f"rules={rules!r}; give Rules(...), such as Rules(certainty=0.95)")
    refuse_no_fit(fit)
    if criticism is not None:
        _same_fit(fit, criticism)
    rows = fit.places(subjects)
    names = fit.names(rows)
    judged, numbers = diagnose(fit, subjects=names), profiles(fit, prob=rules.prob, subjects=names)
    of_subject = dict(list(numbers.groupby("subject", sort=False)))
    findings = {name: list[Finding]() for name in [ALL] * (ALL in judged.index) + names}
    for name, verdict in judged[judged["status"] != "ok"].iterrows():
        findings[str(name)] += _sampling(str(name), verdict["status"], verdict["reason"])
    population = _population(fit, names)
    training = {}
    for row, name in zip(rows, names, strict=True):
        training[name] = Training.of(fit, row)
        findings[name] += [
            training[name].finding(name, rules),
            *_elements(fit, row, of_subject[name], training[name], rules),
            *population.get(name, []),
            *([] if criticism is None else _criticised(criticism, name, rules)),
        ]
    if subjects is None:
        for name, reason in fit.failures.items():
            findings[name] = _sampling(name, "failed", reason)
    notes = [] if criticism is None else _alike(criticism, TOGETHER, "Over all subjects, repeated")
    notes += findings.get(ALL, [])
    texts = {}
    for name, listed in findings.items():
        silent = name in training and training[name].silent(rules)
        texts[name] = paragraph([one for one in listed if not (silent and one.what == "unknown")])
    texts.pop(ALL, None)
    overall = [
        (one.rate, one.level(rules), one.spread, one.spread < rules.spread)
        for one in training.values()
    ]
    columns = ["success", "level", "spread", "uniform"]
    every_row = table(itertools.chain.from_iterable(findings.values()))
    every_row.insert(0, "subject", [name for name in findings for _ in findings[name]])
    return Description(
        every_row,
        pd.Series(texts, name="text", dtype="str"),
        pd.DataFrame(overall, pd.Index(names, name="subject", dtype="str"), columns),
        rules,
        tuple(f"{note}." for note in notes),
    )


def _same_fit(fit: Fit, criticism: Criticism) -> None:
    remedy = "give the result of ml.validation.criticise(fit, evaluation)"
    refuse_other("criticism", criticism, Criticism, "a Criticism", remedy)
    other = criticism.fit
    for differs, what in (
        (other.layout.fingerprint != fit.layout.fingerprint, f"of layout {other.layout.name!r}"),
        (other.subjects != fit.subjects, f"of the subjects {some(other.subjects)}"),
        (not other.observed.equals(fit.observed), "of other outcomes"),
    ):
        if differs:
            raise DataError(
                f"the criticism is of another fit, {what}; give criticise(fit, evaluation) of this "
                "fit, or leave it out"
            )


def _sampling(subject: str, status: str, reason: str) -> list[Finding]:
    whose = "The profiles of all subjects are" if subject == ALL else f"The profile of {subject} is"
    first, _, more = reason.partition("; ")
    why = first + ", and more in Fit.diagnostics" * bool(more)
    text = f"{whose} {'not reliable yet' if status in UNTRUSTED else 'approximate'} ({why})"
    if status == "failed":
        text = f"{subject} could not be fitted ({reason})"
    return [Finding("", "sampling", text)]


def _elements(
    fit: Fit, row: int, numbers: pd.DataFrame, training: Training, rules: Rules
) -> Iterator[Finding]:
    """Judge a subject's elements, given its rows of the profiles in the same order."""
    attempted, subject = Attempted.of(fit, row), fit.subjects[row]
    draws = [posterior_draws(fit, element, subject) for element in fit.elements]
    for number, numbers_of in enumerate(numbers.to_dict("records")):
        element, levels = fit.elements[number], None
        if rules.scale == "demands" and element.latent.kind == "capability":
            features, count = attempted.features, len(attempted.names)
            levels = demand_levels(fit, subject, features, count, element)
        evidence = Evidence(
            element,
            draws=draws[number],
            prior=prior_draws(fit, element),
            row={str(name): value for name, value in numbers_of.items()},
            success=training.rate,
            silent=training.silent(rules),
            levels=levels,
            agreed=numbers_of["rhat"] <= RHAT_LIMIT,
        )
        finding = judge(evidence, rules)
        if finding is not None and finding.what == "uncertain":
            finding = replace(finding, text=finding.text + _traded(fit, draws, number))
        if finding is not None:
            yield finding


def _traded(fit: Fit, draws: list[np.ndarray], number: int) -> str:
    """Write which other element an uncertain one trades off with; empty if with none."""
    with np.errstate(invalid="ignore"):  # an element may have a single value
        correlations = np.atleast_2d(np.corrcoef(draws))[number]
    correlations[number] = 0
    other = int(np.nanargmax(abs(correlations)))
    if not abs(correlations[other]) >= _TRADED:
        return ""
    more = "higher" if correlations[other] > 0 else "lower"
    return (
        f"; a higher value with a {more} {fit.elements[other].name} explains the outcomes as well"
    )


def _criticised(criticism: Criticism, subject: str, rules: Rules) -> Iterator[Finding]:
    """Describe what criticism flags: attempts and outcomes, used and missing properties."""
    yield from _alike(criticism, subject, "Repeated")
    agreement, forms, missing = (
        tests[tests["flagged"] & (tests["subject"] == subject)].to_dict("records")
        for tests in (criticism.agreement, criticism.forms, criticism.candidates)
    )
    for row in agreement:
        text = "The outcomes agree with no other subject's; the items may be in another order"
        yield Finding("", "agreement", text, size=float(row["agreement"]))
    yield from (_deviating("misfit", row) for row in forms)
    yield from (_deviating("missing", row) for row in missing if row["gain"] >= rules.gain)


def _alike(criticism: Criticism, subject: str, lead: str) -> list[Finding]:
    """Describe repeated attempts that are more alike than the layout implies."""
    rows = criticism.overdispersion
    rows = rows[rows["flagged"] & (rows["subject"] == subject)]
    text = f"{lead} attempts at an item are more alike than the layout implies, so that intervals "
    text += "are too short"
    return [_measured("", "intervals", text, row) for row in rows.to_dict("records")]


def _deviating(kind: str, row: Mapping[Hashable, Any]) -> Finding:
    """Describe the level of a property at which success deviates most."""
    text = (
        f"{row['property']}: where it is {row['level']}, {row['subject']} solves "
        f"{row['observed']:.2f} instead of {row['expected']:.2f}"
    )
    return _measured(str(row["property"]), kind, text, row)


def _measured(where: str, kind: str, text: str, row: Mapping[Hashable, Any]) -> Finding:
    """Make a finding with the effect of a row and its interval."""
    effect, low, high = (float(row[name]) for name in ("effect", "low", "high"))
    return Finding(where, kind, text, "", effect, low, high)


def _population(fit: Fit, subjects: list[str]) -> dict[str, list[Finding]]:
    """State the weight of the population in elements whose prior has shared values."""
    if not populated(fit.layout, levels=fit.levels):
        return {}
    elements = {(one.latent.name, one.label): one for one in fit.elements}
    findings: dict[str, list[Finding]] = {}
    for row in standing(fit, subjects=subjects).to_dict("records"):
        element, weight = elements[row["node"], row["label"]], float(row["population_weight"])
        text = f"{weight:.0%} of {element.name}"
        if pd.notna(row["alone"]):
            unit = units.name(element.latent.unit)
            alone = f"{float(f'{row["alone"]:.2g}'):g} {unit}".strip()
            text += f" (its own outcomes alone give about {alone})"
        finding = Finding(element.name, "leaning", text, size=weight)
        findings.setdefault(row["subject"], []).append(finding)
    return findings
