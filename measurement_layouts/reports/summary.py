"""Findings of a report: who can do what, what limits, what to run next, what not to trust."""

from collections.abc import Iterator

import pandas as pd

from ..common.digits import chance, fixed, significant
from ..common.messages import many, some
from ..inference.sampling.convergence import UNTRUSTED
from ..layouts.elements import Element
from ..linking import units
from ..validation.comparing.draws import element_draws, ranks
from .contents import PROB, Contents
from .parts import Section

_NAMED = 5  # most subjects, items or elements in a sentence
_ELEMENTS = 6  # most elements in a list of sentences
_UNRANKED = ("bounded", "unknown", "uncertain")
_OTHER = ("leaning", "missing", "misfit")  # findings that do not judge an element


def findings(contents: Contents) -> Iterator[Section]:
    """Summarise the results by the rules of `describe`; groups without findings are left out."""
    table = contents.description.findings
    judged = table[(table["where"] != "") & ~table["what"].isin(_OTHER)]
    groups = {
        "Who can do what": [*_rates(contents), *_abilities(contents, judged)],
        "What limits": list(_limits(contents, judged)),
        "What to run next": list(_next(contents, judged)),
        "What not to trust": list(_doubts(contents)),
    }
    for title, sentences in groups.items():
        if sentences:
            yield Section(title, [sentences])


def _rates(contents: Contents) -> Iterator[str]:
    """State the range of success rates, with the subjects at its ends."""
    rates = contents.rates.dropna().sort_values(kind="stable")
    what = "Mean outcomes" if contents.stepped else "Success rates"
    if rates.nunique() == 1:
        of = rates.index[0] if len(rates) == 1 else f"{many(len(rates), 'subject')} are all"
        yield f"{what} of {of} {fixed(float(rates.iloc[0]), 2)}."
    elif len(rates):
        ends = [
            f"{fixed(end, 2)} ({some(rates.index[rates == end], _NAMED)})"
            for end in (rates.min(), rates.max())
        ]
        yield (
            f"{what} of {many(len(rates), 'subject')} lie between {ends[0]} and {ends[1]}; the "
            f"median is {fixed(float(rates.median()), 2)}."
        )


def _abilities(contents: Contents, judged: pd.DataFrame) -> list[str]:
    """State of whom each element is a strength, and who has the highest and lowest values."""
    sentences = []
    for element in contents.fit.elements:
        if element.latent.kind not in ("capability", "propensity"):
            continue
        rows = judged[judged["where"] == element.name]
        kinds = rows["what"].value_counts()
        texts = [
            f"a {kind} of {many(int(kinds[kind]), 'subject')}"
            for kind in ("strength", "weakness")
            if kind in kinds
        ]
        bounded = rows.loc[rows["what"] == "bounded", "subject"]
        if len(bounded):
            texts.append(f"bounded on one side only, without a rank, in {some(bounded, _NAMED)}")
        ranked = rows.loc[~rows["what"].isin(_UNRANKED[:2]), "subject"].tolist()
        texts += _ends(contents, element, ranked)
        if texts:
            sentences.append(f"{element.name}: {'; '.join(texts)}.")
    return _first(sentences)


def _ends(contents: Contents, element: Element, subjects: list[str]) -> Iterator[str]:
    """Name the highest and the lowest of the subjects, or those that cannot be told apart."""
    if len(subjects) < 2:
        return
    draws = element_draws(contents.fit, element, subjects)
    for what, values in (("highest", draws), ("lowest", -draws)):
        table = ranks(values, PROB).assign(subject=subjects).sort_values("best", ascending=False)
        tied = table[table["tied"]]
        probability = chance(float(tied["best"].sum()), 0)
        if len(tied) == 1:
            yield f"{what} in {tied['subject'].iloc[0]} (probability {probability})"
        elif len(tied) < len(subjects):
            named = some(tied["subject"], _NAMED)
            yield f"{what} in one of {named} (probability {probability}), which are tied"
        else:
            yield f"no {what} stands out, as all {len(subjects)} are tied"


def _limits(contents: Contents, judged: pd.DataFrame) -> Iterator[str]:
    """State the most frequent weaknesses, biases and noises, with their subjects."""
    count = len(contents.description.texts)
    for kind, what in (
        ("weakness", "is a weakness of"),
        ("bias", "is clearly above or below the mean of its prior in"),
        ("noise", "is high in"),
    ):
        rows = judged[judged["what"] == kind]
        for element, number in rows["where"].value_counts().head(_ELEMENTS).items():
            names = rows.loc[rows["where"] == element, "subject"]
            yield f"{element} {what} {number} of {count}: {some(names, _NAMED)}."


def _next(contents: Contents, judged: pd.DataFrame) -> Iterator[str]:
    """State the items that narrow most profiles, or else what items should demand."""
    table = contents.next_items
    if len(table):
        first = table.groupby("subject", sort=False).head(3)["item"].value_counts()
        named = ", ".join(f"{item} ({count})" for item, count in first.head(_ELEMENTS).items())
        yield (
            "Items of the bank that are most often among the first three of a subject (number of "
            f"subjects in brackets): {named}."
        )
        return
    vague = judged[judged["what"].isin(_UNRANKED) & (judged["remedy"] != "")]
    for element in contents.fit.elements:
        rows = vague[vague["where"] == element.name]
        if len(rows):
            unit = units.name(element.latent.unit)
            low, high = (significant(float(rows[end].median())) for end in ("low", "high"))
            yield (
                f"{element.name} is uncertain, unknown or bounded on one side only in "
                f"{some(rows['subject'], _NAMED)}: run items that demand between {low} and "
                f"{high} {unit}".rstrip()
                + "."
            )


def _doubts(contents: Contents) -> Iterator[str]:
    """State unreliable profiles, values that outcomes do not determine, and separate modes."""
    status = contents.status
    if contents.fit.layout.joint:
        yield from contents.description.notes
    else:
        other = ~status.isin({"ok", "failed", *UNTRUSTED})
        for names, verdict in (
            (status.index[status == "failed"], "could not be fitted"),
            (status.index[status.isin(UNTRUSTED)], "did not converge"),
            (status.index[other], "are approximate"),
        ):
            if len(names):
                who = f"{len(names)} of {len(status)}"
                yield f"Profiles of {who} {verdict} (see Sampling): {some(names, _NAMED)}."
    table = contents.profiles
    labels = table["label"].map(lambda label: f"[{label}]" if label else "")
    for column, text in (
        ("prior_dominated", "Not determined by the outcomes, or bounded on one side only"),
        ("modes", "Of separate modes, between which a mean may lie"),
    ):
        counts = (table["node"] + labels)[table[column]].value_counts()
        if len(counts):
            named = ", ".join(f"{name} ({n})" for name, n in counts.head(_ELEMENTS).items())
            yield f"{text} (number of the {len(contents.rates)} subjects in brackets): {named}."


def _first(sentences: list[str]) -> list[str]:
    """Keep the first sentences, and count the others."""
    if len(sentences) <= _ELEMENTS:
        return sentences
    more = len(sentences) - _ELEMENTS
    return [*sentences[:_ELEMENTS], f"{more} more elements are in the table of profiles."]
