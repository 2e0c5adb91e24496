"""Adaptive tests as benchmarks ask them: the items in order, and the profiles on the way."""

import sys
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from banks import Bank, drawn

import measurement_layouts as ml
from measurement_layouts.inference.sequential.running import Running

PRIOR_DRAWS = 2_000


def asked(
    layout: ml.Layout, items: pd.DataFrame, answers: np.ndarray, upto: int, seed: int, **how: Any
) -> np.ndarray:
    """Let every subject take an adaptive test; places of the items, shape (subjects, upto)."""
    chosen = np.empty((len(answers), upto), dtype=int)
    for place, own in enumerate(answers):
        test = ml.AdaptiveTest(layout, items, seed=seed + place, **how)
        for step in range(upto):
            (item,) = test.next()
            chosen[place, step] = items.index.get_loc(item)
            test.record(item, int(own[chosen[place, step]]))
        print(f"{layout.name}: subject {place + 1} of {len(answers)}", file=sys.stderr, flush=True)
    return chosen


class Carried:
    """A ruler for banks of many latents: posteriors that particles carry on.

    Parameters
    ----------
    bank : Bank
        The items, and what is judged.
    seed : int
        Of the particles, which are others than those of the tests.
    """

    def __init__(self, bank: Bank, seed: int) -> None:
        self._bank, self._seed = bank, seed
        self._scale = drawn(bank.layout, PRIOR_DRAWS, seed)[list(bank.judged)].std().to_numpy()

    def judged(self, answers: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Mean relative sds before any answer and after each, shape (subjects, answers + 1)."""
        return np.array(
            [
                self._one(own, order, self._seed + place)
                for place, (own, order) in enumerate(zip(answers, places, strict=True))
            ]
        )

    def _one(self, answers: np.ndarray, order: np.ndarray, seed: int) -> list[float]:
        bank, found = self._bank, [1.0]
        running = Running.of(bank.layout, bank.items, seed=seed)
        own = [running.elements.index(name) for name in bank.judged]
        for item in order:
            running.record([item], [int(answers[item])], [1])
            found.append(float((running.sds[own] / self._scale).mean()))
        return found


def followed(
    test: ml.AdaptiveTest, outcomes: pd.Series, at: Collection[int], order: Sequence[str] = ()
) -> dict[int, pd.DataFrame]:
    """Give a test its answers, in its own order or a given one; profiles after some of them.

    Parameters
    ----------
    test : AdaptiveTest
        One that has just begun.
    outcomes : Series
        By item.
    at : collection of int
        Numbers of answers.
    order : sequence of str
        Items to ask; by default those that the test chooses.
    """
    found = {}
    for step in range(1, max(at) + 1):
        item = order[step - 1] if len(order) else test.next()[0]
        test.record(item, int(outcomes[item]))
        if step in at:
            found[step] = table(test.profile())
    return found


def table(profiles: pd.DataFrame) -> pd.DataFrame:
    """Index a profile by its elements."""
    labels = profiles["label"].map(lambda label: f"[{label}]" if label else "")
    return profiles.set_index(profiles["node"] + labels)
