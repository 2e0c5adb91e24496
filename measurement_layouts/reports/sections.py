"""The sections of a report, which are the same in HTML and in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import plots
from ..common.digits import chance, fixed, in_brackets, short, significant
from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..inference.fit import Fit
from ..inference.forecasts.training import defined_columns, features_of_items, names_of_items
from ..inference.population.item_places import item_places
from ..inference.population.standing import populated
from ..inference.population.tables import items, population
from ..layouts import Graded, MetaFeature
from ..layouts.plates import plate_name
from ..linking import units
from ..validation.comparing.compare import compare
from ..validation.criticism.explained import explained, in_words
from .contents import PROB, Contents
from .forecasts import forecast_parts
from .parts import Part, Picture, Section, Table
from .pictures import inline, picture
from .subjects import anchors, element_cell, subject_sections
from .summary import findings

_KINDS = ("capability", "propensity", "bias", "effect", "slope", "noise")
_DRAWN = 100  # most subjects in a figure
_ROW, _AROUND = 0.17, 1.0  # height of a row of a figure and of what is around the rows, in inches


def sections(contents: Contents) -> Iterator[Section]:
    """Write a report, section by section; those without contents are left out."""
    fit = contents.fit
    yield _start(contents)
    if fit.subjects:
        yield Section("Findings", list(findings(contents)), "findings")
    if len(fit.subjects) > 1:
        yield Section("Who is ahead", list(_ahead(contents)), "ahead")
    yield Section("Profiles", list(_profiles(contents)), "profiles")
    if fit.layout.joint:
        yield Section("What is shared", list(_shared(contents)), "population")
    yield Section("What the layout may miss", list(_missed(contents)), "criticism")
    if contents.forecast is not None:
        yield Section("Forecasts", list(forecast_parts(contents, contents.forecast)), "forecasts")
    yield Section("Subjects", list(_subjects(contents)), "subjects")
    yield Section("Outcomes, and what was not graded", list(_outcomes(contents)), "outcomes")
    yield Section("Sampling", [_sampling(contents)], "sampling")
    diagram = Picture(
        f"Diagram of the layout {fit.layout.name}.",
        lambda: inline(fit.layout._repr_svg_(), _edges(fit), "layout-", themed=False),
        fit.layout.to_mermaid(),
    )
    yield Section("The layout and its items", [diagram, _features(fit)], "layout")
    yield Section("How to read this", [_guide(contents)], "reading")


def _start(contents: Contents) -> Section:
    status = contents.status.value_counts()
    facts = {
        "Subjects": str(len(contents.status)),
        "Items": str(len(contents.items)),
        "Attempts" if contents.stepped else "Trials": str(contents.outcomes["attempts"].sum()),
    }
    facts |= {
        "Converged" if name == "ok" else str(name).capitalize(): str(count)
        for name, count in status.items()
    }
    method = f"Sampler: {contents.sampler}. All intervals have a probability of {PROB:.0%}."
    return Section(str(contents.title), [contents.measured, facts, method], "summary")


def _ahead(contents: Contents) -> Iterator[Part]:
    """Compare success on the items; of many subjects, that of the most successful ones."""
    fit, names = contents.fit, contents.rates.sort_values(ascending=False, kind="stable").index
    leading = [str(name) for name in names[:_DRAWN]]
    try:
        comparison = compare(fit, subjects=leading)
    except (DataError, FitError) as error:
        yield f"Subjects were not compared: {error}."
        return
    if len(leading) < len(names):
        yield f"The {_DRAWN} subjects with the highest success rates are compared."
    yield comparison.sentences[0]
    ranking = comparison.ranking[comparison.ranking["reading"] == comparison.readings[0]]
    rows = [
        [
            row["subject"],
            fixed(row["mean"], 2),
            "–".join(dict.fromkeys(fixed(row[end], 0) for end in ("rank_low", "rank_high"))),
            chance(row["best"], 0),
            "tied with the first" * bool(row["tied"] and len(comparison.tied) > 1),
        ]
        for row in ranking.to_dict("records")
    ]
    head = ["Subject", "Mean success", "Rank", "First, probability", "Remark"]
    caption = f"Expected success on the items of the fit, with {PROB:.0%} intervals of ranks"
    yield Table(caption, head, rows, anchors(contents))
    yield picture(
        lambda axes: plots.comparison_plot(comparison, ax=axes[0]),
        f"How far each subject is behind {ranking['subject'].iloc[0]}.",
        "ahead-",
        (6.4, len(leading) * (0.2 if len(leading) > 20 else 0.38) + 1.2),
    )


def _profiles(contents: Contents) -> Iterator[Part]:
    elements = contents.fit.elements
    yield (
        f"Posterior mean and {PROB:.0%} interval. *: the outcomes do not determine the value, or "
        "bound it on one side only. ‡: the posterior has separate modes, between which the mean "
        "may lie. †: the sampling did not converge, and the numbers are not reliable."
    )
    cells: dict[str, list[str]] = {}
    for row in contents.profiles.to_dict("records"):
        cells.setdefault(str(row["subject"]), []).append(element_cell(row))
    rows = [
        [
            f"{name} †" if status == "not converged" else str(name),
            str(status),
            fixed(float(contents.rates.get(name, np.nan)), 2),
            *cells.get(str(name), ["–"] * len(elements)),
        ]
        for name, status in contents.status.items()
    ]
    rate = "Mean outcome" if contents.stepped else "Success"
    head = ["Subject", "Status", rate, *(with_unit(e.name, e.latent.unit) for e in elements)]
    links = {
        f"{name}{sign}": anchor for name, anchor in anchors(contents).items() for sign in ("", " †")
    }
    yield Table("Profiles of all subjects", head, rows, links)
    who = contents.spaced(_DRAWN)
    if len(who) < len(contents.fit.subjects):
        yield f"Drawn are {len(who)} subjects, evenly spaced from the most successful to the least."
    drawn = f"{many(len(who), 'subject')}, the most successful at the top; hollow: see *."
    size = 3.6, len(who) * _ROW + _AROUND
    for number, element in enumerate(elements):
        yield picture(
            partial(_forest, plots.profile_forest, contents.fit, element.name, who),
            f"{element.name} of {drawn}",
            f"overview-{number}-",
            size,
        )


def _shared(contents: Contents) -> Iterator[Part]:
    """Tabulate shared values and effects of items, and draw profiles beside their population."""
    fit = contents.fit
    yield (
        "Subjects were fitted together, so that a profile depends on the outcomes of the other "
        "subjects too: the less its own outcomes determine a value, the more."
    )
    shared, effects = population(fit, prob=PROB), items(fit, prob=PROB)
    if len(shared):
        caption = (
            "Values that subjects share: means, weights, spreads and effects of groups. Learnt is "
            "the share of the prior's variance that the outcomes removed."
        )
        learnt = [f"{max(0.0, value):.0%}" for value in shared["shrinkage"]]
        yield _effects(fit, caption, shared, ["level"], {"Learnt": learnt})
    if len(effects):
        plates = [plate_name(plate) for plate in fit.layout.plates]
        order = effects.sort_values(["node", "mean"], ascending=[True, False], kind="stable")
        counts = {name.title(): order[name].map(str).tolist() for name in ("trials", "subjects")}
        levels = [name for name in dict.fromkeys(plates) if name in order]
        yield _effects(fit, "Effects of items, the largest first", order, levels, counts)
    if fit.layout.meta_features:
        with suppress(FitError):  # no own effects, a single item, or a prior without quantiles
            yield in_words(explained(fit, prob=PROB), PROB)
    who, elements = contents.spaced(_DRAWN), populated(fit.layout, levels=fit.levels)
    for number, element in enumerate(elements):
        yield picture(
            partial(_forest, plots.population_forest, fit, element.name, who),
            f"{element.name} of {many(len(who), 'subject')} beside what their population predicts.",
            f"population-{number}-",
            (4.2, len(who) * _ROW + _AROUND),
        )
    for number, element in enumerate(fit.elements):
        if element.latent.kind == "capability" and _placed(fit, element.name):
            yield picture(
                partial(_wright_map, fit, element.name),
                f"Subjects and items on the scale of {element.name}.",
                f"wright-{number}-",
                (7.0, 4.0),
                (1, 2),
            )


def _forest(figure: Any, fit: Fit, name: str, subjects: list[str], axes: np.ndarray) -> None:
    figure(fit, nodes=[name], subjects=subjects, prob=PROB, ax=axes)


def _wright_map(fit: Fit, name: str, axes: np.ndarray) -> None:
    plots.wright_map(fit, nodes=[name], ax=axes)


def _placed(fit: Fit, name: str) -> bool:
    """Whether items have places on the scale of a capability."""
    try:
        item_places(fit, name)
    except (FitError, DataError):
        return False
    return True


def _effects(
    fit: Fit,
    caption: str,
    table: pd.DataFrame,
    levels: Sequence[str],
    counts: Mapping[str, list[str]],
) -> Table:
    """Tabulate means and intervals, with their convergence."""
    used = [name for name in levels if (table[name] != "").any()]
    rows = [
        [
            with_unit(
                f"{row['node']}[{row['label']}]" if row["label"] else row["node"],
                fit.layout.nodes[row["node"]].unit,
            ),
            *(str(row[name]) for name in used),
            significant(row["mean"], row["high"] - row["low"]),
            in_brackets(row["low"], row["high"]),
            fixed(row["rhat"], 3),
            fixed(min(row["ess_bulk"], row["ess_tail"]), 0),
            *(column[place] for column in counts.values()),
        ]
        for place, row in enumerate(table.to_dict("records"))
    ]
    head = ["Node", *used, "Mean", f"{PROB:.0%} interval", "R-hat", "ESS", *counts]
    return Table(caption, head, rows)


def _missed(contents: Contents) -> Iterator[Part]:
    criticism = contents.criticism
    if criticism is None:
        yield contents.uncriticised
        return
    yield [f"{one}." for one in criticism.suggestions()] or "Nothing was flagged."
    if untried := criticism.untried():
        yield f"{untried[0].upper()}{untried[1:]}."


def _subjects(contents: Contents) -> Iterator[Part]:
    count, every = len(contents.detailed), len(contents.status)
    if count < every:
        how = "" if contents.asked else ", evenly spaced from the most successful to the least"
        yield (
            f"{count} of the {every} subjects have a section here{how}; all are in the table of "
            "profiles. To choose other subjects: report(fit, path, detailed=[...])."
        )
    yield from subject_sections(contents)


def _outcomes(contents: Contents) -> Iterator[Part]:
    """Tabulate outcomes by subject, with what is missing."""
    table, names = contents.outcomes, [node.name for node in contents.fit.layout.outcomes]
    subjects, items = table.groupby("subject", sort=False), len(contents.items)
    tried = subjects["item"].nunique()
    pairs, missing = len(tried) * items, len(tried) * items - int(tried.sum())
    yield (
        f"Of {pairs} pairs of a subject and an item, {missing} have no outcome"
        + ": not attempted or not graded, they count neither as failed nor as solved."
        * bool(missing)
        + "." * (not missing)
    )
    evaluation = contents.evaluation
    ungraded = evaluation is not None and bool(len(evaluation.ungraded_cells))
    bounds = evaluation.success_bounds() if evaluation is not None and ungraded else None
    if bounds is not None:
        yield (
            f"{many(int(bounds['ungraded'].sum()), 'attempt')} had no grade, such as those that "
            "ended in an error or a time-out: the bounds are the rates if all of them had failed, "
            "and if all had succeeded."
        )
    counts = zip(tried, subjects["attempts"].sum(), items - tried, strict=True)
    sums = table.pivot_table(["gained", "attempts"], "subject", "outcome", "sum", sort=False)
    means = (sums["gained"] / sums["attempts"])[names].map(lambda mean: fixed(mean, 2))
    rows = [
        [str(name), *map(str, numbers), *means.loc[name]]
        for name, numbers in zip(tried.index, counts, strict=True)
    ]
    head = ["Subject", "Items", "Attempts", "Without outcome", *names]
    if bounds is not None:
        head += ["Not graded", "Bounds"]
        for row in rows:
            of_subject = bounds.loc[row[0]]
            ends = "–".join(fixed(of_subject[end], 2) for end in ("low", "high"))
            row += [str(int(of_subject["ungraded"])), ends]
    about = "; ".join(f"{node.name}: {_mean_of(node)}" for node in contents.fit.layout.outcomes)
    yield Table(f"Outcomes by subject. {about}", head, rows, anchors(contents))


def _mean_of(node: Any) -> str:
    if isinstance(node, Graded):
        return f"mean grade, from {node.grades[0]} (0) to {node.grades[-1]} (1)"
    return "success rate" if len(node.steps) == 1 else "mean score"


def _sampling(contents: Contents) -> Table:
    measures = (("rhat", 3), ("ess", 0), ("divergences", 0))
    rows = [
        [
            str(name),
            row["status"],
            *(fixed(float(row[m]), digits) for m, digits in measures),
            row["reason"],
        ]
        for name, row in contents.diagnostics.iterrows()
    ]
    head = ["Subject", "Status", "R-hat", "ESS", "Divergences", "Remarks"]
    return Table("Convergence of the sampling", head, rows)


def item_features(fit: Fit) -> pd.DataFrame:
    """Tabulate what the layout reads of the items; NaN where a property is undefined."""
    names, nodes = names_of_items(fit), fit.layout.properties
    values = defined_columns(fit.layout, features_of_items(fit), len(names))
    return pd.DataFrame(values, names, [name for node in nodes for name in node.columns])


def _features(fit: Fit) -> Table:
    rows, table = [], item_features(fit)
    for node in fit.layout.properties:
        for name in node.columns:
            seen = table[name][np.isfinite(table[name])]
            between = f"{short(seen.min())} to {short(seen.max())}" if len(seen) else "–"
            declared = f"{short(node.range.low)} to {short(node.range.high)}"
            levels = node.levels if isinstance(node, MetaFeature) else None
            if levels is not None:
                declared = some((short(level) for level in sorted(levels)), 7)
            rows.append(
                [name, units.name(node.unit) or "–", declared, between, str(len(seen)), node.about]
            )
    head = ["Property", "Unit", "Declared", "Seen", "Items", "About"]
    return Table("Properties of the items that the layout reads", head, rows)


def _edges(fit: Fit) -> str:
    """Describe a diagram: the parents of each node."""
    parents = [(name, list(fit.layout.graph.predecessors(name))) for name in fit.layout.nodes]
    listed = "; ".join(f"{name} from {', '.join(before)}" for name, before in parents if before)
    return f"diagram of the layout {fit.layout.name}: {listed}"


def _guide(contents: Contents) -> dict[str, str]:
    """Explain the kinds of values that the profile has, and what is the same in all reports."""
    lines = (Path(__file__).parent / "templates" / "guide.txt").read_text(encoding="utf-8")
    terms = dict(line.split(": ", 1) for line in lines.splitlines())
    absent = set(_KINDS) - {element.latent.kind for element in contents.fit.elements}
    values = {"prob": f"{PROB:.0%}", "legend": contents.description.legend}
    return {
        term: text.format(**values) for term, text in terms.items() if term.lower() not in absent
    }


def with_unit(name: str, unit: Any) -> str:
    """Write a name with its unit in brackets."""
    return f"{name} ({units.name(unit)})" if units.name(unit) else str(name)
