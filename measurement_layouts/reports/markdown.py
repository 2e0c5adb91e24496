"""The report in Markdown, without figures."""

from collections.abc import Iterable, Sequence

from ..common.digits import fixed, short, significant
from ..common.markdown import escaped, table
from ..common.messages import many
from .bars import axes, bars
from .columns import columns
from .contents import PROB, Contents
from .findings import findings
from .new_items import NewItems
from .population import effects
from .subjects import next_rows


def as_markdown(contents: Contents) -> str:
    """Write the report.

    Parameters
    ----------
    contents : Contents
        Contents of the report.

    Returns
    -------
    str
        GitHub's Markdown, with the layout as a Mermaid diagram.
    """
    fit = contents.fit
    parts = [
        f"# {escaped(contents.title)}",
        *_summary(contents),
        *_findings(contents),
        "## Profiles",
        f"Posterior mean and {PROB:.0%} interval. \\*: prior-dominated, the outcomes do "
        "not determine the value, or bound it on one side only. ‡: the posterior has separate "
        "modes, between which the mean may lie. †: the sampling did not converge, and the numbers "
        "are not reliable.",
        _profiles(contents),
        *_population(contents),
        "## Sampling",
        _sampling(contents),
        "## Diagnosis",
        *_left_out(contents),
        *(escaped(text) for text in contents.told.texts),
        *_criticism(contents),
        *_forecasts(contents),
        *_explained(contents),
        *_next(contents),
        "## The layout",
        f"```mermaid\n{fit.layout.to_mermaid().strip()}\n```",
        "## The data",
        _features(contents),
        *_outcomes(contents),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(contents: Contents) -> list[str]:
    status = contents.verdicts["status"].value_counts()
    usual = ("ok", "not converged", "failed")
    seldom = [name for name in status.index if name not in usual]
    counted = [f"{status.get(n, 0)} {n}" for n in ("ok", *seldom, "not converged", "failed")]
    trials = int(contents.trials["trials"].sum())
    done = f"{trials} trials"
    if contents.stepped:
        own = (f"{each.attempts.sum()} of {escaped(each.name)}" for each in contents.outcomes)
        done = f"{trials} attempts ({', '.join(own)})"
    return [
        f"{contents.measured} Sampling: {', '.join(counted)}. "
        f"{many(len(contents.items), 'item')}, {done}. "
        f"Layout: {escaped(contents.fit.layout.name)}. Sampler: {escaped(contents.sampler)}."
    ]


def _findings(contents: Contents) -> list[str]:
    """Write the findings."""
    told = findings(contents, bars(contents.profiles, axes(contents)))
    texts = [
        text
        for group in told
        for text in (
            f"### {group.title}",
            "\n".join(f"- {escaped(sentence)}" for sentence in group.sentences),
        )
    ]
    return ["## Findings", *texts] if texts else []


def _features(contents: Contents) -> str:
    rows = []
    for column in columns(contents.fit):
        declared, seen = column.feature.range, column.seen
        between = f"{short(seen.min())} to {short(seen.max())}" if len(seen) else "–"
        ends = f"{short(declared.low)} to {short(declared.high)}"
        rows.append([column.name, column.unit or "–", ends, between, len(seen)])
    return _table(["Property", "Unit", "Declared", "Seen", "Items"], rows)


def _outcomes(contents: Contents) -> list[str]:
    """Tabulate mean outcomes by subject, if there are several outcomes, grades or scores."""
    if not contents.stepped:
        return []
    told = (f"{escaped(one.name)}: {escaped(one.mean_of)}" for one in contents.outcomes)
    rows = [
        [who, *(fixed(float(mean), 2) for mean in own)]
        for who, own in zip(contents.means.index, contents.means.to_numpy(), strict=True)
    ]
    return [
        f"Means of outcomes, as fractions of the highest. {'; '.join(told)}.",
        _table(["Subject", *contents.means.columns], rows),
    ]


def _profiles(contents: Contents) -> str:
    ranges = axes(contents)
    names = [f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in ranges]
    rates, rate = contents.rates, "Mean outcome" if contents.stepped else "Success"
    status = contents.verdicts["status"]
    rows = [
        [
            f"{who} †" if status[who] == "not converged" else who,
            fixed(float(rates[who]), 2),
            *(f"{bar.mean}{bar.marks} {bar.interval}" for bar in own),
        ]
        for who, own in bars(contents.profiles, ranges).items()
    ]
    return _table(["Subject", rate, *names], rows)


def _population(contents: Contents) -> list[str]:
    """Tabulate shared values and items' effects."""
    return [
        text
        for one in effects(contents)
        for text in (f"## {one.title}", escaped(one.about), _table(one.head, one.rows))
    ]


def _sampling(contents: Contents) -> str:
    head = ["Subject", "Status", "R-hat", "ESS", "Divergences", "Remarks"]
    rows = []
    for who, row in contents.diagnostics.iterrows():
        numbers = [fixed(float(row[name]), digits) for name, digits in _MEASURES]
        rows.append([who, row["status"], *numbers, row["reason"]])
    return _table(head, rows)


_MEASURES = (("rhat", 3), ("ess", 0), ("divergences", 0))


def _left_out(contents: Contents) -> list[str]:
    """Write how many subjects are described, if not all are."""
    who = many(len(contents.verdicts), "subject")
    if contents.whole:
        return []
    return [f"{len(contents.detailed)} of the {who} are described here."]


def _criticism(contents: Contents) -> list[str]:
    if contents.criticism is None:
        return ["## What the layout may miss", escaped(contents.uncriticised)]
    lines, untried = contents.criticism.suggestions(), contents.criticism.untried()
    text = "\n".join(f"- {escaped(line)}" for line in lines) or "Nothing was flagged."
    text += f"\n\n{escaped(untried)}." * bool(untried)
    return ["## What the layout may miss", text]


def _forecasts(contents: Contents) -> list[str]:
    if contents.forecast is None:
        return []
    new = NewItems(contents, contents.forecast)
    means = new.means()
    rows = [
        [who, *(significant(float(mean)) for mean in own)]
        for who, own in zip(means.index, means.to_numpy(), strict=True)
    ]
    names = [f"Mean {name}" for name in means.columns] if contents.stepped else ["Mean success"]
    told = (
        f"Forecasts of {many(new.items, 'item')}, {new.outside} of them outside a declared range."
    )
    if new.unmet is not None:
        names += ["Items outside training"]
        rows = [[*row, count] for row, count in zip(rows, new.unmet, strict=True)]
        told += f" {new.beyond}" * bool(new.beyond)
    return [
        "## Forecasts",
        told,
        _table(["Subject", *names], rows),
    ]


def _explained(contents: Contents) -> list[str]:
    """Write the explanations of forecasts that were given."""
    shown = set(contents.detailed)
    found = [one for one in contents.explanations if one.subject in shown]
    told = [
        "\n".join(f"- {escaped(sentence)}" for sentence in explanation.sentences)
        for explanation in found
    ]
    return ["## Forecasts explained", *told] if told else []


def _next(contents: Contents) -> list[str]:
    """List the items to ask next, if a bank was given."""
    rows = [[who, *row] for who in contents.detailed for row in next_rows(contents, who)]
    if not rows:
        return []
    told = (
        "The items of the bank that would narrow each profile most, in order: each item is the one "
        "that adds most information to the items before it."
    )
    head = ["Subject", "Item", "Success", "Narrows most, on its own"]
    return ["## What to ask next", told, _table(head, rows)]


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Write a table with escaped cells."""
    return table(list(map(escaped, head)), (map(escaped, row) for row in rows))
