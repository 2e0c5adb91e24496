"""Findings of a criticism: what a layout misses, in words, with what to add to it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ...common.digits import beside, fixed, with_interval
from ...common.findings import Finding
from ...common.messages import many, some
from ...layouts import Layout
from .agreement import agreement_findings
from .dependence import TOGETHER
from .fit_tables import LEVEL, SLOPE
from .groups import OTHERS, STANDARD

_CELLS = 3  # most cells with a finding of their own
_MANY = 0.5  # share of the subjects from which flagged patterns are a misfit of the layout
_OWN_SLOPES = 'give subjects slopes of their own: Slope("steepness")'
_ITEM_SLOPES = 'give items slopes of their own: Slope("discrimination", per="item")'
_ITEM_LEVELS = (
    'give items an ease of their own: Effect("ease", per="item", '
    'prior=Prior("ZeroSumNormal", sigma=Spread("easeSpread")))'
)
_FORMS = (
    "try another linking function or a slope for it, or give the latent that it is compared with "
    "parameters of its own"
)


def findings(
    tables: Mapping[str, pd.DataFrame],
    cells: pd.DataFrame,
    agreement: pd.DataFrame,
    layout: Layout,
    testlets: str,
) -> Iterator[Finding]:
    """Describe what is flagged, single cells first, and then what could not be computed.

    Arguments are attributes of a `Criticism`.
    """
    unexpected = cells[cells["flagged"]]
    flagged = {name: table[table["flagged"]] for name, table in tables.items()}
    yield from _cells(unexpected, flagged)
    for name, rows in flagged.items():
        if name == "pairs":
            explained = rows[["item", "other"]].isin(set(unexpected["item"])).any(axis=1)
        else:
            explained = rows["cell"].isin(unexpected["cell"])
        flagged[name] = rows[~explained]
    yield from map(_property, flagged["properties"].to_dict("records"))
    yield from _subjects(flagged["subjects"], int(tables["subjects"]["p"].notna().sum()))
    yield from _items(flagged["items"])
    for _, rows in flagged["groups"].groupby(["by", "what"], sort=False):
        yield _group(rows)
    yield from _pairs(flagged["pairs"], testlets)
    yield from agreement_findings(agreement)
    yield from _attempts(flagged["repeated attempts"], layout)
    yield from _not_computed(tables)


def _finding(where: str, what: str, text: str, remedy: str, row: Any) -> Finding:
    """Make a finding with the numbers of a row: its text may name their interval."""
    size, low, high, p = (float(row[name]) for name in ("effect", "low", "high", "p_adjusted"))
    text = text.replace("{interval}", with_interval(size, low, high))
    return Finding(where, what, text, remedy, size, low, high, p)


def _by_sign(rows: pd.DataFrame, *words: str) -> Iterator[tuple[pd.DataFrame, str, int]]:
    """Split rows with negative from those with positive effects; with a word for each."""
    for sign, word in zip((-1, 1), words, strict=True):
        of_sign = rows[rows["effect"] * sign > 0]
        if len(of_sign):
            yield of_sign, word, sign


def _cells(unexpected: pd.DataFrame, flagged: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """Describe flagged cells, and the tables in which one of them explains a flagged row."""
    for row in unexpected.head(_CELLS).to_dict("records"):
        where, cell = f"{row['subject']} on {row['item']}", row["cell"]
        explains = [
            what for what, rows in flagged.items() if "cell" in rows and cell in set(rows["cell"])
        ]
        expected = with_interval(row["expected"], row["low"], row["high"])
        text = f"{where}: {row['observed']} of {many(row['trials'], 'attempt')} successful, "
        text += f"{expected} expected"
        if explains:
            text += f", which alone explains what is unexpected in {some(explains)}"
        row["effect"] = row["observed"]
        yield _finding(where, "cell", text, "check how this outcome was recorded", row)
    if len(unexpected) > _CELLS:
        text = f"{len(unexpected) - _CELLS} more outcomes are as unexpected; see Criticism.cells"
        yield Finding("cells", "cell", text)


def _property(row: Any) -> Finding:
    """State the gain from adding a candidate, or another form for a property that is used."""
    digits = min(beside(row["gain_se"]), 0)
    gain, error = (f"{round(row[name], digits):.0f}" for name in ("gain", "gain_se"))
    what, remedy = f"adding a bias on {row['property']}", ""
    if row["kind"] == "used":
        what, remedy = f"another form for {row['property']}, which the layout uses,", _FORMS
    text = (
        f"{what} would gain {gain} +- {error} elpd for {row['subject']}: where it is "
        f"{row['level']}, the success rate is {row['observed']:.2f} instead of "
        f"{row['expected']:.2f}"
    )
    return _finding(f"{row['subject']}, {row['property']}", row["kind"], text, remedy, row)


def _subjects(flagged: pd.DataFrame, tested: int) -> Iterator[Finding]:
    """Describe subjects with unexpected patterns; if most have one, as a misfit of the layout."""
    signs = list(_by_sign(flagged, "flatter", "more regular"))
    if len(flagged) > max(_MANY * tested, 1):
        counts = " and ".join(f"{word} for {len(rows)}" for rows, word, _ in signs)
        text = (
            f"the pattern is other than the layout implies for {len(flagged)} of {tested} subjects "
            f"({counts}), which is a misfit of the layout rather than of these subjects"
        )
        remedy = f"try another layout first, with the properties above, or {_OWN_SLOPES}"
        yield _finding("layout", "person fit", text, remedy, flagged.iloc[0])
        return
    for rows, word, sign in signs:
        row, names = rows.iloc[0], some(rows["subject"])
        text = f"{names}: the pattern is {word} than the layout implies"
        if sign < 0 and row["hard"]:
            text += f" ({row['subject']} passes {row['observed']:.0%} of its hard items instead of "
            text += f"{row['expected']:.0%})"
        if sign < 0:
            text += ", as if items were memorised, guessed, or skipped on purpose"
        yield _finding(names, "person fit", text, f"inspect these outcomes, or {_OWN_SLOPES}", row)


def _items(flagged: pd.DataFrame) -> Iterator[Finding]:
    """Describe items that are flatter, steeper, easier or harder, and what to add."""
    for rows, word, _ in _by_sign(flagged[flagged["what"] == SLOPE], "less", "more"):
        names, row = some(rows["item"]), rows.iloc[0]
        verb = "discriminates" if len(rows) == 1 else "discriminate"
        text = f"{names} {verb} between subjects {word} than the layout implies "
        backwards = rows.loc[rows["high"] < -1, "item"]
        key = f"check the key of {some(backwards)}; " if len(backwards) else ""
        text += f"({row['item']}: {{interval}})"
        yield _finding(names, "item slope", text, f"{key}{_ITEM_SLOPES}", row)
    levels = flagged[flagged["what"] == LEVEL]
    if len(levels):
        names, row = some(levels["item"]), levels.iloc[0]
        text = f"{names}: easier or harder than the layout implies ({row['item']}: "
        yield _finding(names, "item level", text + "{interval} log-odds)", _ITEM_LEVELS, row)


def _group(rows: pd.DataFrame) -> Finding:
    """Describe items that are easier or steeper for a group, and the covariate to add."""
    row = rows.sort_values("p", kind="stable").iloc[0]
    names, by = some(rows["item"]), row["by"]
    if row["what"] == SLOPE:
        what, unit = "slope", " relative to a slope of 1"
        remedy = "inspect these items: they measure something else in this group"
    else:
        what, unit = "difficulty", " log-odds relative to the other items"
        column = row["level"] if row["against"] == OTHERS else by
        levels = "" if row["level"] == STANDARD else "levels=(0, 1), "
        feature = f'MetaFeature({column!r}, {levels}per="subject")'
        remedy = (
            f'inspect these items, or add Effect("dif") * MetaFeature("differs", levels=(0, 1)) * '
            f"{feature} to the log-odds, with 1 in the column differs for these items, and the "
            f'mean of each group to the prior of the ability: mu=Effect("impact") * {feature}'
        )
    text = (
        f"{many(len(rows), 'item')} differ in {what} by {by}: {names} ({row['item']}, "
        f"{row['level']} against {row['against']}: {{interval}}{unit})"
    )
    return _finding(names, f"DIF of {what}", text, remedy, row)


def _pairs(flagged: pd.DataFrame, testlets: str) -> Iterator[Finding]:
    """Describe items with more or less in common, and what to add."""
    for rows, word, sign in reversed(list(_by_sign(flagged, "less", "more"))):
        names = rows["testlet"].where(rows["testlet"] != "", rows["item"] + " + " + rows["other"])
        text = (
            f"{testlets} {some(names)}".strip() + f": items have {word} in common than the layout "
            f"implies ({names.iloc[0]}: {{interval}} squared log-odds)"
        )
        remedy = "inspect these items: success on one may reduce success on the other"
        if sign > 0:
            remedy = (
                "add an effect of each subject on each group of items: "
                f'Effect("shared", per=("subject", Category({testlets or "testlet"!r})), '
                'prior=Prior("Normal", mu=0, sigma=Spread("sharedSpread")))'
            )
        yield _finding(some(names), "dependence", text, remedy, rows.iloc[0])


def repeated(row: Any) -> str:
    """Describe how much more alike attempts at an item are than the layout allows.

    Examples
    --------
    >>> repeated({"effect": 0.25, "low": 0.16, "high": 0.36})
    'repeated attempts at an item are more alike than the layout allows, as if each subject had an
    effect of its own on each item, with a standard deviation of 0.50 [0.40, 0.60] log-odds'
    """
    text = "repeated attempts at an item are {} alike than the layout allows"
    if row["effect"] < 0:
        return text.format("less")
    ends = (fixed(max(row[name], 0) ** 0.5, 2) for name in ("effect", "low", "high"))
    return (
        f"{text.format('more')}, as if each subject had an effect of its own on each item, "
        "with a standard deviation of {} [{}, {}] log-odds".format(*ends)
    )


def _attempts(flagged: pd.DataFrame, layout: Layout) -> Iterator[Finding]:
    """Describe repeated attempts that are more or less alike than expected, and what to add."""
    if flagged.empty:
        return
    together = flagged[flagged["subject"] == TOGETHER]
    names = some(name for name in flagged["subject"] if name != TOGETHER)
    row = (together if len(together) else flagged.sort_values("p", kind="stable")).iloc[0]
    remedy = "keep one attempt at each item"
    if layout.steps is None and row["effect"] > 0:
        spread = "Spread" if layout.joint else "Slope"
        remedy = f'add Unseen("itemEffect", 0, {spread}("itemSpread")) to the margin, or {remedy}'
    text = repeated(row) + (f" ({names})" if names else "")
    yield _finding(names or TOGETHER, "repeated attempts", text, remedy, row)


def _not_computed(tables: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """State what has no test, with the reasons, once for each table."""
    for what, table in tables.items():
        if table.empty:
            continue
        untested = table[table["p"].isna() & (table["remark"] != "")]
        for reason, rows in untested.groupby("remark", sort=False):
            column = "item" if "item" in rows else "subject"
            names = some(rows[column].dropna().unique())
            listed = f" ({names})" if names else ""
            text = f"{many(len(rows), 'row')} of {what} not tested{listed}: {reason}"
            yield Finding(names or what, what, text, computed=False)
