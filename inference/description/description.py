"""Descriptions: findings as a table, and a paragraph per subject."""

import re
from dataclasses import dataclass

import pandas as pd

from ..tables import known_names
from ..wording import many
from .rules import Rules
from .sentences import legend

_MARKS = re.compile(r"([\\`*_\[\]<>|#])")


@dataclass(frozen=True, eq=False)
class Description:
    """Cognitive profiles in plain language.

    Made by `describe`.

    Attributes
    ----------
    findings : DataFrame
        One row per subject and finding:

        - ``kind``: ``overall``; of each element but slopes one of ``strength``, ``weakness``,
          ``in between`` (neither), ``uncertain`` (it may be in more than one of these classes),
          ``bias``, ``noise``, ``unremarkable`` (a bias or noise with nothing to name), ``location``
          (a propensity, or a capability that is not judged) and ``unknown``; ``missing`` (a
          property of the items); ``intervals`` (too short, by repeated attempts); ``sampling``
          (failed, or not to be trusted).
        - ``element``: the profile element, or the property that is missing.
        - ``value``, ``low``, ``high``: posterior mean and interval, in the element's unit; overall,
          the success rate; of intervals, how often they hold; of a missing property, how far
          success deviates from what the layout expects at the level where it does most.
        - ``probability``: posterior probability of the statement; NaN where none is made.
        - ``text``: in words.
    texts : Series of str
        A paragraph per subject.
    overall : DataFrame
        Indexed by subject, without those that failed: ``success`` rate; its ``level``
        (``nearly all``, ``nearly nothing`` or ``in between``); ``spread``, the standard deviation
        of the forecast over the training items (NaN where these are all alike); and ``uniform``,
        whether that is so small that success hardly depends on the items.
    rules : Rules
        Thresholds.

    Examples
    --------
    >>> findings = pd.DataFrame({"subject": ["Ann"], "kind": ["weakness"], "element": ["sight"]})
    >>> texts = pd.Series({"Ann": "Ann passes 0.60 of 30 items. Weak: sight 0.09 of 1."})
    >>> overall = pd.DataFrame({"success": 0.6, "level": "in between"}, index=["Ann"])
    >>> description = Description(findings, texts, overall, Rules())
    >>> description.weaknesses("Ann")
    ['sight']
    >>> print(description)
    Ann passes 0.60 of 30 items. Weak: sight 0.09 of 1.
    <BLANKLINE>
    In brackets: the range that holds the value with 90% probability, rounded outwards. ...
    """

    findings: pd.DataFrame
    texts: pd.Series
    overall: pd.DataFrame
    rules: Rules

    def weaknesses(self, subject: object) -> list[str]:
        """Name a subject's weak elements.

        Parameters
        ----------
        subject : object
            Whose.

        Returns
        -------
        list of str
            ``node`` or ``node[label]``, in the layout's order.

        Raises
        ------
        DataError
            When the subject is not described.
        """
        (who,) = known_names([subject], self.texts.index, "subject")
        table = self.findings
        chosen = (table["subject"] == who) & (table["kind"] == "weakness")
        return [str(name) for name in table.loc[chosen, "element"]]

    def is_uniform(self, subject: object) -> bool:
        """Say whether a subject's success hardly depends on the items.

        Parameters
        ----------
        subject : object
            Whose; one that was fitted.

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
        """Say how much a subject passes.

        Parameters
        ----------
        subject : object
            Whose; one that was fitted.

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

    def __str__(self) -> str:
        return "\n\n".join([*self.texts, legend(self.rules)])

    def __repr__(self) -> str:
        kinds = self.findings["kind"].value_counts()
        named = many(int(kinds.get("strength", 0)), "strength")
        weak = int(kinds.get("weakness", 0))
        weak_text = f"{weak} weakness" if weak == 1 else f"{weak} weaknesses"
        return f"<Description of {many(len(self.texts), 'subject')}: {named}, {weak_text}>"

    def _repr_markdown_(self) -> str:
        parts = [_MARKS.sub(r"\\\1", str(text)) for text in self.texts]
        return "\n\n".join([*parts, f"*{legend(self.rules)}*"])
