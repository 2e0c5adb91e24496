"""Sentences of descriptions: numbers with their interval and range, a paragraph per subject."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from ...common.digits import significant, with_interval
from ...common.findings import Finding
from ...common.messages import many
from ...evaluations.tables import known_names
from ...layouts.elements import Element
from ...linking import units
from .rules import Rules

_IN_DETAIL = 6  # most strengths or unknown elements with their numbers in a paragraph
_WHOLE = (
    "sampling",
    "overall",
    "agreement",
    "intervals",
)  # kinds whose findings are sentences of their own
_LEADS = {  # introductions of findings by kind, in the order of a paragraph
    "strength": "Strong",
    "weakness": "Weak",
    "in between": "In between",
    "uncertain": "Uncertain",
    "location": "Located",
    "bias": "Bias",
    "noise": "Noisy",
    "leaning": "Weight of the population",
    "unknown": "Not known from these items",
}

_DEVIATIONS = (  # introductions of flagged properties: the first, and further ones
    ("misfit", "The layout's form does not fit", "Neither does it fit"),
    ("missing", "The layout seems to miss", "It may also miss"),
)


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
    >>> paragraph([Finding("", "overall", "Ann passes 0.60 of 30 items"),
    ...            Finding("sight", "weakness", "sight 0.1"), Finding("", "noise", "half")])
    'Ann passes 0.60 of 30 items. Weak: sight 0.1. Noisy: half.'
    """
    kinds = dict[str, list[Finding]]()
    for finding in findings:
        kinds.setdefault(finding.what, []).append(finding)
    sentences = [each.text for kind in _WHOLE for each in kinds.get(kind, [])]
    sentences += [
        f"{lead}: {_listed(kinds[kind])}" for kind, lead in _LEADS.items() if kind in kinds
    ]
    for kind, lead, more in _DEVIATIONS:
        if kind in kinds:
            first, *others = kinds[kind]
            sentences.append(f"{lead} {first.text}")
            names = ", ".join(each.where for each in others)
            sentences += [f"{more} {names}"] if names else []
    return " ".join(f"{sentence}." for sentence in sentences)


def _listed(findings: Sequence[Finding]) -> str:
    if findings[0].what in ("strength", "unknown") and len(findings) > _IN_DETAIL:
        return ", ".join(each.where for each in findings)
    return "; ".join(each.text for each in findings)


def legend(rules: Rules, leaning: bool = False) -> str:
    """Explain the words and brackets of all paragraphs, and weights if they are among them."""
    by_range = f"{rules.strong:g} or more of the way from the lowest to the highest value"
    if rules.scale == "range":
        strong, weak = by_range, f"{rules.weak:g} or less"
    else:
        strong = f"above {rules.strong_demands:.0%} or more of the levels of demand in its items"
        weak = f"above {rules.weak_demands:.0%} or fewer"
        strong += f" (of a chance from 0 to 1: {rules.strong:g} or more)"
        weak += f" (of a chance: {rules.weak:g} or less)"
    return (
        f"In brackets: the interval that contains the value with {rules.prob:.0%} probability. "
        f"Strong: {strong}; weak: {weak}; each is stated if its probability is "
        f"at least {rules.certainty:.0%}. In between: the whole interval is between these limits. "
        "Uncertain: the interval crosses one of these limits. Located: not judged."
        + (
            " Weight of the population: the part of a value that comes from the mean of the "
            "population and not from the subject's own outcomes; it is the share of the "
            "population's variance that these outcomes leave."
        )
        * leaning
    )


class Numbers(NamedTuple):
    """A posterior mean and the ends of its interval."""

    mean: float
    low: float
    high: float


def estimate(numbers: Numbers) -> str:
    """Write a mean with its interval, in three significant digits.

    Examples
    --------
    >>> estimate(Numbers(0.0912, 0.071, 0.112)), estimate(Numbers(-31.31, -34.4, -28.2))
    ('0.0912 [0.0710, 0.112]', '-31.3 [-34.4, -28.2]')
    """
    return _plain(with_interval(*numbers))


def rounded(value: float) -> str:
    """Write a number in three significant digits.

    Examples
    --------
    >>> rounded(-0.001), rounded(31.31)
    ('-0.00100', '31.3')
    """
    return _plain(significant(value))


def _plain(text: str) -> str:
    """Write the minus sign as a hyphen, for any terminal."""
    return text.replace("−", "-")


class Surpassed(NamedTuple):
    """Number of levels of demand that a capability surpasses."""

    mean: float
    low: float
    high: float
    levels: int


def located(element: Element, numbers: Numbers, surpassed: Surpassed | None = None) -> str:
    """Write an element with its interval, range and unit: ``sight 0.0912 [0.0710, 0.112] of 1``.

    With levels of demand, these replace the range: ``above 3 [2, 4] of 9 levels of demand``.
    """
    shown = f"{called(element)} {estimate(numbers)}"
    if surpassed is None:
        return f"{shown}{_of_range(element)}"
    counts = f"{surpassed.mean:.0f} [{_counts(surpassed, ', ')}]"
    return f"{shown}{_unit(element)}, above {counts}{_levels(surpassed)}"


def vaguely(element: Element, numbers: Numbers, surpassed: Surpassed | None = None) -> str:
    """Write an imprecisely known element: ``sight, anywhere from 0.0710 to 0.960 of 1``."""
    low, high = (significant(end, numbers.high - numbers.low) for end in numbers[1:])
    shown = f"{called(element)}, anywhere from {_plain(low)} to {_plain(high)}"
    if surpassed is None:
        return f"{shown}{_of_range(element)}"
    return f"{shown}{_unit(element)}, above {_counts(surpassed, ' to ')}{_levels(surpassed)}"


def _counts(surpassed: Surpassed, between: str) -> str:
    return f"{surpassed.low:.0f}{between}{surpassed.high:.0f}"


def _levels(surpassed: Surpassed) -> str:
    return f" of {many(surpassed.levels, 'level')} of demand"


def _unit(element: Element) -> str:
    unit = units.name(element.latent.unit)
    return f" {unit}" if unit else ""


def called(element: Element) -> str:
    """Name an element, with its description if the layout has one."""
    about = element.latent.about
    return f"{element.name} ({about})" if about else element.name


def _of_range(element: Element) -> str:
    support = element.latent.range
    if not support.is_finite:
        where = ""
    elif support.low == 0:
        where = f" of {support.high:g}"
    else:
        where = f" on a scale from {support.low:g} to {support.high:g}"
    return f"{where}{_unit(element)}"


_MARKS = re.compile(r"([\\`*_\[\]<>|#])")


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
          ``bias``, ``noise``, ``unremarkable`` (a bias or noise below the thresholds),
          ``location`` (a propensity, or a capability that is not judged) and ``unknown``;
          ``leaning`` (on the population, for a joint layout; ``size`` is the share); ``missing``
          (a property of the items); ``misfit`` (a property that the layout uses in a form that
          does not fit); ``agreement`` (outcomes that agree with no other subject's);
          ``intervals`` (too short because of repeated attempts); ``sampling`` (failed, or not
          reliable).
        - ``where``: the profile element, or the property that is missing or does not fit.
        - ``size``, ``low``, ``high``: posterior mean and interval, in the element's unit. For
          ``overall``, the success rate; for ``intervals``, how often they contain the value; for a
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

    Examples
    --------
    >>> findings = pd.DataFrame({"subject": ["Ann"], "what": ["weakness"], "where": ["sight"]})
    >>> texts = pd.Series({"Ann": "Ann passes 0.60 of 30 items. Weak: sight 0.09 of 1."})
    >>> overall = pd.DataFrame({"success": 0.6, "level": "in between"}, index=["Ann"])
    >>> description = Description(findings, texts, overall, Rules())
    >>> description.weaknesses("Ann")
    ['sight']
    >>> print(description)
    Ann passes 0.60 of 30 items. Weak: sight 0.09 of 1.
    <BLANKLINE>
    In brackets: the interval that contains the value with 90% probability. ...
    """

    findings: pd.DataFrame
    texts: pd.Series
    overall: pd.DataFrame
    rules: Rules

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
        (who,) = known_names([subject], self.texts.index, "subject")
        table = self.findings
        chosen = (table["subject"] == who) & (table["what"] == "weakness")
        return [str(name) for name in table.loc[chosen, "where"]]

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
        (who,) = known_names([subject], self.overall.index, "subject")
        return bool(self.overall.loc[who, "uniform"])

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
        (who,) = known_names([subject], self.overall.index, "subject")
        return str(self.overall.loc[who, "level"])

    @property
    def _legend(self) -> str:
        return legend(self.rules, bool((self.findings["what"] == "leaning").any()))

    def __str__(self) -> str:
        return "\n\n".join([*self.texts, self._legend])

    def __repr__(self) -> str:
        kinds = self.findings["what"].value_counts()
        named = many(int(kinds.get("strength", 0)), "strength")
        weak = int(kinds.get("weakness", 0))
        weak_text = f"{weak} weakness" if weak == 1 else f"{weak} weaknesses"
        return f"<Description of {many(len(self.texts), 'subject')}: {named}, {weak_text}>"

    def _repr_markdown_(self) -> str:
        parts = [_MARKS.sub(r"\\\1", str(text)) for text in self.texts]
        return "\n\n".join([*parts, f"*{self._legend}*"])
