"""Random layouts declared in Python, with arguments that nobody means among the others."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.odd_values import NUMBERS, odd
from measurement_layouts import (
    Bias,
    Capability,
    Derived,
    Graded,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Propensity,
    Score,
    Slope,
    Success,
    Unseen,
)
from measurement_layouts.linking import (
    arrays,
    band,
    bilogistic,
    generalised_mean,
    guessing,
    linking_function,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
    total,
    uncertain_band,
)

HALF = ("a", "half \ud800")
UNITS = (None, "u", "u", "u", "s", "1/u", "u**2", "", "5", "u*", "no unit", "m", "km", "degC", "%")
NAMES = ("x", "y.z", "a b", "ä-1", "item", "draw", "x[a]", " x", "1x", "x ", "· step", "x\n", "")
FAMILIES = {
    "Normal": ("mu", "sigma"),
    "Beta": ("alpha", "beta"),
    "Uniform": ("lower", "upper"),
    "HalfNormal": ("sigma",),
    "Exponential": ("lam",),
    "TruncatedNormal": ("mu", "sigma", "lower", "upper"),
    "StudentT": ("nu", "mu", "sigma"),
    "Gamma": ("alpha", "beta"),
    "Bernoulli": ("p",),
    "Nobody": ("x",),
    "Normal ": ("mu",),
}


@linking_function(range=(0, 1))
def clipped(x, *, steps=2, word="inf"):
    """A linking function of one's own, with options."""
    return arrays.minimum(arrays.maximum(x * steps, 0.0), 1.0)


@linking_function(range=(0, 1))
def raising(x):
    """One that cannot be computed."""
    raise KeyError("a formula that raises")


@linking_function(range=(0, 1))
def misshapen(x):
    """One that returns another shape."""
    return np.zeros((7, 5, 3))


@linking_function(range=(0, 1))
def no_number(x):
    """One that returns NaN."""
    return x * math.nan


@linking_function(range=(0, 1))
def texts(x):
    """One that returns no numbers at all."""
    return "0.5"


@linking_function(range=(0, 1))
def beyond(x):
    """One that leaves the range that it declares."""
    return x * 0 + 2


OWN = (clipped, raising, misshapen, no_number, texts, beyond)
BROKEN = frozenset(function.name for function in OWN[1:])


class Declaring:
    """Declares random nodes; now and then an argument is odd."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.rate = choice.choice([0, 0, 0.01, 0.03, 0.1])
        self.count = 0
        self.made: list[Any] = []

    def layout(self) -> Layout:
        """Declare a whole layout."""
        parts = [self.part() for _ in range(self.choice.randint(1, 3))]
        joined = self.joined(parts)
        leaf = self.leaf("solved", joined)
        more = []
        if self.choice.random() < 0.1:
            more = [self.leaf(self.choice.choice(["solved", "again"]), self.choice.choice(parts))]
        name = self.off("a layout", HALF[1])
        return Layout(name, self.off(leaf), *more)

    def off(self, value: Any, *others: Any) -> Any:
        """Mostly the value, now and then something odd, or one of the others."""
        if self.choice.random() >= self.rate:
            return value
        if others and self.choice.random() < 0.7:
            return self.choice.choice(others)
        return odd(self.choice)

    def name(self, kind: str) -> Any:
        self.count += 1
        own = f"{kind}{self.count}"
        return self.off(own, *NAMES, f"{kind}1", "dimension")

    def number(self, value: float) -> Any:
        return self.off(value, *NUMBERS)

    def labels(self) -> Any:
        return self.off(
            ("a", "b", "c"), ("a",), ("b", "a"), ("a", "b", "c", "d"), (), ("a", ""), HALF
        )

    def common(self, labels: Any) -> dict[str, Any]:
        found: dict[str, Any] = {"unit": self.off("u", *UNITS), "about": self.off("text", HALF[1])}
        if labels is not None:
            found |= {"labels": labels, "dim": self.off("dimension", "item", "other", "")}
        return found

    def prior(self) -> Any:
        if self.choice.random() < 0.3:
            family = self.choice.choice(list(FAMILIES))
            parameters = {
                name: self.number(self.choice.choice([0.5, 1, 2])) for name in FAMILIES[family]
            }
            support = self.choice.choice([{}, {}, {"support": self.off((0, 1), (1, 0), (2, 2))}])
            return Prior(self.off(family), **parameters, **support)
        mu = self.number(0)
        if self.made and self.choice.random() < 0.2:
            mu = self.choice.choice(self.made)
        return Prior(self.off("Normal"), mu=mu, sigma=self.number(1))

    def latent(self, labels: Any = None) -> Any:
        kind = self.choice.choice([Capability, Propensity])
        name, common = self.name("latent"), self.common(labels)
        if self.choice.random() < 0.5:
            low = self.choice.uniform(-5, 5)
            node = kind(name, low=self.number(low), high=self.number(low + 3), **common)
        else:
            node = kind(name, prior=self.off(self.prior(), None), **common)
        self.made.append(node)
        return node

    def feature(self, labels: Any = None) -> Any:
        name, common = self.name("feature"), self.common(labels)
        if self.choice.random() < 0.4:
            levels = self.off((0, 1, 3), (0,), (0, 0), (0, math.inf), (1, 2))
            node = MetaFeature(name, levels=levels, **common)
        else:
            given = None
            if self.made and self.choice.random() < 0.1:
                given = self.off(self.choice.choice(self.made))
            ends = {"low": self.number(0), "high": self.number(5)}
            node = MetaFeature(name, **ends, given=given, **common)
        self.made.append(node)
        return node

    def side(self, kind: type, name: str, **more: Any) -> Any:
        """Declare a bias, a slope or noise."""
        changes: dict[str, Any] = {}
        if self.choice.random() < self.rate:
            changes = {"prior": self.off(self.prior())}
        elif self.choice.random() < self.rate:
            changes = {"low": self.number(0), "high": self.number(1)}
        return kind(self.name(name), **changes, **more)

    def margin(self, labels: Any) -> Any:
        latent, feature = self.latent(labels), self.feature(labels)
        way = self.choice.randrange(8)
        if way == 0:
            return latent - feature
        if way == 1:
            return self.number(2) * latent - feature * self.number(0.5)
        if way == 2:
            return latent - feature + self.side(Bias, "bias")
        if way == 3:
            return latent / self.number(2) - feature / self.number(3)
        if way == 4:
            return (latent - feature) ** self.off(2, 3, -1, 0, 0.5, 100, latent)
        if way == 5:
            return total(latent, -feature, self.number(0))
        if way == 6:
            return self.number(1) - feature / latent
        return -latent + feature

    def part(self) -> Any:
        labels = self.choice.choice([None, None, self.labels()])
        way = self.choice.randrange(9)
        if way <= 2:
            made = logistic(self.off(self.margin(labels)), self.number(1))
        elif way == 3:
            made = logistic(self.margin(labels), self.off(self.side(Slope, "slope")))
        elif way == 4:
            width = {"min_width": self.number(0.1)} if self.choice.random() < 0.5 else {}
            ends = [self.off(self.feature(labels)), self.off(self.feature(labels), math.inf)]
            made = band(self.off(self.latent(labels)), *ends, **width)
        elif way == 5:
            function = OWN[0] if self.choice.random() < 0.8 else self.choice.choice(OWN)
            steps = {"steps": 3, "word": self.off("inf")} if function is clipped else {}
            made = function(self.margin(labels), **steps)
        elif way == 6:
            made = bilogistic(*(self.off(self.latent(labels)) for _ in range(5)))
        elif way == 7:
            spread = self.off(self.feature(labels), self.number(0.3))
            made = uncertain_band(
                self.latent(labels), self.feature(labels), spread, self.feature(labels), spread
            )
        else:
            told = {"spread": self.off(MetaFeature(self.name("error"), low=0, high=2, unit="u"))}
            if self.choice.random() < 0.4:
                told |= {"positive": self.number(1), "noise": self.number(0.1)}
            unseen = Unseen(self.name("unseen"), self.off(self.feature()), **told)
            made = logistic(self.latent() - unseen)
            labels = None
        if labels is not None:
            over = self.off("dimension", "other", None)
            made = self.choice.choice(
                [
                    lambda: product(made, over=over),
                    lambda: generalised_mean(made, power=self.number(-1), over=over),
                    lambda: generalised_mean(made, power=self.side(Bias, "power"), over=over),
                    lambda: total(made * self.number(1 / 3), over=over),
                    lambda: made,
                ]
            )()
        if self.choice.random() < 0.3:
            made = Derived(self.name("derived"), self.off(made), about=self.off(""))
        return made

    def joined(self, parts: list[Any]) -> Any:
        given = [self.off(part) for part in parts]
        weights = self.off(None, (1, 2), (1, 0), (1, -1), (1, math.nan), (1,) * len(parts))
        ways: list[Callable[[], Any]] = [
            lambda: product(*given),
            lambda: generalised_mean(*given, power=self.number(0.5), weights=weights),
            lambda: sum(part * self.number(1 / len(parts)) for part in parts),
            lambda: parts[0],
        ]
        joined = self.choice.choice(ways)()
        ending = self.choice.randrange(6)
        if ending == 0:
            joined = guessing(joined, self.number(0.25))
        elif ending == 1:
            joined = mixture(
                joined, by=self.off(self.side(Noise, "noise"), 0.1, 2), toward=mean_failure
            )
        elif ending == 2:
            joined = mixture(joined, by=self.side(Noise, "noise"), toward=self.number(0.5))
        elif ending == 3:
            flag = MetaFeature(self.name("flag"), levels=self.off((0, 1), (0, 2)))
            joined = presence(joined, self.off(flag))
        return joined

    def leaf(self, name: str, joined: Any) -> Any:
        name = self.off(name, *NAMES)
        way = self.choice.random()
        if way < 0.8:
            return Success(name, self.off(joined), about=self.off(""))
        if way < 0.9:
            grades = self.off(
                ("no", "half", "yes"), ("a",), ("a", "a"), ("a", ""), ("a", "b"), HALF
            )
            return Graded(name, self.off(joined), grades=grades, gap=self.number(1))
        return Score(name, self.off(joined), precision=self.number(1), places=self.off(4, 0, 101))
