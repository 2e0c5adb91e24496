"""A layout's diagram with one subject's posterior on its nodes."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..common.digits import short, significant, with_interval
from ..common.errors import DataError
from ..evaluations.tables import named
from ..inference.fit import Fit
from ..inference.forecasts.streaming import every_draw, gathered
from ..inference.forecasts.summarising import SUMMARY, summarise
from ..inference.forecasts.training import features_of_items, names_of_items
from ..inference.given import refuse_no_fit
from ..inference.posterior.cohort import levels_of_items
from ..layouts import Layout
from ..layouts.drawing import graphviz as render
from ..layouts.drawing import mermaid
from ..layouts.graph import Graph
from ..linking import units
from .outcomes import outcome_table

_MOST_LINES = 6  # of one node
_MEMORY_MIB = 64.0


@dataclass(frozen=True, eq=False)
class InferredDiagram:
    """Diagram of a layout with one subject's posterior, as lines of text below the nodes.

    A notebook shows it as a picture.

    Attributes
    ----------
    layout : Layout
        The layout.
    subject : str
        The subject.
    values : dict of str to tuple of str
        Lines of text by node.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> InferredDiagram(coin, "Ann", {"p": ("0.5 [0.2, 0.8]",)})
    <InferredDiagram of 'coin' for Ann>
    """

    layout: Layout
    subject: str
    values: dict[str, tuple[str, ...]]

    @property
    def titled(self) -> Graph:
        """The layout, with a title that names the subject."""
        return Graph(f"{self.layout.name}: {self.subject}", self.layout.outcomes)

    def draw(self, path: str | Path) -> Path:
        """Draw the diagram into a file, whose ending determines the format (svg, png or pdf).

        Raises
        ------
        LayoutError
            When the file has another ending, or its folder does not exist.
        """
        return render.draw(self.titled, Path(path), self.values)

    def to_graphviz(self) -> str:
        """Write the diagram in Graphviz's language."""
        return render.to_graphviz(self.titled, self.values)

    def to_mermaid(self) -> str:
        """Write the diagram in Mermaid's language, for Markdown pages."""
        return mermaid.to_mermaid(self.titled, self.values)

    def to_svg(self) -> str:
        """Draw the diagram as SVG."""
        return render.to_svg(self.titled, self.values)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"<InferredDiagram of {self.layout.name!r} for {self.subject}>"


def inferred_diagram(
    fit: Fit, subject: object, item: pd.DataFrame | None = None, *, prob: float = 0.9
) -> InferredDiagram:
    """Draw a layout with a subject's posterior on its nodes.

    - A latent node shows its posterior mean and interval.
    - Without an item, a derived node or outcome shows the mean of its posterior means over the
      items of the fit, and the smallest and the largest of them. An outcome also shows what was
      observed.
    - With an item, attempted or not, a meta-feature shows its value on the item, and a derived node
      or outcome its posterior mean and interval. An outcome that was attempted also shows what was
      observed.

    Parameters
    ----------
    fit : Fit
        The fit.
    subject : object
        Name of the subject.
    item : DataFrame, optional
        One row, indexed by the item's name, with the columns that the layout needs.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.

    Returns
    -------
    InferredDiagram
        The diagram, which can be shown, drawn into a file, or written for Graphviz or Mermaid.

    Raises
    ------
    DataError
        When `item` has another number of rows than one, or does not fit the layout.
    FitError
        When `fit` is something else, the subject is not in the fit, or `prob` is not between 0 and
        1.

    References
    ----------
    Burden et al. (2023), Figure 2: inference from tasks to the profile, and from it to a new task.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> shown = inferred_diagram(result, "sim-01", cohort.evaluation.items.head(1))
    >>> shown
    <InferredDiagram of 'animal-ai-olympics' for sim-01>
    >>> sorted(shown.values)[:4]
    ['XPos', 'navigationAbility', 'navigationPerformance', 'noiseLevel']
    """
    refuse_no_fit(fit)
    (who,) = fit.names(fit.places([subject]))
    if item is not None and len(item) != 1:
        raise DataError(
            f"item has {len(item)} rows, and a diagram shows one item; give one row, such as "
            "items.loc[['name']], or leave it out for the average over the items of the fit"
        )
    return subject_diagram(fit, fit.profiles(prob=prob), who, item, prob)


def subject_diagram(
    fit: Fit, profiles: pd.DataFrame, who: str, item: pd.DataFrame | None, prob: float
) -> InferredDiagram:
    """Draw a subject's diagram, given the table of profiles; see `inferred_diagram`."""
    (row,) = fit.places([who])
    profile = profiles[profiles["subject"] == who]
    lines: dict[str, list[str]] = {
        str(name): list(_latent(rows)) for name, rows in profile.groupby("node", sort=False)
    }
    if fit.layout.joint:
        lines |= _shared(fit, item, prob)
    if item is None:
        lines |= _over_items(fit, row)
    else:
        lines |= _on_item(fit, who, item, prob)
    for name, observed in _observed(fit, who, item).items():
        lines[name].append(observed)
    shown = {name: tuple(_few(texts)) for name, texts in lines.items() if texts}
    return InferredDiagram(fit.layout, who, shown)


def _few(lines: list[str]) -> list[str]:
    """Keep the first lines if there are many, and count the others."""
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], f"and {len(lines) - _MOST_LINES + 1} more"]


def _latent(rows: pd.DataFrame) -> Iterator[str]:
    """Write mean and interval of a node's labels."""
    for row in rows.to_dict("records"):
        label = f"{row['label']} " if row["label"] else ""
        yield f"{label}{with_interval(row['mean'], row['low'], row['high'])}"
        if row.get("prior_dominated"):
            yield "(prior-dominated)"


def _shared(fit: Fit, item: pd.DataFrame | None, prob: float) -> dict[str, list[str]]:
    """Write shared values: one value, or the smallest and the largest of many levels."""
    lines_of = {}
    for table in (fit.population(prob=prob), fit.items(prob=prob)):
        if item is not None and "item" in table:
            table = table[table["item"].isna() | table["item"].isin([str(item.index[0])])]
        for name, rows in table.groupby("node", sort=False):
            single = not rows.duplicated("label").any()
            lines_of[str(name)] = (
                list(_latent(rows)) if single else [_spread(rows["mean"], "levels")]
            )
    return lines_of


def _spread(means: pd.Series, what: str) -> str:
    low, high = short(float(means.min())), short(float(means.max()))
    return f"{low} to {high} over {len(means)} {what}"


def _over_items(fit: Fit, row: int) -> dict[str, list[str]]:
    """Write means of derived nodes and outcomes over the items of the fit."""
    layout, count = fit.layout, len(names_of_items(fit))
    features = features_of_items(fit) | levels_of_items(fit)
    lines_of = {}
    for node in (*layout.derived, *layout.outcomes):
        draws = gathered(every_draw(fit, row, features, count, node, memory_mib=_MEMORY_MIB))
        mean = draws.mean(axis=-1)
        ends = f"{significant(mean.min())} to {significant(mean.max())}"
        lines_of[node.name] = [f"{significant(mean.mean())} over items ({ends})"]
    return lines_of


def _on_item(fit: Fit, who: str, item: pd.DataFrame, prob: float) -> dict[str, list[str]]:
    """Write an item's meta-features, and derived nodes and outcomes on it."""
    layout, (values,) = fit.layout, named(item, "items", "item").to_dict("records")
    lines_of: dict[str, list[str]] = {}
    for feature in layout.meta_features:
        unit = units.name(feature.unit)
        lines_of[feature.name] = [
            f"{label} {_number(values[column])} {unit}".strip()
            for label, column in zip(feature.labels or ("",), feature.columns, strict=True)
        ]
    for node in (*layout.derived, *layout.outcomes):
        table = summarise(fit.derive(node.name, item, subjects=[who]), prob=prob)
        labels = itertools.product(*node.dims.values())
        lines_of[node.name] = [
            f"{' '.join(label)} {with_interval(*row)}".strip()
            for label, row in zip(labels, table[list(SUMMARY)].to_numpy(), strict=True)
        ]
    return lines_of


def _number(value: object) -> str:
    """Write a value of an item; a missing value is undefined."""
    return "undefined" if pd.isna(value) else short(float(value))  # type: ignore[arg-type,call-overload]


def _observed(fit: Fit, who: str, item: pd.DataFrame | None) -> dict[str, str]:
    """Write a subject's observed outcomes on all items, or on one."""
    row = int(fit.places([who])[0])
    cells = fit.coded.take(np.r_[fit.coded.of_subject(row)])
    table = outcome_table(fit.layout, cells, pd.Index(fit.subjects), fit.item_names)
    if item is not None:
        table = table[table["item"] == str(item.index[0])]
    sums = table.groupby("outcome")[["gained", "attempts"]].sum()
    return {
        str(name): f"observed {short(float(gained))} of {attempts:.0f}"
        for name, gained, attempts in sums.itertuples()
    }
