"""Next to 0 and 1 the machine code's log-likelihood has the digits that decimals say it has.

Far points of the real line, where chances reach the guard of 1e-12. Of a chance that is rounded
beside 1, log(1 - p) has lost all but four digits there; that is what the plain model computes.
"""

import math

import numpy as np
import pytest
from helpers import decimal_layouts as of
from helpers.densities import Fused, Plain

from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model.alignment import align
from measurement_layouts.linking import evaluate

EQUAL = 1e-10
ROUNDED = 2.0**-51  # four numbers of about 1, 2**-53 each
ITEMS, CANDIDATES = 6, 300
RAREST = (1e-4, 1e-8, 1e-11, 3e-12, 1e-13)  # the last is beyond the guard
MANY = np.geomspace(1e-2, 1e-15, 10)


@pytest.fixture
def rng():
    return np.random.default_rng(9)


class Case:
    """A layout on some items, less its prior: the density without any outcomes."""

    def __init__(self, layout, density, unanimous, rng):
        self.layout = layout
        self.features = of.items(layout, rng, ITEMS)
        self.data = of.outcomes(layout, ITEMS, unanimous)
        none = SubjectData(0 * self.data.successes, 0 * self.data.trials, self.data.constants)
        self.whole = density(layout, self.features, self.data)
        self.prior = density(layout, self.features, none)
        fused = density is Fused
        self.fused = self.whole if fused else Fused(layout, self.features, self.data)

    def points(self, rng, rarest):
        """Points at which the rarest of what came is about as rare as that, of many."""
        spreads = rng.choice([2.0, 8.0, 20.0], (CANDIDATES, 1))
        far = rng.normal(0, spreads, (CANDIDATES, len(self.fused.start)))
        found = np.log([self.rarest(point) for point in far])
        return far[[np.argmin(abs(found - np.log(rare))) for rare in rarest]]

    def rarest(self, point):
        """The smallest chance of what came, as doubles have it."""
        known, start = dict(self.data.constants), 0
        values, dims = self.fused.latents(point), tuple(self.layout.dims)
        for node in self.layout.latents:
            shape = tuple(map(len, node.dims.values()))
            count = math.prod(shape)
            own = values[start : start + count].reshape(shape)
            known[node.name] = align(own, node, dims, per_item=False)
            start += count
        for feature in self.layout.meta_features:
            known[feature.name] = align(self.features[feature.name], feature, dims, per_item=True)
        p = np.reshape(evaluate(self.layout.outcome.expression, known, dims), -1)
        won, lost = self.data.successes > 0, self.data.trials > self.data.successes
        return max(1e-16, min(p[won].min(initial=1), 1 - p[lost].max(initial=0)))

    def errors(self, point):
        """Of the value and of the slopes, against the whole density; and chances of what came."""
        value, slopes = self.whole(point)[:2]
        before, by_prior = self.prior(point)[:2]
        wanted, exact, came = of.exact(self.layout, self.features, self.data, point)
        steepest = max(1, abs(exact).max(), abs(by_prior).max())
        off = abs(value - before - wanted) / max(1, abs(value))
        return off, abs(slopes - by_prior - exact).max() / steepest, came


def each(names):
    """A test of layouts, each of which counts in the trust table."""
    kind = "oracles"
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, id=name, marks=pytest.mark.trust(kind, f"next to 0 and 1: {name}"))
            for name in names
        ],
    )


def hold(name, unanimous, rng, rarest):
    """Value and slopes; returns the smallest chance of what came."""
    case, least = Case(of.layout(name), Fused, unanimous, rng), 1.0
    for point in case.points(rng, rarest):
        value, slopes, came = case.errors(point)
        assert value <= EQUAL, (point, value)
        assert slopes <= EQUAL, (point, slopes)
        least = min(least, came.min())
    return least


@each(of.LAYOUTS)
def test_machine_code(name, rng, request):
    assert hold(name, False, rng, RAREST) < 1e-10
    request.node.user_properties.append(("inputs", len(RAREST)))


@pytest.mark.slow
@each(of.LAYOUTS)
@pytest.mark.parametrize("unanimous", [False, True], ids=["counts", "alike"])
def test_machine_code_at_many_points(name, unanimous, rng, request):
    """Also where all attempts at an item came out alike: machine code of another form."""
    assert hold(name, unanimous, rng, MANY) < 1e-10
    request.node.user_properties.append(("inputs", len(MANY)))


@pytest.mark.parametrize("density", [Fused, Plain])
@pytest.mark.parametrize("name", of.ROUNDED)
def test_what_is_rounded_beside_1(name, density, rng):
    """A formula without a rule, and the plain model: four roundings in proportion to 1 - p."""
    case = Case(of.layout(name), density, False, rng)
    for point in case.points(rng, RAREST):
        value, slopes, came = case.errors(point)
        off = EQUAL + ROUNDED * (2 / came).sum()
        assert value <= off, (point, value)
        assert slopes <= off, (point, slopes)


@pytest.mark.parametrize(
    "name", ["logistic", "mixture", "presences", "guessing and noise", "either"]
)
def test_the_plain_model_has_these_digits_not(name, rng):
    """Twin that must fail: PyMC takes the chance, and 1 - p from it."""
    case = Case(of.layout(name), Plain, False, rng)
    errors = [case.errors(point) for point in case.points(rng, RAREST)]
    assert max(value for value, *_ in errors) > 100 * EQUAL
    assert all(value <= EQUAL + ROUNDED * (2 / came).sum() for value, _, came in errors)
