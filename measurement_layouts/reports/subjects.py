"""Sections of a report about single subjects, each with at most three figures."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .. import plots
from ..common.digits import fixed, in_brackets, p_value, significant, with_error, with_interval
from .contents import PROB, Contents
from .diagrams import subject_diagram
from .forecasts import forecasts_of
from .parts import Part, Picture, Section, Table
from .pictures import inline, picture

_PROPERTIES = 2  # figures of success over a property
_CANDIDATES = 6  # rows of criticism
_DIAGRAMS = 8  # most subjects whose sections each have a diagram of the layout with their values
_PANELS = 3


def anchors(contents: Contents) -> dict[str, str]:
    """Give each section an identifier by number; a name may not be a valid identifier."""
    return {name: f"subject-{number}" for number, name in enumerate(contents.detailed, 1)}


def element_cell(row: Mapping[Hashable, Any]) -> str:
    """Write a value of a profile with its marks and its interval."""
    marks = "*" * bool(row["prior_dominated"]) + "‡" * bool(row["modes"])
    mean, low, high = (row[name] for name in ("mean", "low", "high"))
    return f"{significant(mean, high - low)}{marks} {in_brackets(low, high)}"


def subject_sections(contents: Contents) -> Iterator[Section]:
    """Write the sections of the subjects one after the other."""
    properties = _properties(contents)
    for name, anchor in anchors(contents).items():
        status = contents.status[name]
        sign = {"not converged": " † not converged", "failed": " (failed)"}.get(status, "")
        parts: list[Part] = [str(contents.description.texts[name])]
        if status != "failed":
            parts += _parts(contents, name, f"{anchor}-", properties)
        yield Section(f"{name}{sign}", parts, anchor, folded=True)


def _parts(contents: Contents, name: str, prefix: str, properties: list[str]) -> Iterator[Part]:
    """Write what is known of a subject that was fitted."""
    fit = contents.fit
    yield _profile(contents, name)
    rows = -(-len(fit.elements) // _PANELS)
    columns = min(_PANELS, len(fit.elements))
    yield picture(
        lambda axes: _rows(contents, name, axes),
        f"Profile of {name}: means and {PROB:.0%} intervals on the range of each element.",
        prefix,
        (2.6 * columns, 0.72 * rows),
        (rows, columns),
    )
    yield from _criticised(contents, name, prefix, properties)
    if len(contents.detailed) <= _DIAGRAMS:
        about = f"The layout with the values of {name}, and means, minima and maxima over items."
        yield Section(
            "Diagram", [Picture(about, _diagram(contents, name, prefix, about))], folded=True
        )
    if contents.forecast is not None and name in contents.forecast.data["subject"]:
        yield forecasts_of(contents, contents.forecast, name)
    for explanation in contents.explanations:
        if explanation.subject == name:
            yield Section(f"Why: {explanation.item}", [list(explanation.sentences)])
    chosen = contents.next_items[contents.next_items["subject"] == name]
    if len(chosen):
        yield _next(chosen.to_dict("records"))


def _rows(contents: Contents, name: str, axes: np.ndarray) -> None:
    """Draw each element of a subject on a panel of its table, without the subject's name."""
    count = len(contents.fit.elements)
    plots.profile_forest(contents.fit, subjects=[name], prob=PROB, ax=axes[:count])
    for panel in axes[:count]:
        panel.set_yticks([])
    for panel in axes[count:]:
        panel.set_visible(False)


def _diagram(contents: Contents, name: str, prefix: str, about: str) -> Callable[[], str]:
    drawn = partial(subject_diagram, contents.fit, contents.profiles, name, None, PROB)
    return lambda: inline(drawn().to_svg(), about, prefix, themed=False)


def _profile(contents: Contents, name: str) -> Table:
    rows = []
    table = contents.profiles[contents.profiles["subject"] == name]
    for element, row in zip(contents.fit.elements, table.to_dict("records"), strict=True):
        learnt = f"{max(0.0, row['shrinkage']):.0%}"
        ess = fixed(min(row["ess_bulk"], row["ess_tail"]), 0)
        cell = element_cell(row)
        about = element.latent.about
        rows.append([element.name, cell, learnt, fixed(row["rhat"], 3), ess, about])
    head = ["Element", f"Mean, {PROB:.0%} interval", "Learnt", "R-hat", "ESS", "About"]
    caption = "Learnt is the share of the prior's variance that the outcomes removed."
    return Table(caption, head, rows)


def _properties(contents: Contents) -> list[str]:
    """List the properties of the items that the layout reads, in its order."""
    return [name for node in contents.fit.layout.meta_features for name in node.columns]


def _criticised(
    contents: Contents, name: str, prefix: str, properties: list[str]
) -> Iterator[Part]:
    """Draw success over the first properties, flagged ones first, and tabulate the criticism."""
    criticism = contents.criticism
    if criticism is None:
        return
    table = criticism.table[criticism.table["subject"] == name]
    flagged = table.loc[table["flagged"], "property"]
    for number, column in enumerate(list(dict.fromkeys([*flagged, *properties]))[:_PROPERTIES]):
        yield picture(
            partial(_over, criticism, name, column),
            f"{name}: success over {column}, observed (points) and expected (bars).",
            f"{prefix}{number}-",
            (4.2, 2.6),
        )
    for what, tests in (
        ("Pattern of outcomes", criticism.subjects),
        ("Repeated attempts", criticism.overdispersion),
    ):
        for row in tests[(tests["subject"] == name) & tests["p"].notna()].to_dict("records"):
            effect = with_interval(row["effect"], row["low"], row["high"])
            verdict = "flagged" if row["flagged"] else "no alarm"
            yield f"{what}: {verdict}, p {p_value(row['p_adjusted'])}, effect {effect}."
    if len(table):
        rows = [_candidate(row) for row in table.head(_CANDIDATES).to_dict("records")]
        head = ["Property", "Kind", "Level", "Observed", "Expected", "Gain in elpd", "p", "Verdict"]
        caption = (
            "Properties that the layout does not use (candidates), and other forms for those it "
            "uses, at the level where outcomes are farthest from what it expects; flagged: p at "
            f"most {criticism.alpha}, adjusted"
        )
        yield Table(caption, head, rows)


def _over(criticism: Any, name: str, column: str, axes: np.ndarray) -> None:
    plots.residual_plot(criticism, name, column, ax=axes[0])
    axes[0].set_title("")


def _candidate(row: Mapping[Hashable, Any]) -> list[str]:
    first = [str(row["property"]), str(row["kind"])]
    if row["remark"]:
        return [*first, *["–"] * 5, str(row["remark"])]
    return [
        *first,
        str(row["level"]),
        fixed(row["observed"], 2),
        fixed(row["expected"], 2),
        with_error(row["gain"], row["gain_se"], 1),
        p_value(row["p_adjusted"]),
        "flagged" if row["flagged"] else "no alarm",
    ]


def _next(rows: list[dict[Hashable, Any]]) -> Table:
    caption = (
        "What to ask next: the items of the bank that would narrow this profile most, each chosen "
        "for what it adds to the items before it"
    )
    cells = [
        [
            str(row["item"]),
            f"{row['chance']:.0%}",
            f"{row['node']}, by {row['narrower']:.1%} of its standard deviation",
        ]
        for row in rows
    ]
    return Table(caption, ["Item", "Success", "Narrows most, on its table"], cells)
