"""Descriptions in words: a paragraph per subject, and what is said once for several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ...common.findings import Finding
from ...common.messages import many, some
from ...evaluations.tables import known_names
from .rules import Rules

_IN_DETAIL = 6  # most strengths or unknown elements with their numbers in a paragraph
_SENTENCES = ("sampling", "overall", "agreement", "intervals")
_LEADS = {  # introductions of findings by kind, in the order of a paragraph
    "strength": "Strong in ",
    "weakness": "Weak in ",
    "in between": "Neither strong nor weak in ",
    "uncertain": "Uncertain: ",
    "bounded": "Bounded on one side only: ",
    "location": "Value: ",
    "bias": "Bias: ",
    "noise": "Noisy: ",
    "leaning": "Weight of the population: ",
    "unknown": "Not known from these items: ",
}
_DEVIATIONS = (  # introductions of flagged properties: the first, and further ones
    ("misfit", "The layout's form does not fit", "Neither does it fit"),
    ("missing", "The layout seems to miss", "It may also miss"),
)
_MARKS = re.compile(r"([\\`*_\[\]<>|#])")


def paragraph(findings: Sequence[Finding]) -> str:
    """Write a subject's findings in a few sentences.

    Weaknesses, biases and noise are always written with their numbers. If there are more than six
    strengths or unknown elements, these are listed by name only, as are all missing properties
    except the first.

    Parameters
    ----------
    findings : sequence of Finding
        Findings of one subject.

    Returns
    -------
    str
        A paragraph with one sentence for each kind that has findings.

    Examples
    --------
    >>> paragraph([Finding("", "overall", "Ann solved 18 of 30 items"),
    ...            Finding("sight", "weakness", "sight 0.1"), Finding("", "noise", "half")])
    'Ann solved 18 of 30 items. Weak in sight 0.1. Noisy: half.'
    """
    kinds = dict[str, list[Finding]]()
    for finding in findings:
        kinds.setdefault(finding.what, []).append(finding)
    sentences = [finding.text for kind in _SENTENCES for finding in kinds.get(kind, [])]
    sentences += [f"{lead}{_listed(kinds[kind])}" for kind, lead in _LEADS.items() if kind in kinds]
    for kind, lead, more in _DEVIATIONS:
        if kind in kinds:
            first, *others = kinds[kind]
            sentences.append(f"{lead} {first.text}")
            names = ", ".join(finding.where for finding in others)
            sentences += [f"{more} {names}"] if names else []
    return " ".join(f"{sentence}." for sentence in sentences)


def _listed(findings: Sequence[Finding]) -> str:
    if findings[0].what in ("strength", "unknown") and len(findings) > _IN_DETAIL:
        return ", ".join(finding.where for finding in findings)
    return "; ".join(finding.text for finding in findings)


@dataclass(frozen=True, eq=False)
class Description:
    """Cognitive profiles in plain language.

    Made by `describe`.

    Attributes
    ----------
    findings : DataFrame
        One row per ``subject`` and finding, with the columns of `common.findings.Finding`:

        - ``what``: ``overall``; for each element except slopes one of ``strength``, ``weakness``,
          ``in between`` (neither), ``uncertain`` (it may be in more than one of these classes),
          ``bounded`` (the outcomes bound it on one side only),
          ``bias``, ``noise``, ``unremarkable`` (a bias or noise below the thresholds),
          ``location`` (a propensity, or a capability that is not judged) and ``unknown``;
          ``leaning`` (on the population, for a joint layout; ``size`` is the share); ``missing``
          (a property of the items); ``misfit`` (a property that the layout uses in a form that
          does not fit); ``agreement`` (outcomes that agree with no other subject's);
          ``intervals`` (too short because of repeated attempts); ``sampling`` (failed, or not
          reliable).
        - ``where``: the profile element, or the property that is missing or does not fit.
        - ``size``, ``low``, ``high``: posterior mean and interval, in the element's unit. For
          ``overall``, the success rate; for ``intervals``, the effect of each item; for a
          property, the largest deviation of the success rate at one of its levels from the rate
          that the layout expects.
        - ``p``: posterior probability of the statement; NaN where none is made.
        - ``text``: the statement as text.
    texts : Series of str
        A paragraph per subject.
    overall : DataFrame
        Indexed by subject, without those that failed: ``success`` rate; its ``level``
        (``nearly all``, ``nearly nothing`` or ``in between``); ``spread``, the standard deviation
        of the forecast over the training items (NaN where these are all the same); and ``uniform``,
        whether the spread is so small that success hardly depends on the items.
    rules : Rules
        Thresholds of the statements.
    notes : tuple of str
        What holds of all subjects together; of a joint fit, also its sampling.

    Examples
    --------
    >>> findings = pd.DataFrame({"subject": ["Ann"], "what": ["weakness"], "where": ["sight"]})
    >>> texts = pd.Series({"Ann": "Ann solved 18 of 30 items. Weak in sight, 0.09 of 1."})
    >>> overall = pd.DataFrame({"success": 0.6, "level": "in between"}, index=["Ann"])
    >>> description = Description(findings, texts, overall, Rules())
    >>> description.weaknesses("Ann")
    ['sight']
    >>> print(description)
    Ann solved 18 of 30 items. Weak in sight, 0.09 of 1.
    <BLANKLINE>
    In brackets: the interval that contains the value with 90% probability. ...
    """

    findings: pd.DataFrame
    texts: pd.Series
    overall: pd.DataFrame
    rules: Rules
    notes: tuple[str, ...] = ()

    def weaknesses(self, subject: object) -> list[str]:
        """List a subject's weak elements.

        Parameters
        ----------
        subject : object
            Name of the subject.

        Returns
        -------
        list of str
            Elements as ``node`` or ``node[label]``, in the layout's order.

        Raises
        ------
        DataError
            When the subject is not described.
        """
        (name,) = known_names([subject], self.texts.index, "subject")
        table = self.findings
        chosen = (table["subject"] == name) & (table["what"] == "weakness")
        return [str(where) for where in table.loc[chosen, "where"]]

    def is_uniform(self, subject: object) -> bool:
        """Whether a subject's success hardly depends on the items.

        Parameters
        ----------
        subject : object
            Name of a subject that was fitted.

        Returns
        -------
        bool
            As in `overall`.

        Raises
        ------
        DataError
            When the subject is not described, or failed.
        """
        (name,) = known_names([subject], self.overall.index, "subject")
        return bool(self.overall.loc[name, "uniform"])

    def rate(self, subject: object) -> str:
        """Class of a subject's success rate.

        Parameters
        ----------
        subject : object
            Name of a subject that was fitted.

        Returns
        -------
        str
            ``nearly all``, ``nearly nothing`` or ``in between``.

        Raises
        ------
        DataError
            When the subject is not described, or failed.
        """
        (name,) = known_names([subject], self.overall.index, "subject")
        return str(self.overall.loc[name, "level"])

    @property
    def legend(self) -> str:
        """Explain the words and brackets of all paragraphs."""
        rules = self.rules
        by_range = f"at least {rules.strong:g} of its range, at most {rules.weak:g}"
        strong = "above {:.0%} or more of the levels demanded, {:.0%} or fewer (of a "
        strong = strong.format(rules.strong_demands, rules.weak_demands) + f"chance: {by_range})"
        text = (
            f"In brackets: the interval that contains the value with {rules.prob:.0%} probability. "
            f"Strong, weak: {by_range if rules.scale == 'range' else strong}; each is stated if "
            f"its probability is at least {rules.certainty:.0%}. Uncertain: the interval crosses "
            "one of these limits. Half solved at: the demand at which half of the attempts succeed "
            "as far as this ability decides. Value: not judged."
        )
        if (self.findings["what"] == "leaning").any():
            text += (
                " Weight of the population: the part of a value that comes from the mean of the "
                "population and not from the subject's own outcomes; it is the share of the "
                "population's variance that these outcomes leave."
            )
        return text

    @property
    def paragraphs(self) -> list[str]:
        """What holds of all, and a paragraph for each subject, or for several of the same words."""
        names = dict[str, list[str]]()
        for subject, text in self.texts.items():
            names.setdefault(str(text).replace(str(subject), "\0"), []).append(str(subject))
        return [*self.notes, *(text.replace("\0", some(who, 12)) for text, who in names.items())]

    def __str__(self) -> str:
        return "\n\n".join([*self.paragraphs, self.legend])

    def __repr__(self) -> str:
        kinds = self.findings["what"].value_counts()
        weak = int(kinds.get("weakness", 0))
        strengths = many(int(kinds.get("strength", 0)), "strength")
        weaknesses = "1 weakness" if weak == 1 else f"{weak} weaknesses"
        return f"<Description of {many(len(self.texts), 'subject')}: {strengths}, {weaknesses}>"

    def _repr_markdown_(self) -> str:
        texts = [_MARKS.sub(r"\\\1", text) for text in self.paragraphs]
        return "\n\n".join([*texts, f"*{self.legend}*"])
