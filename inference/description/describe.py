"""Describe each subject's cognitive profile in plain language."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...layouts.elements import Element, elements
from ..criticism.criticism import Criticism
from ..criticism.overdispersion import ALIKE, TOGETHER, harm
from ..diagnostics import diagnose, profiles
from ..digits import of_profile
from ..element_draws import posterior_draws, prior_draws
from ..errors import DataError, FitError
from ..loo.pointwise import Attempted
from ..results import Fit
from ..wording import some
from .demands import demand_levels
from .description import Description
from .finding import Finding
from .judgement import Evidence, judge
from .rules import Rules
from .sentences import Numbers, paragraph
from .training import Training


def describe(
    fit: Fit,
    criticism: Criticism | None = None,
    *,
    subjects: Iterable[object] | None = None,
    rules: Rules = Rules(),  # noqa: B008 (frozen)
) -> Description:
    """Describe each subject's cognitive profile in plain language.

    Says what a subject is strong and weak at, where it leans to one side, whether it is noisy, what
    its data cannot tell and, given a criticism, what the layout seems to miss, and where intervals
    are too short because repeated attempts at an item depend on each other. Every statement
    follows from the posterior by a rule with a threshold; see `judgement.judge` for the formulas.

    A capability is judged by how many of the levels of demand in the subject's items it surpasses,
    not by the range that was declared for it. It is uncertain where its interval reaches into
    strengths or weaknesses without being one. An element is unknown where the data say hardly more
    than the prior (``prior_dominated`` in `Fit.profiles`). Where a subject's success hardly depends
    on the items, short of passing nearly all of them, nothing is said of its capabilities,
    propensities and biases.

    Parameters
    ----------
    fit : Fit
        Profiles.
    criticism : Criticism, optional
        Of the same fit: adds the properties that were flagged and gain enough, and repeated
        attempts that were flagged.
    subjects : iterable, optional
        Whom; by default everybody, those whose sampling failed too.
    rules : Rules, optional
        Thresholds.

    Returns
    -------
    Description
        A table of findings, and a paragraph per subject.

    Raises
    ------
    DataError
        When the criticism is of another fit, or a subject is named twice.
    FitError
        When a subject is not in the fit, or `rules` are none.

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
    if criticism is not None:
        _same_fit(fit, criticism)
    rows = fit.places(subjects)
    who = [fit.subjects[row] for row in rows]
    verdicts, table = diagnose(fit, subjects=who), profiles(fit, rules.prob, subjects=who)
    found, texts = dict[str, list[Finding]](), dict[str, str]()
    overall = dict[str, Training]()
    for row, subject in zip(rows, who, strict=True):
        verdict, own = verdicts.loc[subject], table[table["subject"] == subject]
        training = Training.of(fit, row)
        silent = training.silent(rules)
        overall[subject] = training
        found[subject] = [
            *_sampling(subject, str(verdict["status"]), str(verdict["reason"])),
            training.finding(subject, rules),
            *_elements(fit, subject, own, silent, rules),
            *_alike(criticism, subject),
            *_missing(criticism, subject, rules),
        ]
        told = [each for each in found[subject] if not (silent and each.kind == "unknown")]
        texts[subject] = paragraph(told)
    if subjects is None:
        for name, reason in fit.failures.items():
            found[name] = _sampling(name, "failed", reason)
            texts[name] = paragraph(found[name])
    return Description(
        _table(found), pd.Series(texts, name="text", dtype="str"), _overall(overall, rules), rules
    )


def _same_fit(fit: Fit, criticism: Criticism) -> None:
    other = criticism.fit
    if other.layout.fingerprint != fit.layout.fingerprint:
        differs = f"the layout {other.layout.name!r}, this one of {fit.layout.name!r}"
        if other.layout.name == fit.layout.name:
            differs = f"another layout that is called {fit.layout.name!r}, too"
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
        return [Finding("sampling", text=f"{subject} could not be fitted ({reason})")]
    text = f"The profile of {subject} is not to be trusted yet ({reason})"
    return [Finding("sampling", text=text)]


def _elements(
    fit: Fit, subject: str, own: pd.DataFrame, silent: bool, rules: Rules
) -> list[Finding]:
    """Judge a subject's elements, given its rows of the profiles in the same order."""
    found = []
    attempted = Attempted.of(fit, fit.subjects.index(subject))
    for element, row in zip(elements(fit.layout), own.to_dict("records"), strict=True):
        evidence = Evidence(
            element,
            draws=posterior_draws(fit, element, subject),
            prior=prior_draws(fit, element),
            numbers=Numbers(
                float(row["mean"]), float(row["low"]), float(row["high"]), of_profile(row)
            ),
            levels=_levels(fit, subject, attempted, element, rules),
            ess=min(float(row["ess_bulk"]), float(row["ess_tail"])),
            modes=str(row["modes"]),
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


def _missing(criticism: Criticism | None, subject: str, rules: Rules) -> list[Finding]:
    if criticism is None:
        return []
    flagged = criticism.flagged()
    chosen = flagged[(flagged["subject"] == subject) & (flagged["gain"] >= rules.gain)]
    return [
        Finding(
            "missing",
            str(row["property"]),
            value=float(row["effect"]),
            low=float(row["low"]),
            high=float(row["high"]),
            text=f"{row['property']}: where it is {row['level']}, {subject} passes "
            f"{row['observed']:.2f} instead of {row['expected']:.2f}",
        )
        for row in chosen.to_dict("records")
    ]


def _alike(criticism: Criticism | None, subject: str) -> list[Finding]:
    """Say where attempts are too much alike, of the subject itself or else of all together."""
    if criticism is None:
        return []
    table = criticism.overdispersion
    flagged = {row["subject"]: row for row in table[table["flagged"]].to_dict("records")}
    for who, lead in ((subject, "R"), (TOGETHER, "Over all subjects, r")):
        if who in flagged:
            row = flagged[who]
            text = f"{lead}{ALIKE[1:]}: {harm(row, criticism.prob)}"
            return [Finding("intervals", str(row["element"]), float(row["holds"]), text=text)]
    return []


def _table(found: dict[str, list[Finding]]) -> pd.DataFrame:
    rows = [(subject, *finding) for subject, own in found.items() for finding in own]
    return pd.DataFrame(rows, columns=["subject", *Finding._fields])


def _overall(overall: dict[str, Training], rules: Rules) -> pd.DataFrame:
    columns = ["success", "level", "spread", "uniform"]
    rows = [
        (each.rate, each.level(rules), each.spread, each.uniform(rules))
        for each in overall.values()
    ]
    return pd.DataFrame(rows, pd.Index(list(overall), name="subject", dtype="str"), columns)
