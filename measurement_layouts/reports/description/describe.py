"""Describe each subject's cognitive profile in plain language."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...common.digits import chance, significant
from ...common.errors import DataError, FitError
from ...common.findings import Finding, table
from ...common.given import refuse_other
from ...common.messages import many, some
from ...evaluations.steps import Rows
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.forecasts.streaming import every_draw
from ...inference.given import refuse_no_fit
from ...inference.model.alignment import Features
from ...inference.population.standing import populated, standing
from ...inference.posterior.diagnostics import profiles, verdicts
from ...inference.posterior.posterior import posterior_draws, prior_draws, success_rates
from ...inference.sampling.convergence import RHAT_LIMIT, UNTRUSTED
from ...layouts.elements import Element
from ...linking import units
from ...validation.criticism.agreement import disagreement
from ...validation.criticism.criticise import Criticism
from ...validation.criticism.dependence import TOGETHER
from ...validation.criticism.sentences import repeated
from .demands import demand_levels
from .judgement import Evidence, judge
from .rules import Rules
from .sentences import Description, Numbers, paragraph


def _all_alike(features: Features) -> bool:
    """Whether all items have the same meta-features."""
    return all((values == values[:1]).all() for values in features.values())


class Training(NamedTuple):
    """A subject's training outcomes.

    Attributes
    ----------
    successes, trials, items : int
        Counts of successes and trials, and number of items attempted.
    spread : float
        Standard deviation over the items of the posterior mean of the success probability; NaN
        where all items are the same, so that it cannot vary.
    mean : float or None
        With several outcomes, grades or scores, their mean as a fraction of the highest. Counts are
        then of steps, and the spread is that of the items' expected outcomes.
    """

    successes: int
    trials: int
    items: int
    spread: float
    mean: float | None = None

    @classmethod
    def of(cls, fit: Fit, row: int) -> "Training":
        """Read and forecast a subject's outcomes, by its position in the fit."""
        attempted = Attempted.of(fit, row)
        if attempted.steps is not None:
            return cls._of_steps(fit, row, attempted, attempted.steps)
        items, features = len(attempted.names), attempted.features
        means = np.empty(items)
        for places, chances in every_draw(fit, row, features, items, memory_mib=_MEMORY_MIB):
            means[places] = chances.mean(axis=1)
        alike = _all_alike(features)
        spread = np.nan if alike else float(means.std())
        return cls(int(attempted.successes.sum()), int(attempted.trials.sum()), items, spread)

    @classmethod
    def _of_steps(cls, fit: Fit, row: int, attempted: Attempted, steps: Rows) -> "Training":
        _, first = np.unique(steps.places, return_index=True)
        features = {name: values[first] for name, values in attempted.features.items()}
        means = np.zeros(len(first))
        for outcome in fit.layout.outcomes:
            highest = outcome.range.high * len(fit.layout.outcomes)
            for places, values in every_draw(
                fit, row, features, len(first), outcome, memory_mib=_MEMORY_MIB
            ):
                means[places] += values.mean(axis=1) / highest
        alike = _all_alike(features)
        counts = int(attempted.successes.sum()), int(attempted.trials.sum())
        rate = float(success_rates(fit, np.array([row])).iloc[0])
        return cls(*counts, len(first), np.nan if alike else float(means.std()), rate)

    @property
    def rate(self) -> float:
        """Success rate."""
        return self.successes / self.trials if self.mean is None else self.mean

    def uniform(self, rules: Rules) -> bool:
        """Whether success hardly depends on the items."""
        return self.spread < rules.spread

    def silent(self, rules: Rules) -> bool:
        """Whether single elements cannot be judged: success is uniform and not nearly complete."""
        return self.uniform(rules) and self.rate < rules.nearly_all

    def level(self, rules: Rules) -> str:
        """Class of the success rate: ``nearly all``, ``nearly nothing`` or ``in between``."""
        if self.rate >= rules.nearly_all:
            return "nearly all"
        return "nearly nothing" if self.rate <= rules.nearly_nothing else "in between"

    def finding(self, subject: str, rules: Rules) -> Finding:
        """Describe the success rate, and whether it depends on the items."""
        of = many(self.items, "item")
        if self.mean is not None:
            of = f"the highest outcome on {of}"
        elif self.trials != self.items:
            of = f"{many(self.trials, 'trial')} on {of}"
        level = self.level(rules)
        how = "" if level == "in between" else f"{level}: "
        verb = "passes" if self.mean is None else "reaches"
        rate = chance(self.rate, 0) if 0 < self.rate < 1 else f"{self.rate:.2f}"
        text = f"{subject} {verb} {how}{rate} of {of}"
        if self.mean is None and self.successes in (0, self.trials):
            text = f"{subject} passes {'all' if self.successes else 'none of'} {of}"
        if self.silent(rules):
            text += ", and under the layout success hardly depends on the item; strengths and "
            text += "weaknesses cannot be determined"
        elif self.successes in (0, self.trials):
            limits = "upper" if self.successes else "lower"
            text += f"; the {limits} limits of its abilities cannot be determined"
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
    weaknesses and it is neither. An element is unknown if the data hardly add to the prior
    (``prior_dominated`` in `Fit.profiles`). If a subject's success hardly depends on the items, and
    it does not pass nearly all of them, its capabilities, propensities and biases are not
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
    sim-01 passes ...
    """
    if not isinstance(rules, Rules):
        raise FitError(f"rules={rules!r}; give Rules(...), such as Rules(certainty=0.95)")
    refuse_no_fit(fit)
    if criticism is not None:
        _same_fit(fit, criticism)
    rows = fit.places(subjects)
    who = fit.names(rows)
    judged, table = verdicts(fit, subjects=who), profiles(fit, prob=rules.prob, subjects=who)
    found, texts = dict[str, list[Finding]](), dict[str, str]()
    overall, leaning = dict[str, Training](), leanings(fit, who)
    for row, subject in zip(rows, who, strict=True):
        verdict, own = judged.loc[subject], table[table["subject"] == subject]
        training = Training.of(fit, row)
        silent = training.silent(rules)
        overall[subject] = training
        found[subject] = [
            *_sampling(subject, str(verdict["status"]), str(verdict["reason"])),
            training.finding(subject, rules),
            *_elements(fit, subject, own, silent, rules),
            *leaning[subject],
            *([] if criticism is None else _criticised(criticism, subject, rules)),
        ]
        told = [each for each in found[subject] if not (silent and each.what == "unknown")]
        texts[subject] = paragraph(told)
    if subjects is None:
        for name, reason in fit.failures.items():
            found[name] = _sampling(name, "failed", reason)
            texts[name] = paragraph(found[name])
    return Description(
        _table(found), pd.Series(texts, name="text", dtype="str"), _overall(overall, rules), rules
    )


def _same_fit(fit: Fit, criticism: Criticism) -> None:
    remedy = "give the result of ml.validation.criticise(fit, evaluation)"
    refuse_other("criticism", criticism, Criticism, "a Criticism", remedy)
    other = criticism.fit
    if other.layout.fingerprint != fit.layout.fingerprint:
        differs = f"the layout {other.layout.name!r}, this one of {fit.layout.name!r}"
        if other.layout.name == fit.layout.name:
            differs = f"another layout with the same name, {fit.layout.name!r}"
    elif other.subjects != fit.subjects:
        differs = f"the subjects {some(other.subjects)}, this one of {some(fit.subjects)}"
    elif not other.observed.equals(fit.observed):
        differs = "the same layout to other outcomes"
    else:
        return
    raise DataError(
        f"the criticism is of another fit, of {differs}; give criticise(fit, evaluation) of this "
        "fit, or leave it out"
    )


def _sampling(subject: str, status: str, reason: str) -> list[Finding]:
    if status == "ok":
        return []
    if status == "failed":
        return [Finding("", "sampling", f"{subject} could not be fitted ({reason})")]
    if status not in UNTRUSTED:
        return [Finding("", "sampling", f"The profile of {subject} is approximate ({reason})")]
    text = f"The profile of {subject} is not reliable yet ({reason})"
    return [Finding("", "sampling", text)]


def _elements(
    fit: Fit, subject: str, own: pd.DataFrame, silent: bool, rules: Rules
) -> list[Finding]:
    """Judge a subject's elements, given its rows of the profiles in the same order."""
    found = []
    attempted = Attempted.of(fit, fit.subjects.index(subject))
    for element, row in zip(fit.elements, own.to_dict("records"), strict=True):
        evidence = Evidence(
            element,
            draws=posterior_draws(fit, element, subject),
            prior=prior_draws(fit, element),
            numbers=Numbers(float(row["mean"]), float(row["low"]), float(row["high"])),
            levels=_levels(fit, subject, attempted, element, rules),
            modes=bool(row["modes"]),
            agreed=row["rhat"] <= RHAT_LIMIT,
            informed=not row["prior_dominated"] and not (silent and element.latent.kind != "noise"),
        )
        found.append(judge(evidence, rules))
    return [finding for finding in found if finding is not None]


def _levels(
    fit: Fit, subject: str, attempted: Attempted, element: Element, rules: Rules
) -> np.ndarray | None:
    """Find the levels of demand to judge a capability by, if it is to be judged by these."""
    if rules.scale != "demands" or element.latent.kind != "capability":
        return None
    return demand_levels(fit, subject, attempted.features, len(attempted.names), element)


def _criticised(criticism: Criticism, subject: str, rules: Rules) -> list[Finding]:
    """Describe what criticism flags: attempts and outcomes, used and missing properties."""
    disagreeing, forms, missing = (
        table[table["flagged"] & (table["subject"] == subject)]
        for table in (criticism.agreement, criticism.forms, criticism.candidates)
    )
    missing = missing[missing["gain"] >= rules.gain]
    return [
        *_alike(criticism, subject),
        *(_disagreeing(row) for row in disagreeing.to_dict("records")),
        *(_deviating("misfit", row) for row in forms.to_dict("records")),
        *(_deviating("missing", row) for row in missing.to_dict("records")),
    ]


def _deviating(kind: str, row: Mapping[Hashable, Any]) -> Finding:
    """Describe the level of a property at which success deviates most."""
    return Finding(
        str(row["property"]),
        kind,
        f"{row['property']}: where it is {row['level']}, {row['subject']} passes "
        f"{row['observed']:.2f} instead of {row['expected']:.2f}",
        size=float(row["effect"]),
        low=float(row["low"]),
        high=float(row["high"]),
    )


def _disagreeing(row: dict[Hashable, Any]) -> Finding:
    """Describe a subject whose outcomes agree with no other subject's."""
    text = f"T{disagreement(row)[1:]}: its items may be in another order"
    return Finding("", "agreement", text, size=float(row["agreement"]))


def _alike(criticism: Criticism, subject: str) -> list[Finding]:
    """Describe repeated attempts that are too similar, of the subject or else of all together."""
    table = criticism.overdispersion
    flagged = {row["subject"]: row for row in table[table["flagged"]].to_dict("records")}
    for who, lead in ((subject, "R"), (TOGETHER, "Over all subjects, r")):
        if who in flagged:
            row = flagged[who]
            text = f"{lead}{repeated(row)[1:]}"
            effect, low, high = (float(row[name]) for name in ("effect", "low", "high"))
            return [Finding("", "intervals", text, size=effect, low=low, high=high)]
    return []


def _table(found: dict[str, list[Finding]]) -> pd.DataFrame:
    findings = table(finding for own in found.values() for finding in own)
    subjects = [subject for subject, own in found.items() for _ in own]
    findings.insert(0, "subject", subjects)
    return findings


def _overall(overall: dict[str, Training], rules: Rules) -> pd.DataFrame:
    columns = ["success", "level", "spread", "uniform"]
    rows = [
        (each.rate, each.level(rules), each.spread, each.uniform(rules))
        for each in overall.values()
    ]
    return pd.DataFrame(rows, pd.Index(list(overall), name="subject", dtype="str"), columns)


_MEMORY_MIB = 8.0


def leanings(fit: Fit, subjects: Sequence[str]) -> dict[str, list[Finding]]:
    """Describe the weight of the population in elements of a profile, and their values without.

    Parameters
    ----------
    fit : Fit
        The fit.
    subjects : sequence of str
        Names of the subjects.

    Returns
    -------
    dict of str to list of Finding
        Findings by subject, one for each element whose prior has shared values.
    """
    found: dict[str, list[Finding]] = {subject: [] for subject in subjects}
    if not populated(fit.layout, levels=fit.levels):
        return found
    known = {(element.latent.name, element.label): element for element in fit.elements}
    for row in standing(fit, subjects=subjects).to_dict("records"):
        element = known[row["node"], row["label"]]
        weight = float(row["population_weight"])
        text = f"{element.name} {weight:.0%}"
        if pd.notna(row["alone"]):
            unit = units.name(element.latent.unit)
            own = significant(row["alone"]).replace("−", "-") + (f" {unit}" if unit else "")
            text += f" (about {own} by its own outcomes alone)"
        found[row["subject"]].append(Finding(element.name, "leaning", text, size=weight))
    return found
