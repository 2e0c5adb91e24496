"""Scenario layouts on small batteries: what the hand densities are held against."""

import functools
from dataclasses import dataclass

import numpy as np

from helpers import graded_layouts, hand_games, hand_ladders, hand_models
from helpers.densities import Fused
from helpers.hand_densities import Hand, Long, Outcomes
from measurement_layouts import Evaluation, scenarios
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model.features import read_features, read_training_features
from measurement_layouts.layouts import Layout
from measurement_layouts.scenarios import adele, weirdml
from measurement_layouts.scenarios.adele.battery import battery as general_scales
from measurement_layouts.scenarios.animal_ai_olympics import battery as rewards
from measurement_layouts.scenarios.object_permanence.battery import battery as arenas

ITEMS, PLACED_ITEMS = 40, 10  # fewer where each has 121 places
MANY = {"adele, abilities on many items": 180}  # 10 for each of 18 abilities: sampled as they are
ROUNDING = 1e-10
BY_HAND = 2.0**-62  # chances by hand: of the numbers beside 1 four are rounded, 2**-64 each
ENGINE = 2.0**-51  # in machine code and the plain model, 2**-53 each
HANDS = {**hand_games.HANDS, **hand_models.HANDS, **hand_models.BESIDE, **hand_ladders.HANDS}


def scenario_layouts():
    """Every layout that ``measurement-layouts scenarios`` lists, by scenario and name.

    Without those whose subjects share something: they have no density of one subject.
    """
    return {
        f"{name}, {layout}": make
        for name in scenarios.NAMES
        for layout, make in scenarios.get(name).layouts.items()
        if not make().joint
    }


LAYOUTS = {
    **scenario_layouts(),
    "adele, abilities on many items": adele.capability_layout,
    "adele, slopes pooled": functools.partial(adele.capability_layout, "pooled"),
    "weirdml, nested": weirdml.nested_layout,
    **{name: functools.partial(hand_ladders.layout, name) for name in hand_ladders.HANDS},
}


BATTERIES = {
    "adele": functools.partial(general_scales, items=400),
    "animal-ai-olympics": rewards,
    "object-permanence": arenas,
}


@functools.cache
def battery(scenario):
    """Items of the embedded battery; simulating outcomes of large ones would take longer."""
    if scenario in BATTERIES:
        return BATTERIES[scenario]()
    return scenarios.get(scenario).simulate(1).evaluation.items


@dataclass(frozen=True)
class Case:
    """A layout, its density by hand, and a subject's outcomes on some items."""

    layout: Layout
    hand: Hand
    features: dict
    outcomes: Outcomes

    @functools.cached_property
    def data(self):
        constants = {constant.name: self.outcomes.failure for constant in self.layout.constants}
        return SubjectData(self.outcomes.successes, self.outcomes.trials, constants)

    @functools.cached_property
    def fused(self):
        """The shipped machine code."""
        return Fused(self.layout, self.features, self.data)

    def by_hand(self, points):
        """Log-densities, and how far rounding may take the engine from them."""
        each, unlikely = self._parts(points)
        found = each.sum(axis=1)
        off = ROUNDING * np.maximum(1, abs(found)) + self.hand.constant
        return found, off + ENGINE * unlikely.sum(axis=1)

    def _parts(self, points):
        order = [latent.name for latent in self.layout.latents]
        return self.hand.parts(order, points, self.features, self.outcomes)

    def by_machine(self, points):
        """Log-densities by machine code; gradients, (points, latents)."""
        found = [self.fused(point) for point in points]
        assert {status for *_, status in found} == {0}
        return np.array([value for value, *_ in found]), np.array(
            [slopes for _, slopes, _ in found]
        )

    def places(self, rng, count, spread):
        """Points about where the sampler starts."""
        return self.fused.start + rng.normal(0, spread, (count, len(self.fused.start)))

    def slopes_by_hand(self, points, h=2.0**-12):
        """Central differences of fourth order, and how far they and the engine may be off.

        Their error goes with h**4: twice the step errs sixteen times as much, so that the change is
        above it. Rounding by hand is `BY_HAND` over the step, in proportion to one over an
        outcome's chance; the engine rounds two factors of each item's slope.
        """
        count, length = points.shape
        shifts = np.array([-4, -2, -1, 1, 2, 4], dtype=Long) * h
        moves = shifts[:, None, None, None] * np.eye(length, dtype=Long)[:, None, :]
        each, _ = self._parts((points.astype(Long) + moves).reshape(-1, length))
        _, unlikely = self._parts(points)
        a, b, c, d, e, f = each.reshape(6, length, count, -1)
        near, far = ((x - y + 8 * (z - w)) / 12 for x, w, z, y in ((b, c, d, e), (a, b, e, f)))
        slopes, found = near / h, near.sum(axis=-1) / h
        off = abs(found - far.sum(axis=-1) / (2 * h)) + BY_HAND / h * unlikely.sum(axis=-1)
        off = off + 2 * ENGINE * (unlikely * abs(slopes)).sum(axis=-1)
        return found.T, (off + ROUNDING * np.maximum(1, abs(found).max(axis=0))).T


@functools.cache
def case(name, unanimous=False):
    """Counts of up to three attempts, some items without any; or all attempts at an item alike."""
    rng = np.random.default_rng(sum(map(ord, name)))
    layout = LAYOUTS[name]()
    if name in hand_ladders.HANDS:
        return Case(layout, HANDS[name], *ladder(layout, rng))
    items = battery(name.partition(",")[0])
    if name == "weirdml, nested":
        items = with_steps(items)
    most = PLACED_ITEMS if layout.outcome.unseen is not None else MANY.get(name, ITEMS)
    chosen = np.sort(rng.choice(len(items), min(most, len(items)), replace=False))
    features = read_features(layout, items.iloc[chosen])
    trials = rng.integers(0, 4, len(chosen))
    won = rng.binomial(trials, 0.6)
    if unanimous:  # items alike are one row of the engine, so that they must agree
        _, alike = np.unique(np.column_stack(list(features.values())), axis=0, return_inverse=True)
        won = np.where(rng.random(len(chosen))[alike] < 0.6, trials, 0)
    return Case(layout, HANDS[name], features, Outcomes(won, trials))


def ladder(layout, rng):
    """Rows that are steps, for machine code, and which step each is, for the hand."""
    items = graded_layouts.items(20)
    tables, _ = graded_layouts.random_outcomes(layout, items, rng)
    evaluation = Evaluation.of_outcomes(layout, tables, items)
    features = read_training_features(layout, evaluation) | {
        "step": evaluation.items["· step"].to_numpy()
    }
    counts = (table.loc["Ann"].to_numpy() for table in (evaluation.successes, evaluation.trials))
    return features, Outcomes(*counts)


def with_steps(items):
    """Say of each threshold of a task whether there is one below, and how far."""
    items = items.sort_values(["task", "threshold"])
    step = items.groupby("task")["logHours"].diff()
    return items.assign(nested=step.notna().astype(int), step=step.clip(lower=0))
