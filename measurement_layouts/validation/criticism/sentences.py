"""Findings of a criticism: what a layout misses, in words, with what to add to it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...common.digits import beside, fixed, with_interval
from ...common.findings import Finding
from ...common.messages import many, some
from ...layouts import Layout
from .agreement import REMEDY, told_agreement
from .dependence import TOGETHER
from .fit_tables import LEVEL, SLOPE, STANDARD

_CELLS = 3  # most cells with a finding of their own


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
    yield from _cells(unexpected, tables)
    items = set(unexpected["item"])

    def flagged(name: str) -> pd.DataFrame:
        rows = tables[name][tables[name]["flagged"]]
        if "other" in rows:
            return rows[~rows["item"].isin(items) & ~rows["other"].isin(items)]
        return rows[~rows["cell"].isin(unexpected["cell"])]

    yield from (_property(row) for row in flagged("properties").to_dict("records"))
    yield from _subjects(flagged("subjects"))
    yield from _items(flagged("items"))
    for _, rows in flagged("groups").groupby(["by", "what"], sort=False):
        yield _group(rows)
    yield from _pairs(flagged("pairs"), testlets)
    names = some(agreement.loc[agreement["flagged"], "subject"])
    for text in told_agreement(agreement):
        yield Finding(names, "agreement", text.removesuffix(f"; {REMEDY}"), REMEDY)
    yield from _attempts(flagged("repeated attempts"), layout)
    yield from _not_computed(tables)


def _cells(unexpected: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """Describe flagged cells, and the tables in which one of them explains a flagged row."""
    for row in unexpected.head(_CELLS).to_dict("records"):
        where = f"{row['subject']} on {row['item']}"
        explains = [
            what
            for what, table in tables.items()
            if "cell" in table and (table["flagged"] & (table["cell"] == row["cell"])).any()
        ]
        alone = f", which alone explains what is unexpected in {some(explains)}" if explains else ""
        yield Finding(
            where,
            "cell",
            f"{where}: {row['observed']} of {many(row['trials'], 'attempt')} successful, "
            f"{with_interval(row['expected'], row['low'], row['high'])} expected{alone}",
            "check how this outcome was recorded",
            **_numbers(row | {"effect": row["observed"]}),
        )
    if len(unexpected) > _CELLS:
        text = f"{len(unexpected) - _CELLS} more outcomes are as unexpected; see Criticism.cells"
        yield Finding("cells", "cell", text)


def _numbers(row: Any) -> dict[str, Any]:
    """Size of an effect, its interval and its p value, as attributes of a finding."""
    columns = {"size": "effect", "low": "low", "high": "high", "p": "p_adjusted"}
    return {name: float(row[column]) for name, column in columns.items()}


def _interval(row: Any) -> str:
    return with_interval(row["effect"], row["low"], row["high"])


def _property(row: Any) -> Finding:
    """State the gain from adding a candidate, or another form for a property that is used."""
    digits = min(beside(row["gain_se"]), 0)
    gain, error = (f"{round(row[name], digits):.0f}" for name in ("gain", "gain_se"))
    what, remedy = f"adding a bias on {row['property']}", ""
    if row["kind"] == "used":
        what = f"another form for {row['property']}, which the layout uses,"
        remedy = (
            "try another linking function or a slope for it, or give the latent that it is "
            "compared with parameters of its own"
        )
    text = (
        f"{what} would gain {gain} +- {error} elpd for {row['subject']}: where it is "
        f"{row['level']}, the success rate is {row['observed']:.2f} instead of "
        f"{row['expected']:.2f}"
    )
    return Finding(
        f"{row['subject']}, {row['property']}", row["kind"], text, remedy, **_numbers(row)
    )


def _subjects(flagged: pd.DataFrame) -> Iterator[Finding]:
    """Describe subjects with unexpected patterns of outcomes."""
    remedy = 'inspect these outcomes, or give subjects slopes of their own: Slope("steepness")'
    for sign, pattern in ((-1, "flatter"), (1, "more regular")):
        rows = flagged[flagged["effect"] * sign > 0]
        if rows.empty:
            continue
        row, example = rows.iloc[0], ""
        if sign < 0:
            example = ", as if items were memorised, guessed, or skipped on purpose"
            if row["hard"]:
                example = (
                    f" ({row['subject']} passes {row['observed']:.0%} of its hard items instead of "
                    f"{row['expected']:.0%}){example}"
                )
        names = some(rows["subject"])
        text = f"{names}: the pattern is {pattern} than the layout implies{example}"
        yield Finding(names, "person fit", text, remedy, **_numbers(row))


def _items(flagged: pd.DataFrame) -> Iterator[Finding]:
    """Describe items that are flatter, steeper, easier or harder, and what to add."""
    slopes = flagged[flagged["what"] == SLOPE]
    for sign, word in ((-1, "less"), (1, "more")):
        rows = slopes[slopes["effect"] * sign > 0]
        if len(rows):
            names, verb = some(rows["item"]), "discriminates" if len(rows) == 1 else "discriminate"
            text = (
                f"{names} {verb} between subjects {word} than the layout implies "
                f"({rows['item'].iloc[0]}: {_interval(rows.iloc[0])})"
            )
            backwards = rows[rows["high"] < -1]["item"]
            key = f"check the key of {some(backwards)}; " if len(backwards) else ""
            remedy = f'{key}give items slopes of their own: Slope("discrimination", per="item")'
            yield Finding(names, "item slope", text, remedy, **_numbers(rows.iloc[0]))
    levels = flagged[flagged["what"] == LEVEL]
    if len(levels):
        names = some(levels["item"])
        text = (
            f"{names}: easier or harder than the layout implies ({levels['item'].iloc[0]}: "
            f"{_interval(levels.iloc[0])} log-odds)"
        )
        remedy = (
            'give items an ease of their own: Effect("ease", per="item", '
            'prior=Prior("ZeroSumNormal", sigma=Spread("easeSpread")))'
        )
        yield Finding(names, "item level", text, remedy, **_numbers(levels.iloc[0]))


def _group(rows: pd.DataFrame) -> Finding:
    """Describe items that are easier or steeper for a group, and the covariate to add."""
    row = rows.sort_values("p", kind="stable").iloc[0]
    names, by = some(rows["item"]), row["by"]
    feature = f'MetaFeature({by!r}, levels=(0, 1), per="subject")'
    if row["level"] == STANDARD:
        feature = f'MetaFeature({by!r}, per="subject")'
    elif row["against"] == "the others":
        feature = f'MetaFeature({row["level"]!r}, levels=(0, 1), per="subject")'
    what, unit = "difficulty", " log-odds relative to the other items"
    effect = f'Effect("dif") * MetaFeature("differs", levels=(0, 1)) * {feature}'
    remedy = (
        f"inspect these items, or add {effect} to the log-odds, with 1 in the column differs for "
        f'these items, and the mean of each group to the prior of the ability: mu=Effect("impact") '
        f"* {feature}"
    )
    if row["what"] == SLOPE:
        what, unit = "slope", " relative to a slope of 1"
        remedy = "inspect these items: they measure something else in this group"
    text = (
        f"{many(len(rows), 'item')} differ in {what} by {by}: {names} ({row['item']}, "
        f"{row['level']} against {row['against']}: {_interval(row)}{unit})"
    )
    return Finding(names, f"DIF of {what}", text, remedy, **_numbers(row))


def _pairs(flagged: pd.DataFrame, testlets: str) -> Iterator[Finding]:
    """Describe items with more or less in common, and what to add."""
    for sign, word in ((1, "more"), (-1, "less")):
        rows = flagged[flagged["effect"] * sign > 0]
        if rows.empty:
            continue
        names = [row["testlet"] or f"{row['item']} + {row['other']}" for _, row in rows.iterrows()]
        text = (
            f"{testlets} {some(names)}".strip() + f": items have {word} in common than the layout "
            f"implies ({names[0]}: {_interval(rows.iloc[0])} squared log-odds)"
        )
        remedy = "inspect these items: success on one may reduce success on the other"
        if sign > 0:
            remedy = (
                "add an effect of each subject on each group of items: "
                f'Effect("shared", per=("subject", Category({testlets or "testlet"!r})), '
                'prior=Prior("Normal", mu=0, sigma=Spread("sharedSpread")))'
            )
        yield Finding(some(names), "dependence", text, remedy, **_numbers(rows.iloc[0]))


ATTEMPTS = "repeated attempts at an item are {} alike than the layout allows"


def repeated(row: Any) -> str:
    """Describe how much more alike attempts at an item are than the layout allows.

    Examples
    --------
    >>> repeated({"effect": 0.25, "low": 0.16, "high": 0.36})
    'repeated attempts at an item are more alike than the layout allows, as if each subject had an
    effect of its own on each item, with a standard deviation of 0.50 [0.40, 0.60] log-odds'
    """
    if row["effect"] < 0:
        return ATTEMPTS.format("less")
    ends = (fixed(max(row[name], 0) ** 0.5, 2) for name in ("effect", "low", "high"))
    return (
        f"{ATTEMPTS.format('more')}, as if each subject had an effect of its own on each item, "
        "with a standard deviation of {} [{}, {}] log-odds".format(*ends)
    )


def _attempts(flagged: pd.DataFrame, layout: Layout) -> Iterator[Finding]:
    """Describe repeated attempts that are more or less alike than expected, and what to add."""
    if flagged.empty:
        return
    together = flagged[flagged["subject"] == TOGETHER]
    names = some(name for name in flagged["subject"] if name != TOGETHER)
    row = (together if len(together) else flagged.sort_values("p", kind="stable")).iloc[0]
    spread = "Spread" if layout.joint else "Slope"
    remedy = "keep one attempt at each item"
    if layout.steps is None and row["effect"] > 0:
        remedy = f'add Unseen("itemEffect", 0, {spread}("itemSpread")) to the margin, or {remedy}'
    text = repeated(row) + f" ({names})" * bool(names)
    yield Finding(names or TOGETHER, "repeated attempts", text, remedy, **_numbers(row))


def _not_computed(tables: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """State what has no test, with the reasons, once for each table."""
    for what, table in tables.items():
        rows = table[table["p"].isna()] if len(table) else table
        reasons = rows["remark"].replace("", np.nan).dropna() if "remark" in rows else rows.index
        for reason, own in rows.groupby(reasons, sort=False) if len(reasons) else []:
            column = next((name for name in ("item", "subject") if name in own), what)
            names = some(own[column].dropna().unique()) if column in own else what
            text = f"{many(len(own), 'row')} of {what} not tested ({names}): {reason}"
            yield Finding(names, what, text, computed=False)
