"""The shipped machine code is the layout's log-density as written by hand, and its slope.

1,000 random points a layout (200 where all attempts came out alike), half of them about where the
sampler starts and half so far out that chances saturate at the guard of 1e-12, which is part of the
promise. The tolerance is 1e-10 of the log-density, and four roundings of a chance over the chances
of what came; slopes are held against differences in extended precision, with the error that those
have.
"""

import dataclasses

import numpy as np
import pytensor
import pytest
from helpers import hand_games, hand_models
from helpers.densities import alone
from helpers.function_cases import AS_WRITTEN
from helpers.hand_densities import Long
from helpers.scenario_densities import HANDS, LAYOUTS, case, scenario_layouts

from measurement_layouts.inference.model.pymc_model import build_model

POINTS, FEWER, MODERATE, WIDE = 500, 100, 1.5, 6.0
LARGE = {name for name in hand_models.BESIDE if name.startswith("adele")}
LARGE |= {"object-permanence, recommended layout", "dispositions, recommended layout"}


def each(names, slow=()):
    """A test of layouts."""
    marks = {name: [pytest.mark.slow] if name in slow else [] for name in names}
    cases = [pytest.param(name, id=name, marks=marks[name]) for name in names]
    return pytest.mark.parametrize("name", cases)


@pytest.fixture
def rng():
    return np.random.default_rng(9)


def points(of, rng, count=POINTS):
    """Places about the start, and far out."""
    return np.concatenate([of.places(rng, count, spread) for spread in (MODERATE, WIDE)])


def hold(of, at):
    """Machine code against the hand: log-densities."""
    found, _ = of.by_machine(at)
    wanted, off = of.by_hand(at)
    worst = np.argmax(abs(found - wanted) / off)
    assert abs(found - wanted)[worst] <= off[worst], (at[worst], found[worst], wanted[worst])


def test_every_scenario_layout_has_a_hand():
    assert set(scenario_layouts()) == {*hand_games.HANDS, *hand_models.HANDS}
    assert set(LAYOUTS) == set(HANDS)


@each(LAYOUTS, slow=LARGE)
def test_density(name, rng):
    of = case(name)
    hold(of, points(of, rng))


@each(LAYOUTS, slow=LARGE)
def test_slopes(name, rng):
    of = case(name)
    at = of.places(rng, 20, MODERATE)
    _, found = of.by_machine(at)
    wanted, off = of.slopes_by_hand(at)
    assert (abs(found - wanted) <= off).all()
    exact = off <= 1e-8 * np.maximum(1, abs(wanted).max(axis=1, keepdims=True))
    assert exact.mean() > 0.5  # most are that well known


@pytest.mark.slow
@each(LAYOUTS)
def test_plain_model(name, rng):
    """What `to_pymc` gives users is the same density."""
    of = case(name)
    model = build_model(alone(of.layout, of.features, of.data))
    latents = [model.rvs_to_values[model[latent.name]] for latent in of.layout.latents]
    density = pytensor.function(latents, model.logp(), mode=AS_WRITTEN)
    at = of.places(rng, 3, 1.0)
    wanted, off = of.by_hand(at)
    columns = of.hand.columns([latent.name for latent in of.layout.latents], at)
    for place in range(len(at)):
        parts = (columns[latent.name][place] for latent in of.layout.latents)
        found = density(*(part[0] for part in parts))
        assert abs(found - wanted[place]) <= off[place]


@dataclasses.dataclass(frozen=True)
class Spoilt:
    """A latent with something wrong of its density on the real line."""

    latent: object
    change: object

    def read(self, z, profile):
        x, log_density = self.latent.read(z, profile)
        return x, log_density + self.change(self, z, profile, log_density)


def wider(spoilt, z, profile, log_density):
    return 1e-4 * log_density


def without_jacobian(spoilt, z, profile, log_density):
    h = Long(2.0**-20)
    above, below = (spoilt.latent.read(z + move, profile)[0] for move in (h, -h))
    return -np.log((above - below) / (2 * h))


def spoilt(of, what):
    """One latent of the layout read wrongly; None where nothing is moved to the real line."""
    hand = of.hand
    if what == "a latent a little larger":
        name = list(hand.latents)[-1]

        def success(v, items, failure):
            return hand.success({**v, name: v[name] * Long(1.0001)}, items, failure)

        return dataclasses.replace(of, hand=dataclasses.replace(hand, success=success))
    change = wider if what == "another prior" else without_jacobian
    moved = [name for name, latent in hand.latents.items() if type(latent).__name__ != "Line"]
    names = list(hand.latents) if change is wider else moved
    if not names:
        return None
    latents = {**hand.latents, names[0]: Spoilt(hand.latents[names[0]], change)}
    return dataclasses.replace(of, hand=dataclasses.replace(hand, latents=latents))


@each(LAYOUTS, slow=LARGE)
@pytest.mark.parametrize("what", ["a latent a little larger", "another prior", "no Jacobian"])
def test_a_wrong_hand_is_noticed(name, what, rng):
    """Twin that must fail."""
    of = case(name)
    wrong = spoilt(of, what)
    if wrong is not None:
        with pytest.raises(AssertionError):
            hold(wrong, points(of, rng, 20))
