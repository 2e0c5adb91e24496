"""Items that need some of several capabilities, each to a level of its own."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture, presence, product

from .bank import Bank

HIGHEST = 10
SLOPE = 2
CHANCE = 0.5
LETTERS = "abcdefghijkl"


def layout_of(count: int) -> ml.Layout:
    r"""Write a layout in which an item needs all the capabilities that it has a demand on.

    .. math:: P = (1 - \\nu) \prod_{d \in \text{needed}} \sigma(2 (\\theta_d - \delta_d)) + \\nu / 2

    Capabilities are uniform on [0, 10], the noise is Beta(1, 9).
    """
    labels = {"labels": tuple(LETTERS[:count]), "dim": "dimension"}
    needed = ml.MetaFeature("needed", levels=(0, 1), **labels)
    demand = ml.MetaFeature("demand", low=0, high=HIGHEST, **labels)
    ability = ml.Capability("ability", low=0, high=HIGHEST, **labels)
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    part = ml.Derived("part", presence(logistic(ability - demand, SLOPE), needed))
    able = ml.Derived("able", product(part, over="dimension"))
    return ml.Layout("needed", ml.Success("answer", mixture(able, by=noise, toward=CHANCE)))


def items_of(count: int, items: int, present: float, seed: int) -> pd.DataFrame:
    """Draw demands, uniform on [0, 10] where they are present, 0 where they are not."""
    rng = np.random.default_rng(seed)
    levels = rng.uniform(0, HIGHEST, (items, count))
    needed = rng.random((items, count)) < present
    columns = {
        **{f"needed[{LETTERS[place]}]": needed[:, place].astype(int) for place in range(count)},
        **{f"demand[{LETTERS[place]}]": (levels * needed)[:, place] for place in range(count)},
    }
    return pd.DataFrame(columns, [f"item {number}" for number in range(1, items + 1)])


def three() -> Bank:
    """Two thousand items of three capabilities, each of them needed in 60 % of the items."""
    return _bank("2,000 items, 3 capabilities", 3, 2_000, 0.6, seed=2301, reached=(40, 80, 200))


def eight() -> Bank:
    """Two thousand items of nine latents: eight capabilities, needed in 30 %, and noise."""
    return _bank("2,000 items, 9 latents", 8, 2_000, 0.3, seed=2302, reached=(200,))


def _bank(
    name: str, count: int, items: int, present: float, *, seed: int, reached: tuple[int, ...]
) -> Bank:
    judged = tuple(f"ability[{letter}]" for letter in LETTERS[:count])
    known = items_of(count, items, present, seed)
    return Bank(name, layout_of(count), known, judged, reached, seed)
