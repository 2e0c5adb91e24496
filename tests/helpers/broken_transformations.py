"""Transformations with a mistake in each: twins that must fail."""

from dataclasses import replace

import numpy as np

from helpers.transformations import (
    Problem,
    added_item,
    added_subjects,
    permuted_labels,
    renamed_nodes,
    split_trials,
)


def permuted_without_outcomes(problem: Problem, rng: np.random.Generator) -> Problem:
    features = problem.items.drop(columns=["successes", "trials"])
    shuffled = features.iloc[rng.permutation(len(features))].set_axis(features.index)
    return replace(problem, items=problem.items.assign(**shuffled))


def repeated_once(problem: Problem, rng: np.random.Generator) -> Problem:
    """Items of several attempts become items of one."""
    counts = problem.items[["successes", "trials"]].clip(upper=1)
    return replace(problem, items=problem.items.assign(**counts))


def split_twice(problem: Problem, rng: np.random.Generator) -> Problem:
    """Both halves have all attempts."""
    split = split_trials(problem, rng)
    counts = problem.items[["successes", "trials"]].to_numpy()
    both = dict(zip(["successes", "trials"], np.vstack([counts, counts]).T, strict=True))
    return replace(split, items=split.items.assign(**both))


def added_failure(problem: Problem, rng: np.random.Generator) -> Problem:
    """The item that nobody attempted counts as failed."""
    added = added_item(problem, rng)
    added.items.iloc[-1, added.items.columns.get_loc("trials")] = 3
    return added


def columns_without_names(problem: Problem, rng: np.random.Generator) -> Problem:
    first, second = "demand[see]", "demand[walk]"
    swapped = {first: problem.items[second], second: problem.items[first]}
    return replace(problem, items=problem.items.assign(**swapped))


def of_another_subject(problem: Problem, rng: np.random.Generator) -> Problem:
    together = added_subjects(problem, rng)
    others = together.company.loc["Bob"].to_numpy()
    return replace(problem, items=problem.items.assign(successes=others))


def nodes_without_columns(problem: Problem, rng: np.random.Generator) -> Problem:
    """The new names stand on the other end's columns."""
    renamed = renamed_nodes(problem, rng)
    places = [problem.items.columns.get_loc(name) for name in ("side", "on")]
    columns = list(renamed.items.columns)
    swapped = zip(places, places[::-1], strict=True)
    values = {columns[one]: abs(renamed.items[columns[other]]) for one, other in swapped}
    return replace(renamed, items=renamed.items.assign(**values))


def labels_without_latents(problem: Problem, rng: np.random.Generator) -> Problem:
    return replace(permuted_labels(problem, rng), moved=np.asarray)


BROKEN = [
    permuted_without_outcomes,
    repeated_once,
    split_twice,
    added_failure,
    columns_without_names,
    of_another_subject,
    nodes_without_columns,
    labels_without_latents,
]
