"""Transformations of a layout with its data that change no posterior, and broken ones that do."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers.random_layouts import rich_layout, survival

SUBJECT = "Ann"


@dataclass(frozen=True)
class Problem:
    """What a posterior follows from: a layout, and what a subject did on some items.

    Attributes
    ----------
    layout : Layout
        What joins items and profile.
    items : DataFrame
        A row per item: its meta-features, ``successes`` and ``trials``.
    subject : str
        Who.
    company : DataFrame
        Counts of successes of other subjects, one row each, out of the same trials.
    moved : callable
        From the original problem's unconstrained point to the same profile's point here.
    """

    layout: ml.Layout
    items: pd.DataFrame
    subject: str = SUBJECT
    company: pd.DataFrame | None = None
    moved: Callable[[np.ndarray], np.ndarray] = np.asarray

    @property
    def evaluation(self) -> ml.Evaluation:
        counts = ["successes", "trials"]
        mine, tried = (self.items[[name]].T.set_axis([self.subject]) for name in counts)
        if self.company is not None:
            others = self.company.set_axis(self.items.index, axis=1)
            mine = pd.concat([others, mine])
            tried = pd.concat([tried] * len(mine)).set_axis(mine.index)
        return ml.Evaluation(self.items.drop(columns=counts), mine, tried)


type Transformation = Callable[[Problem, np.random.Generator], Problem]


def random_problem(layout: ml.Layout, rng: np.random.Generator, items: int = 30) -> Problem:
    """Draw items that repeat some values, and counts; some items are not attempted."""
    columns = {}
    for feature in layout.meta_features:
        low = feature.range.low if np.isfinite(feature.range.low) else -5.0
        high = feature.range.high if np.isfinite(feature.range.high) else max(5.0, low + 3)
        for label in feature.labels or [""]:
            values = feature.levels or rng.uniform(low, high, rng.integers(3, 12))
            name = f"{feature.name}[{label}]" if label else feature.name
            columns[name] = rng.choice(values, items).astype(float)
    table = pd.DataFrame(columns, [f"item-{place:02d}" for place in range(items)])
    trials = rng.integers(0, 4, items)
    trials[0] = 3
    return Problem(layout, table.assign(successes=rng.binomial(trials, 0.6), trials=trials))


def rich_problem(rng: np.random.Generator) -> Problem:
    """Labels, a band, a hierarchical prior, a function of one's own, and the published pull."""
    problem = random_problem(rich_layout(), rng)
    ends = problem.items[["low_end", "high_end"]]
    sorted_ends = {"low_end": ends.min(axis=1), "high_end": ends.max(axis=1)}
    return replace(problem, items=problem.items.assign(**sorted_ends))


# --- of the items --------------------------------------------------------------------------------


def permuted_items(problem: Problem, rng: np.random.Generator) -> Problem:
    return replace(problem, items=problem.items.iloc[rng.permutation(len(problem.items))])


def renamed_items(problem: Problem, rng: np.random.Generator) -> Problem:
    names = [f"renamed {place}" for place in rng.permutation(len(problem.items))]
    return replace(problem, items=problem.items.set_axis(names))


def repeated_for_counts(problem: Problem, rng: np.random.Generator) -> Problem:
    """Each attempt becomes an item of its own."""
    rows = []
    for row in problem.items.to_dict("records"):
        trials, successes = row["trials"], row["successes"]
        outcomes = rng.permutation(np.arange(trials) < successes).astype(int)
        rows += [row | {"successes": outcome, "trials": 1} for outcome in outcomes]
        rows += [row] * (trials == 0)
    return replace(problem, items=_numbered(pd.DataFrame(rows)))


def split_trials(problem: Problem, rng: np.random.Generator) -> Problem:
    """Two items alike share the attempts of each."""
    first, second = problem.items.copy(), problem.items.copy()
    first["successes"] = rng.binomial(problem.items["successes"], 0.5)
    failures = problem.items["trials"] - problem.items["successes"]
    first["trials"] = first["successes"] + rng.binomial(failures, 0.5)
    for name in ("successes", "trials"):
        second[name] -= first[name]
    return replace(problem, items=_numbered(pd.concat([first, second])))


def added_item(problem: Problem, rng: np.random.Generator) -> Problem:
    """Nobody attempts it; its meta-features are a new mixture of those that there are."""
    new = problem.items.apply(lambda column: rng.choice(column)).to_frame().T
    new[["successes", "trials"]] = 0
    rows = pd.concat([problem.items, new.astype(problem.items.dtypes)])
    return replace(problem, items=_numbered(rows))


def _numbered(items: pd.DataFrame) -> pd.DataFrame:
    return items.set_axis([f"item-{place:03d}" for place in range(len(items))])


# --- of the frame and the subjects ---------------------------------------------------------------


def permuted_columns(problem: Problem, rng: np.random.Generator) -> Problem:
    return replace(problem, items=problem.items.iloc[:, rng.permutation(problem.items.shape[1])])


def added_column(problem: Problem, rng: np.random.Generator) -> Problem:
    unused = {"unused": rng.normal(size=len(problem.items)), "colour": "green"}
    return replace(problem, items=problem.items.assign(**unused))


def renamed_subject(problem: Problem, rng: np.random.Generator) -> Problem:
    return replace(problem, subject="Zoe")


def added_subjects(problem: Problem, rng: np.random.Generator) -> Problem:
    counts = rng.binomial(problem.items["trials"], 0.3, (2, len(problem.items)))
    return replace(problem, company=pd.DataFrame(counts, ["Bob", "Cyd"]))


# --- of the layout -------------------------------------------------------------------------------


def renamed_nodes(problem: Problem, rng: np.random.Generator) -> Problem:
    """New names, in another alphabetical order, for all nodes and their columns."""
    written = problem.layout.to_dict()
    old = [node["name"] for node in written["nodes"]]
    numbers = rng.permutation(len(old))
    new = {name: f"node {place:02d}" for name, place in zip(old, numbers, strict=True)}

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {"node"}:
                return {"node": new[value["node"]]}
            return {
                key: new[part] if key == "name" else rename(part) for key, part in value.items()
            }
        return [rename(part) for part in value] if isinstance(value, list) else value

    layout = _read(
        {
            **written,
            "outcomes": [new[name] for name in written["outcomes"]],
            "nodes": [rename(node) for node in written["nodes"]],
        }
    )
    columns = {
        column: column.replace(column.split("[")[0], new[column.split("[")[0]], 1)
        for column in problem.items.columns.drop(["successes", "trials"])
    }
    names = [new[latent.name] for latent in problem.layout.latents]
    moved = _by_latent(problem.layout, layout, names)
    return replace(problem, layout=layout, items=problem.items.rename(columns=columns), moved=moved)


def permuted_labels(problem: Problem, rng: np.random.Generator) -> Problem:
    """Another order of all labels, with the weights that belong to them."""
    written = copy.deepcopy(problem.layout.to_dict())
    labels = next((node["labels"] for node in written["nodes"] if "labels" in node), [])
    order = rng.permutation(len(labels))

    def permute(value: Any) -> None:
        if isinstance(value, dict):
            options = value.get("options", {})
            if options.get("over") and options.get("weights"):
                options["weights"] = [options["weights"][place] for place in order]
            if "labels" in value:
                value["labels"] = [labels[place] for place in order]
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, dict | list):
                permute(part)

    permute(written["nodes"])
    layout = _read(written)
    names = [latent.name for latent in problem.layout.latents]
    return replace(problem, layout=layout, moved=_by_latent(problem.layout, layout, names, order))


def _read(written: dict[str, Any]) -> ml.Layout:
    return ml.Layout.from_dict(written, functions=[survival])


def _by_latent(
    old: ml.Layout, new: ml.Layout, names: list[str], order: np.ndarray | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """Lay a point of the old layout out for the new one; `names` are the old latents' new ones."""
    sizes = [len(latent.labels or [""]) for latent in old.latents]

    def moved(point: np.ndarray) -> np.ndarray:
        parts = dict(zip(names, np.split(point, np.cumsum(sizes)[:-1]), strict=True))
        if order is not None:
            parts = {name: part[order] if len(part) > 1 else part for name, part in parts.items()}
        return np.concatenate([parts[latent.name] for latent in new.latents])

    return moved


UNCHANGED: dict[str, Transformation] = {
    "permuting items": permuted_items,
    "renaming items": renamed_items,
    "repeated items against counts": repeated_for_counts,
    "splitting trials over two items": split_trials,
    "adding an item nobody attempted": added_item,
    "permuting columns": permuted_columns,
    "adding an unused column": added_column,
    "renaming the subject": renamed_subject,
    "adding subjects": added_subjects,
    "renaming nodes": renamed_nodes,
    "permuting labels": permuted_labels,
}
"""By the name of the transformation."""
