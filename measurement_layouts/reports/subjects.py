"""Sections of a report about single subjects."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..common.digits import fixed, in_brackets, p_value, with_error, with_interval
from ..inference.explanations.explanation import Explanation
from .bars import Bar
from .contents import PROB, Contents
from .curves import Curve
from .diagrams import inline_svg, subject_diagram
from .drawings import CurveDrawing, curve_drawing
from .new_items import Line, NewItems

_CURVES = 3000  # on a page, in total
_LEAST_CURVES = 4
_CANDIDATES = 6
_DIAGRAMS = 8  # most subjects whose sections each have a diagram of the layout with their values


@dataclass(frozen=True, eq=False)
class SubjectPage:
    """One subject's section of the page.

    Attributes
    ----------
    name, id, status, reason, told : str
        Name of the subject, identifier of the section, status of the sampling with its reason, and
        the diagnosis in words.
    bars : list of Bar
        Elements of the profile.
    diagram : str
        The layout with the subject's values, as SVG; empty if there are many subjects.
    curves : dict of str to list of CurveDrawing
        Curves by outcome. Of many curves, those over which the forecast changes most.
    left_out : int
        Number of curves that are not shown.
    criticised : list of dict
        Properties tested by the criticism.
    repeated : dict of str to str
        The criticism's test of repeated attempts; empty if there are none.
    pattern : dict of str to str
        The criticism's test of the pattern of outcomes; empty if there is none.
    forecasts : list of Line
        Forecasts of new items.
    next_items : list of list of str
        Items to ask next: item, probability of success, and the element that it narrows most.
    explanations : list of Explanation
        Explanations of this subject's forecasts.
    facts : dict of str to str
        Convergence of the sampling.
    """

    name: str
    id: str
    status: str
    reason: str
    told: str
    bars: list[Bar]
    diagram: str
    curves: dict[str, list[CurveDrawing]]
    left_out: int
    criticised: list[dict[str, str]]
    repeated: dict[str, str]
    pattern: dict[str, str]
    forecasts: list[Line]
    next_items: list[list[str]]
    explanations: list[Explanation]
    facts: dict[str, str]


def ids(contents: Contents) -> dict[str, str]:
    """Give each section an identifier by number; a name may not be a valid identifier."""
    return {who: f"subject-{at}" for at, who in enumerate(contents.detailed, 1)}


def subject_pages(
    contents: Contents,
    found: dict[str, list[Bar]],
    curves: Mapping[str, list[Curve]],
    new: NewItems | None,
) -> Iterator[SubjectPage]:
    """Make the sections of the subjects one after the other, failed subjects last."""
    places = ids(contents)
    most = max(_LEAST_CURVES, _CURVES // max(1, len(places)))
    verdicts = contents.verdicts.to_dict("index")
    drawable = len(places) <= _DIAGRAMS
    for name in contents.detailed:
        verdict = verdicts[name]
        fitted = verdict["status"] != "failed"
        drawn = curves.get(name, [])
        largest = sorted(drawn, key=lambda curve: -curve.sway)[:most]
        shown = dict[str, list[CurveDrawing]]()
        for curve in drawn:
            if curve in largest:
                drawing = curve_drawing(curve, len(contents.outcomes) > 1)
                shown.setdefault(curve.outcome.name, []).append(drawing)
        yield SubjectPage(
            name=name,
            id=places[name],
            status=str(verdict["status"]),
            reason=str(verdict["reason"]),
            told=str(contents.told.texts[name]),
            bars=found.get(name, []),
            diagram=_diagram(contents, name, places[name]) if fitted and drawable else "",
            curves=shown,
            left_out=len(drawn) - len(largest),
            criticised=_criticised(contents, name),
            repeated=_repeated(contents, name),
            pattern=_pattern(contents, name),
            forecasts=new.of(name) if new is not None else [],
            next_items=next_rows(contents, name),
            explanations=[one for one in contents.explanations if one.subject == name],
            facts=_facts(verdict) if fitted else {},
        )


def _diagram(contents: Contents, name: str, place: str) -> str:
    """Draw the layout with a subject's posterior."""
    drawn = subject_diagram(contents.fit, contents.profiles, name, None, PROB)
    return inline_svg(contents.fit.layout, drawn.to_svg(), f"{place}-")


def next_rows(contents: Contents, name: str) -> list[list[str]]:
    """Write the items that would narrow a subject's profile most."""
    table = contents.next_items
    return [
        [
            str(row["item"]),
            f"{row['chance']:.0%}",
            f"{row['node']}, by {row['narrower']:.1%} of its standard deviation",
        ]
        for row in table[table["subject"] == name].to_dict("records")
    ]


def _facts(verdict: Mapping[Hashable, Any]) -> dict[str, str]:
    return {
        "Status": str(verdict["status"]),
        "Largest R-hat": fixed(float(verdict["rhat"]), 3),
        "Smallest effective sample size": fixed(float(verdict["ess"]), 0),
        "Divergences": str(int(verdict["divergences"])),
        "Attempts": str(int(verdict["attempts"])),
        "Prior-dominated": str(verdict["prior_dominated"]) or "nothing",
        "Remarks": str(verdict["reason"]) or "none",
    }


def _criticised(contents: Contents, name: str) -> list[dict[str, str]]:
    if contents.criticism is None:
        return []
    table = contents.criticism.table
    own = table[table["subject"] == name].head(_CANDIDATES)
    return [_candidate(row) for row in own.to_dict("records")]


def _repeated(contents: Contents, name: str) -> dict[str, str]:
    if contents.criticism is None:
        return {}
    table = contents.criticism.overdispersion
    rows = table[(table["subject"] == name) & table["p"].notna()].to_dict("records")
    if not rows:
        return {}
    return {name: str(rows[0][name]) for name in ("items", "attempts")} | _verdict(rows[0])


def _pattern(contents: Contents, name: str) -> dict[str, str]:
    if contents.criticism is None:
        return {}
    table = contents.criticism.subjects
    rows = table[(table["subject"] == name) & table["p"].notna()].to_dict("records")
    return _verdict(rows[0]) if rows else {}


def _verdict(row: dict[Hashable, Any]) -> dict[str, str]:
    """Write an effect, its p value and whether it is flagged."""
    return {
        "effect": with_interval(row["effect"], row["low"], row["high"]),
        "p": p_value(row["p_adjusted"]),
        "verdict": "flagged" if row["flagged"] else "no alarm",
    }


def _candidate(row: dict[Hashable, Any]) -> dict[str, str]:
    named = {"property": str(row["property"]), "kind": str(row["kind"])}
    if row["remark"]:
        return named | {"verdict": str(row["remark"])}
    return named | {
        "level": str(row["level"]),
        "observed": fixed(row["observed"], 2),
        "expected": fixed(row["expected"], 2),
        "interval": in_brackets(row["low"], row["high"]),
        "gain": with_error(row["gain"], row["gain_se"], 1),
        "p": p_value(row["p_adjusted"]),
        "verdict": "flagged" if row["flagged"] else "no alarm",
    }
