"""The report in Markdown: what a page without drawings can tell."""

import re
from collections.abc import Iterable, Sequence

from ..linking import units
from . import equations
from .bars import axes, bars
from .columns import columns
from .contents import PROB, Contents
from .numbers import short
from .numbers import written as number

_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#|~$&!])")


def written(contents: Contents) -> str:
    """Write the report.

    Parameters
    ----------
    contents : Contents
        What to tell.

    Returns
    -------
    str
        GitHub's Markdown, with the layout as a Mermaid diagram.
    """
    fit = contents.fit
    parts = [
        f"# {escaped(contents.title)}",
        *_summary(contents),
        "## The layout",
        f"```mermaid\n{fit.layout.to_mermaid().strip()}\n```",
        "\n".join(f"    {line}" for line in equations.plain(fit.layout)),
        "## The data",
        _features(contents),
        "## Profiles",
        f"Posterior mean and {PROB:.0%} interval. \\*: prior-dominated, the outcomes say next to "
        "nothing. †: quarantined, not to be trusted yet.",
        _profiles(contents),
        "## Sampling",
        _sampling(contents),
        "## Diagnosis",
        *(escaped(text) for text in contents.description.texts),
        *_criticism(contents),
        *_forecasts(contents),
    ]
    return "\n\n".join(parts) + "\n"


def escaped(text: object) -> str:
    r"""Write any text as it stands, on one line.

    Examples
    --------
    >>> escaped("<b>a|b</b>")
    '\\<b\\>a\\|b\\</b\\>'
    """
    return _SIGNS.sub(r"\\\1", " ".join(str(text).split()))


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Write a table; every cell is escaped.

    Examples
    --------
    >>> print(table(["a", "b"], [[1, "x|y"]]))
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    lines = [list(map(escaped, head)), ["---"] * len(head)]
    lines += [list(map(escaped, row)) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _summary(contents: Contents) -> list[str]:
    status = contents.diagnostics["status"].value_counts()
    counted = [f"{status.get(name, 0)} {name}" for name in ("ok", "quarantined", "failed")]
    items, trials = contents.fit.observed.sizes["item"], int(contents.trials["trials"].sum())
    return [
        f"{len(contents.diagnostics)} subjects ({', '.join(counted)}), {items} items, {trials} "
        f"trials. Layout: {escaped(contents.fit.layout.name)}. "
        f"Sampler: {escaped(contents.sampler)}."
    ]


def _features(contents: Contents) -> str:
    rows = []
    for column in columns(contents.fit):
        declared, seen = column.feature.range, column.seen
        between = f"{short(seen.min())} to {short(seen.max())}" if len(seen) else "–"
        ends = f"{short(declared.low)} to {short(declared.high)}"
        rows.append([column.name, column.unit or "–", ends, between, len(seen)])
    return table(["Property", "Unit", "Declared", "Seen", "Items"], rows)


def _profiles(contents: Contents) -> str:
    ranges = axes(contents)
    names = [
        f"{axis.name} ({axis.unit})" if units.name(axis.element.latent.unit) else axis.name
        for axis in ranges
    ]
    rates = contents.trials["successes"] / contents.trials["trials"]
    status = contents.diagnostics["status"]
    rows = [
        [
            f"{who} †" if status[who] == "quarantined" else who,
            number(float(rates[who]), 2),
            *(f"{bar.mean}{'*' * bar.vague} {bar.interval}" for bar in own),
        ]
        for who, own in bars(contents.profiles, ranges).items()
    ]
    return table(["Subject", "Success", *names], rows)


def _sampling(contents: Contents) -> str:
    head = ["Subject", "Status", "R-hat", "ESS", "Divergences", "Remarks"]
    rows = []
    for who, row in contents.diagnostics.iterrows():
        numbers = [number(float(row[name]), digits) for name, digits in _MEASURES]
        rows.append([who, row["status"], *numbers, row["reason"]])
    return table(head, rows)


_MEASURES = (("rhat", 3), ("ess", 0), ("divergences", 0))


def _criticism(contents: Contents) -> list[str]:
    if contents.criticism is None:
        return ["## What the layout may miss", escaped(contents.uncriticised)]
    found = contents.criticism.suggestions()
    text = "\n".join(f"- {escaped(line)}" for line in found) or "Nothing was flagged."
    return ["## What the layout may miss", text]


def _forecasts(contents: Contents) -> list[str]:
    if contents.forecast is None:
        return []
    data = contents.forecast.data
    means = data["mean"].mean("item")
    rows = [
        [who, number(float(mean), 2)]
        for who, mean in zip(data["subject"].to_numpy(), means.to_numpy(), strict=True)
    ]
    outside = int(data["extrapolated"].sum())
    return [
        "## Forecasts",
        f"Of {data.sizes['item']} items, {outside} of them outside a declared range.",
        table(["Subject", "Mean success"], rows),
    ]
