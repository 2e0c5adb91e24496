"""Findings of a report: who can do what, what limits, what to run next, what not to trust."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from ..common.digits import fixed
from ..common.messages import many, some
from ..inference.sampling.convergence import UNTRUSTED
from .bars import Bar
from .contents import Contents

_NAMED = 3  # most subjects, items or elements in a sentence
_ELEMENTS = 6  # most elements in a list of sentences
_OPEN = ("uncertain", "unknown")


@dataclass(frozen=True, eq=False)
class Findings:
    """One group of findings.

    Attributes
    ----------
    title : str
        Heading of the group.
    sentences : list of str
        Sentences, the most important first.
    """

    title: str
    sentences: list[str]


def findings(contents: Contents, found: Mapping[str, list[Bar]]) -> list[Findings]:
    """Summarise the results by the rules of `describe`; groups without findings are left out.

    Parameters
    ----------
    contents : Contents
        Contents of the report.
    found : dict of str to list of Bar
        Profiles by subject.

    Returns
    -------
    list of Findings
        Who can do what, what limits, what to run next and what not to trust.
    """
    if not contents.fit.subjects:
        return []
    told = contents.told.findings
    judged = told[told["where"] != ""]
    groups = {
        "Who can do what": [*_rates(contents), *_abilities(contents, judged, found)],
        "What limits": list(_limits(contents, judged)),
        "What to run next": list(_next(contents, judged)),
        "What not to trust": list(_doubts(contents, found)),
    }
    return [Findings(title, sentences) for title, sentences in groups.items() if sentences]


def _rates(contents: Contents) -> Iterator[str]:
    """State the range of success rates, with the subjects at its ends."""
    rates = contents.rates.dropna().sort_values(kind="stable")
    what = "Mean outcomes" if contents.stepped else "Success rates"
    if len(rates) == 1:
        yield f"{what[:-1]} of {rates.index[0]}: {fixed(float(rates.iloc[0]), 2)}."
    elif rates.nunique() == 1:
        yield f"{what} of {many(len(rates), 'subject')} are all {fixed(float(rates.iloc[0]), 2)}."
    elif len(rates):
        (lowest, low), (highest, high) = rates.iloc[[0, -1]].items()
        yield (
            f"{what} of {many(len(rates), 'subject')} lie between {fixed(low, 2)} ({lowest}) and "
            f"{fixed(high, 2)} ({highest}); the median is {fixed(float(rates.median()), 2)}."
        )


def _abilities(
    contents: Contents, judged: pd.DataFrame, found: Mapping[str, list[Bar]]
) -> list[str]:
    """State how many subjects each element is a strength of, and its highest and lowest values."""
    told = []
    for place, element in enumerate(contents.elements):
        if element.latent.kind not in ("capability", "propensity"):
            continue
        kinds = judged.loc[judged["where"] == element.name, "what"].value_counts()
        parts = [f"a {kind} of {kinds[kind]}" for kind in ("strength", "weakness") if kind in kinds]
        known = {who: own[place] for who, own in found.items() if not own[place].vague}
        order = sorted(known, key=lambda who: -known[who].row["mean"])
        if len(order) > 1:
            high, low = order[: min(_NAMED, len(order) - 1)], order[-1:]
            if len(known) < len(found):  # the others may lie beyond these
                parts.append(f"of the {len(known)} that are not prior-dominated")
            for what, whose in (("highest", high), ("lowest", low)):
                named = ", ".join(f"{who} ({known[who].mean})" for who in whose)
                parts.append(f"{what} in {named}")
        if parts:
            told.append(f"{element.name}: {'; '.join(parts)}.")
    return _first(told, "elements")


def _limits(contents: Contents, judged: pd.DataFrame) -> Iterator[str]:
    """State the most frequent weaknesses, biases and noises, with their subjects."""
    of = len(contents.told.texts)
    for kind, what in (
        ("weakness", "is a weakness of"),
        ("bias", "is clearly above or below the mean of its prior in"),
        ("noise", "is high in"),
    ):
        own = judged[judged["what"] == kind]
        for element, count in own["where"].value_counts().head(_ELEMENTS).items():
            names = own.loc[own["where"] == element, "subject"]
            yield f"{element} {what} {count} of {of}: {some(names, _NAMED)}."


def _next(contents: Contents, judged: pd.DataFrame) -> Iterator[str]:
    """State the items that narrow most profiles, or else the elements that are still unknown."""
    table = contents.next_items
    if len(table):
        first = table.groupby("subject", sort=False).head(_NAMED)["item"].value_counts()
        named = ", ".join(f"{item} ({count})" for item, count in first.head(_ELEMENTS).items())
        yield (
            "Items of the bank that are most often among the first three of a subject (number of "
            f"subjects in brackets): {named}."
        )
    of = len(contents.told.texts)
    left = judged[judged["what"].isin(_OPEN)]
    counts = left["where"].value_counts().head(_NAMED)
    for element, count in counts.items():
        yield (
            f"{element} is uncertain or unknown in {count} of {of}: run more items whose outcomes "
            "depend on it."
        )
    if len(counts) and not len(table):
        yield "With a bank of items, the report lists the items that are most informative."


def _doubts(contents: Contents, found: Mapping[str, list[Bar]]) -> Iterator[str]:
    """State unreliable profiles and elements, and properties that the layout misses."""
    status = contents.verdicts["status"]
    for names, verdict in (
        (status.index[status == "failed"], "could not be fitted"),
        (status.index[status.isin(UNTRUSTED)], "did not converge; the remarks state remedies"),
        (
            status.index[~status.isin({"ok", "failed"} | set(UNTRUSTED))],
            "are approximate; the remarks state reasons and remedies",
        ),
    ):
        if len(names):
            yield f"Profiles of {len(names)} of {len(status)} {verdict}: {some(names, _NAMED)}."
    every = [(who, bar) for who, own in found.items() for bar in own]
    vague = Counter(bar.axis.name for _, bar in every if bar.vague)
    if vague:
        named = ", ".join(f"{name} ({count})" for name, count in vague.most_common(_ELEMENTS))
        yield (
            "Prior-dominated elements, not to be compared between subjects (number of the "
            f"{len(found)} in brackets): {named}."
        )
    split = dict.fromkeys(who for who, bar in every if bar.split)
    if split:
        yield f"Profiles with separate modes, between which a mean may lie: {some(split, _NAMED)}."
    criticism = contents.criticism
    if criticism is not None:
        told = [f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in criticism.suggestions()]
        yield from _first(told, "points")


def _first(told: list[str], what: str) -> list[str]:
    """Keep the first sentences, and count the others."""
    if len(told) <= _ELEMENTS:
        return told
    return [*told[:_ELEMENTS], f"{len(told) - _ELEMENTS} more {what} are in the sections below."]
