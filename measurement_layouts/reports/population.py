"""Tables of the values that subjects share and of the items' effects, as texts."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..common.digits import fixed, in_brackets, significant
from ..common.errors import FitError
from ..inference.population.tables import items, population
from ..layouts.plates import plate_name
from ..linking import units
from ..validation.criticism.explained import explained, in_words
from .contents import PROB, Contents


@dataclass(frozen=True, eq=False)
class Effects:
    """A table of a report.

    Attributes
    ----------
    title, about : str
        Heading of the table, and what the table shows.
    head : list of str
        Names of the columns; the first `names` columns contain texts.
    names : int
        Number of columns that contain texts.
    rows : list of list of str
        Cells, by row.
    """

    title: str
    about: str
    head: list[str]
    names: int
    rows: list[list[str]]


def effects(contents: Contents) -> list[Effects]:
    """Tabulate shared values and items' effects; there are none if subjects are fitted alone."""
    fit = contents.fit
    if not fit.layout.joint:
        return []
    shared, own = population(fit, prob=PROB), items(fit, prob=PROB)
    plates = dict.fromkeys(plate_name(plate) for plate in fit.layout.plates)
    found = []
    if len(shared):
        about = (
            "Values that subjects share: means, weights, spreads and effects of groups. Learnt is "
        )
        about += "the share of the prior's variance that the outcomes removed."
        learnt = [f"{max(0.0, value):.0%}" for value in shared["shrinkage"]]
        counts = {"Learnt": learnt}
        found.append(_table(contents, "Population", about, shared, ["level"], counts))
    if len(own):
        about = "Effects of items or of their categories, the largest first."
        about += _explained(contents)
        order = own.assign(size=own["mean"]).sort_values(
            ["node", "size"], ascending=[True, False], kind="stable"
        )
        counts = {name.title(): order[name].map(str).tolist() for name in ("trials", "subjects")}
        columns = [name for name in plates if name in own]
        found.append(_table(contents, "Items", about, order, columns, counts))
    return found


def _explained(contents: Contents) -> str:
    """Write how much of the items' difficulty the demands explain; empty if that is unknown."""
    if not contents.fit.layout.meta_features:
        return ""
    try:
        return f" {in_words(explained(contents.fit, prob=PROB), PROB)}"
    except FitError:  # no own effects, a single item, or a prior without quantiles
        return ""


def _table(
    contents: Contents,
    title: str,
    about: str,
    table: pd.DataFrame,
    levels: list[str],
    counts: Mapping[str, list[str]],
) -> Effects:
    """Write the numbers of a table."""
    kept = [name for name in levels if (table[name] != "").any()]
    rows = []
    for place, row in enumerate(table.to_dict("records")):
        numbers = _numbers(row)
        more = [own[place] for own in counts.values()]
        named = [_name(contents, row), *(str(row[name]) for name in kept)]
        rows.append([*named, *numbers, *more])
    head = ["Node", *(name.title() if name == "level" else name for name in kept)]
    measures = ["Mean", f"{PROB:.0%} interval", "R-hat", "ESS", *counts]
    return Effects(title, about, [*head, *measures], len(head), rows)


def _name(contents: Contents, row: Mapping[Hashable, Any]) -> str:
    """Write a node's name with its label and unit."""
    node = contents.fit.layout.nodes[row["node"]]
    label = f"[{row['label']}]" if row["label"] else ""
    unit = units.name(node.unit)
    return f"{row['node']}{label}" + (f" ({unit})" if unit else "")


def _numbers(row: Mapping[Hashable, Any]) -> list[str]:
    """Write mean, interval, R-hat and effective sample size."""
    ess = min(row["ess_bulk"], row["ess_tail"])
    low, high = row["low"], row["high"]
    mean = significant(row["mean"], high - low)
    return [mean, in_brackets(low, high), fixed(row["rhat"], 3), fixed(ess, 0)]
