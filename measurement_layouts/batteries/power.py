"""Power of a comparison: how likely a difference of two subjects is decided by so many items."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.options import inside, whole
from ..common.progress import track
from ..evaluations.given import refuse_no_layout
from ..evaluations.tables import named
from ..inference.fitting import fit
from ..inference.model.prior import prior_profiles
from ..inference.posterior.posterior import posterior_draws
from ..inference.sampling.grid import MOST
from ..inference.simulate import simulate
from ..layouts import Layout
from ..layouts.elements import Element, elements, find_elements
from ..linking import LayoutError
from ..linking.real import real

_FEWEST = 40  # profiles of the prior in range after the difference is added


def power(
    layout: Layout,
    bank: pd.DataFrame,
    difference: Mapping[str, float],
    *,
    items: int | Sequence[int],
    attempts: int | Sequence[int] = 1,
    pairs: int = 100,
    prob: float = 0.9,
    seed: int = 1,
    progressbar: bool = True,
) -> pd.DataFrame:
    r"""Compute how likely a true difference of two subjects is decided, by items and attempts.

    A difference is decided when the interval of the difference of the two subjects' values,
    between the quantiles :math:`(1 - prob) / 2` and :math:`(1 + prob) / 2` of its posterior,
    excludes 0. For every number of items and of attempts, pairs of subjects are simulated: the
    profile of one is drawn from the prior, and that of the other is higher by the difference. Both
    attempt the same items, and both are fitted: on a grid where their profile has one or two
    elements, and by NUTS otherwise.

    Parameters
    ----------
    layout : Layout
        A layout under which subjects share nothing.
    bank : DataFrame
        Items like those of the evaluation: one row per item, indexed by name, with the columns that
        the layout needs.
    difference : mapping of str to float
        Difference of the two subjects, by latent or element ``node[label]``, in its unit. Several
        are differences of the same two subjects.
    items : int or sequence of int
        Numbers of items, which are drawn at random from the bank; where they are more than the
        bank has, its items are repeated as further items.
    attempts : int or sequence of int
        Numbers of attempts at each item.
    pairs : int
        Number of pairs of subjects, at least 10.
    prob : float
        Mass of the interval.
    seed : int
        Seed of profiles, items and outcomes.
    progressbar : bool
        Whether to show progress over the cells of the table.

    Returns
    -------
    DataFrame
        One row per element, number of items and number of attempts: ``node``, ``difference``,
        ``items``, ``attempts``, ``decided`` (the share of pairs whose interval excludes 0 on the
        right side), ``wrong`` (on the other side), and ``error``, the standard error of `decided`.

    Raises
    ------
    DataError
        When the bank does not fit the layout.
    FitError
        When a number is out of range, a name is no profile element, or the prior has hardly any
        profile whose other one is in the range.
    LayoutError
        When `layout` is something else, or subjects share something in it.

    Notes
    -----
    Trials of an item count as much as those of further items like it, unless the layout has an
    `Unseen` property, which all trials of an item share. Under such a layout a fit is compiled for
    each subject, which takes most of the time: begin with ten pairs. A real item that has more of
    its own than the layout knows is like the latter: add items rather than attempts.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=10)
    >>> smallness = MetaFeature("smallness", low=0, high=10)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)}, index=range(41))
    >>> table = power(layout, bank, {"sight": 2}, items=[10, 80], pairs=40, progressbar=False)
    >>> table[["node", "items", "attempts"]]
        node  items  attempts
    0  sight     10         1
    1  sight     80         1
    >>> bool(table["decided"][0] < 0.6 < table["decided"][1])
    True
    """
    refuse_no_layout(layout)
    if layout.joint:
        raise LayoutError(
            f"layout {layout.name!r}: subjects share values; give a layout with numbers in their "
            "place, such as the means of a fit"
        )
    table, count = named(bank, "bank", "item"), whole("pairs", pairs, 10)
    tail, rng = (1 - inside("prob", prob, such_as=0.9)) / 2, np.random.default_rng(seed)
    sizes = [whole("items", size, 1) for size in np.ravel(items).tolist()]
    tries = [whole("attempts", trials, 1) for trials in np.ravel(attempts).tolist()]
    profile = elements(layout)
    shift = _differences(profile, difference)
    first = _profiles(layout, shift, count, rng)
    pair = [f"{which} {number}" for which in ("first", "second") for number in range(count)]
    names = [element.name for element in profile]
    profiles = pd.DataFrame(np.concatenate([first, first + shift]), pair, names)
    order, rows = rng.permutation(len(table)), []
    method: Literal["grid"] | None = "grid" if len(profile) <= MOST else None
    cells = list(itertools.product(sizes, tries))
    for size, trials in track(cells, len(cells), progressbar, "cells"):
        chosen = table.iloc[np.resize(order, size)].set_axis([f"item {n}" for n in range(size)])
        outcomes = simulate(layout, chosen, profiles, seed=seed, trials=trials)
        result = fit(
            layout,
            outcomes,
            draws=500,
            tune=500,
            chains=2,
            seed=seed,
            method=method,
            progressbar=False,
        )
        for position in np.flatnonzero(shift):
            element, gap = profile[position], shift[position]
            draws = np.stack([posterior_draws(result, element, name) for name in pair])
            ahead = np.sign(gap) * (draws[count:] - draws[:count])
            low, high = np.quantile(ahead, [tail, 1 - tail], axis=1)
            rows.append([element.name, gap, size, trials, (low > 0).mean(), (high < 0).mean()])
    columns = ["node", "difference", "items", "attempts", "decided", "wrong"]
    powers = pd.DataFrame(rows, columns=columns)
    return powers.assign(error=(powers["decided"] * (1 - powers["decided"]) / count) ** 0.5)


def _differences(profile: Sequence[Element], difference: Mapping[str, float]) -> np.ndarray:
    """Read the differences of all elements of a profile, 0 where none is given."""
    if not isinstance(difference, Mapping):
        raise FitError(f"difference={difference!r}; give one by latent, as in {{'sight': 1}}")
    shift = np.zeros(len(profile))
    for name in difference or [""]:
        gap = real(difference.get(name))
        for element in find_elements(profile, name):
            if not gap:
                stated = f"difference[{name!r}]={difference.get(name)!r}"
                raise FitError(f"{stated}; give a number other than 0")
            shift[profile.index(element)] = gap
    return shift


def _profiles(
    layout: Layout, shift: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw profiles from the prior whose shifted ones are in the latents' ranges, too."""
    profile = elements(layout)
    drawn = prior_profiles(layout, profile)
    lowest = [element.latent.range.low for element in profile]
    highest = [element.latent.range.high for element in profile]
    both = ((drawn + shift >= lowest) & (drawn + shift <= highest)).all(axis=1)
    if both.sum() < _FEWEST:
        raise FitError(
            f"of {len(drawn)} profiles drawn from the prior, {both.sum()} are in the latents' "
            "ranges after the difference is added; give a smaller difference"
        )
    return np.asarray(drawn[rng.choice(np.flatnonzero(both), count)])
