"""Log-densities and success probabilities of some layouts, written by hand with NumPy and SciPy.

No formula here comes from the package. A case is a layout, items, counts and, by hand, its latents
with their transformation to the real line and prior, and the probability of success per item.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special, stats
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import band, guessing, logistic, mixture, presence, product


@dataclass(frozen=True)
class Between:
    """A uniform latent: x = low + (high - low) expit(z)."""

    low: float
    high: float

    def value(self, z):
        return self.low + (self.high - self.low) * expit(z)

    def unconstrained(self, x):
        return special.logit((x - self.low) / (self.high - self.low))

    def log_density(self, z, profile):
        """Of z: uniform density and the transformation's derivative, the width cancels."""
        return np.sum(special.log_expit(z) + special.log_expit(-z))


@dataclass(frozen=True)
class Line:
    """A latent on the whole line, with its density."""

    density: object

    def value(self, z):
        return z

    unconstrained = value

    def log_density(self, z, profile):
        return np.sum(self.density.logpdf(z))


@dataclass(frozen=True)
class Positive:
    """A positive latent: x = exp(z); its density may depend on the rest of the profile."""

    density: object

    def value(self, z):
        return np.exp(z)

    unconstrained = staticmethod(np.log)

    def log_density(self, z, profile):
        return np.sum(self.density(profile).logpdf(np.exp(z)) + z)


@dataclass(frozen=True)
class Case:
    """A layout with all that is known of it by hand."""

    layout: ml.Layout
    items: pd.DataFrame
    successes: np.ndarray
    trials: np.ndarray
    latents: dict[str, object]
    success: object
    shapes: dict[str, int]

    @property
    def evaluation(self):
        one = {"index": ["Ann"], "columns": self.items.index}
        counts = (pd.DataFrame([n], **one) for n in (self.successes, self.trials))
        return ml.Evaluation(self.items, *counts)

    def probability(self, z):
        profile = {name: latent.value(z[name]) for name, latent in self.latents.items()}
        failure = 1 - self.successes.sum() / self.trials.sum()
        return self.success(self.items, profile, failure)

    def log_density(self, z):
        """Of all latents on the real line, and the outcomes."""
        profile = {name: latent.value(z[name]) for name, latent in self.latents.items()}
        prior = sum(latent.log_density(z[name], profile) for name, latent in self.latents.items())
        outcomes = stats.binom.logpmf(self.successes, self.trials, self.probability(z))
        return prior + outcomes.sum()


def animal_ai_success(items, profile, failure):
    """The paper's equations (Table 3), for one profile and all items."""
    size, distance, behind, x_pos = (
        items[name].to_numpy(float)
        for name in ("rewardSize", "rewardDistance", "rewardBehind", "XPos")
    )
    margin = profile["navigationAbility"] - distance * (behind / 2 + 1)
    navigate = expit(margin + profile["rightLeftBias"] * x_pos)
    see = expit(profile["visualAbility"] - size)
    noise = profile["noiseLevel"]
    return (1 - noise) * navigate * see + noise * failure


ANIMAL_AI = {
    "navigationAbility": Between(0, 5.3),
    "visualAbility": Between(0, 1.9),
    "rightLeftBias": Line(stats.norm()),
    "noiseLevel": Between(0, 1),
}


def _outcomes(rng, count, most=1):
    trials = rng.integers(1, most + 1, count)
    return rng.binomial(trials, 0.5), trials


def animal_ai(rng, layout, items):
    """One outcome per item."""
    return Case(layout, items, *_outcomes(rng, len(items)), ANIMAL_AI, animal_ai_success, {})


def animal_ai_counts(rng, layout, items):
    """Up to nine trials per item, and none on some."""
    successes, trials = _outcomes(rng, len(items), most=9)
    skipped = np.arange(len(items)) % 5 == 0
    successes[skipped], trials[skipped] = 0, 0
    return Case(layout, items, successes, trials, ANIMAL_AI, animal_ai_success, {})


def labels(rng):
    """Three capabilities against three demands, all needed."""
    names = ("AS", "CEc", "VO")
    demand = ml.MetaFeature("demand", low=0, high=5, labels=names)
    ability = ml.Capability("ability", low=0, high=5, labels=names)
    layout = ml.Layout(
        "three", ml.Success("ok", product(logistic(ability - demand), over="dimension"))
    )
    items = pd.DataFrame(rng.uniform(0, 5, (12, 3)), columns=[f"demand[{name}]" for name in names])

    def success(items, profile, failure):
        return np.prod(expit(profile["ability"] - items.to_numpy()), axis=1)

    latents = {"ability": Between(0, 5)}
    return Case(layout, items, *_outcomes(rng, 12), latents, success, {"ability": 3})


def bands(rng):
    """A propensity in bands; some are open at one end."""
    low = ml.MetaFeature("from", low=-np.inf, high=4)
    high = ml.MetaFeature("to", low=-4, high=np.inf)
    risk = ml.Propensity("risk", low=-4, high=4)
    layout = ml.Layout("risk", ml.Success("right", band(risk, low, high)))
    items = pd.DataFrame({"from": [-np.inf, -2, -1, 0.5, 2, -3], "to": [0.5, 1, 2, np.inf, 3.5, 3]})

    def success(items, profile, failure):
        theta, found = float(profile["risk"]), []
        for start, end in items.to_numpy():
            if np.isinf(start):
                found.append(expit(end - theta))
            elif np.isinf(end):
                found.append(expit(theta - start))
            else:
                r = (end - start) / 2
                steep = 1 + np.exp(1 / r) - 1
                peak = expit(steep * r) ** 2
                found.append(expit(steep * (theta - start)) * expit(steep * (end - theta)) / peak)
        return np.array(found)

    latents = {"risk": Between(-4, 4)}
    return Case(layout, items, *_outcomes(rng, 6), latents, success, {})


def guesses(rng):
    """A floor that differs between items, and noise towards a half."""
    chance = ml.MetaFeature("chance", low=0, high=1)
    demand = ml.MetaFeature("demand", low=0, high=4)
    skill, noise = ml.Capability("skill", low=0, high=4), ml.Noise("noise")
    known = mixture(logistic(skill - demand, slope=2.5), by=noise, toward=0.5)
    layout = ml.Layout("exam", ml.Success("ok", guessing(known, chance)))
    items = pd.DataFrame({"chance": rng.choice([0, 0.25, 0.5], 9), "demand": rng.uniform(0, 4, 9)})

    def success(items, profile, failure):
        known = expit(2.5 * (profile["skill"] - items["demand"].to_numpy()))
        known = known * (1 - profile["noise"]) + profile["noise"] / 2
        return items["chance"].to_numpy() + (1 - items["chance"].to_numpy()) * known

    latents = {"skill": Between(0, 4), "noise": Between(0, 1)}
    return Case(layout, items, *_outcomes(rng, 9), latents, success, {})


def obstacles(rng):
    """An ability that counts only where its obstacle is."""
    wall = ml.MetaFeature("wall", levels=(0, 1))
    distance = ml.MetaFeature("distance", low=0, high=9, unit="m")
    walk = ml.Capability("walk", low=0, high=9, unit="m")
    climb = ml.Capability("climb", low=0, high=1)
    success = logistic(walk - distance) * presence(climb, wall)
    layout = ml.Layout("course", ml.Success("there", success))
    items = pd.DataFrame({"distance": rng.uniform(0, 9, 8), "wall": [0, 1] * 4})

    def chance(items, profile, failure):
        over = np.where(items["wall"] == 1, profile["climb"], 1.0)
        return expit(profile["walk"] - items["distance"].to_numpy()) * over

    latents = {"walk": Between(0, 9), "climb": Between(0, 1)}
    return Case(layout, items, *_outcomes(rng, 8), latents, chance, {})


def hierarchy(rng):
    """Two skills whose scale is a third latent."""
    scale = ml.Capability("arithmetic", prior=ml.Prior("Exponential", lam=0.5))
    skills = [
        ml.Capability(name, prior=ml.Prior("HalfNormal", sigma=scale)) for name in ("add", "carry")
    ]
    demands = [ml.MetaFeature(f"{name}Demand", low=0, high=6) for name in ("add", "carry")]
    parts = [logistic(skill - demand) for skill, demand in zip(skills, demands, strict=True)]
    layout = ml.Layout("sums", ml.Success("right", product(*parts)))
    items = pd.DataFrame(rng.uniform(0, 6, (10, 2)), columns=["addDemand", "carryDemand"])

    def success(items, profile, failure):
        return expit(profile["add"] - items["addDemand"].to_numpy()) * expit(
            profile["carry"] - items["carryDemand"].to_numpy()
        )

    below = Positive(lambda profile: stats.halfnorm(scale=profile["arithmetic"]))
    latents = {
        "arithmetic": Positive(lambda profile: stats.expon(scale=2)),
        "add": below,
        "carry": below,
    }
    return Case(layout, items, *_outcomes(rng, 10), latents, success, {})
