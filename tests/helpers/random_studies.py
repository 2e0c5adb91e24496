"""Random layouts with outcomes: one subject or a cohort, and all that outcomes may depend on."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import (
    band,
    generalised_mean,
    guessing,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
)

SUBJECTS, ITEMS = 5, 7
PLACES = ("near", "far")
SCHOOL, TASK = ml.Category("school", per="subject"), ml.Category("task")
ROOM = ml.Category("room")  # some tasks are in no item of a room
TESTS = ml.MetaFeature("tests", low=-3, high=3, per="subject")
SIZE = ml.MetaFeature("size", low=0, high=3)
LOAD = ml.MetaFeature("load", low=0, high=2, labels=PLACES, dim="place")
SHOWN = ml.MetaFeature("shown", levels=(0, 1))
LOW, HIGH = (ml.MetaFeature(name, low=-4, high=4) for name in ("low", "high"))


def normal(mu, sigma):
    return ml.Prior("Normal", mu=mu, sigma=sigma)


class _Drawing:
    """A layout whose parts are drawn one after the other."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.joint = self.often()

    def often(self, chance=0.5):
        return bool(self.rng.random() < chance)

    def one_of(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def scale(self, name):
        """A number, or a spread with one of several priors."""
        if self.often(0.3):
            return float(self.rng.uniform(0.5, 2))
        prior = self.one_of(
            None, ml.Prior("Exponential", lam=2), ml.Prior("Gamma", alpha=4, beta=4)
        )
        return ml.Spread(name, prior=prior) if self.joint else ml.Slope(name, prior=prior)

    def ability(self):
        """A capability about a mean, in one of several families."""
        if not self.joint and self.often(0.3):
            return ml.Capability("ability", low=0, high=4)
        mean = 0.5
        if self.joint:
            mean = ml.Bias("mean", per="population", prior=normal(0, 2))
            if self.often():
                mean = mean + ml.Bias("gain", per="population") * TESTS
            if self.often():
                mean = mean + ml.Bias("ofSchool", per=SCHOOL, prior=normal(0, self.scale("among")))
        scale = self.scale("spread")
        prior = self.one_of(
            normal(mean, scale),
            ml.Prior("Gumbel", mu=mean, beta=scale),
            ml.Prior("StudentT", nu=5, mu=mean, sigma=scale),
        )
        return ml.Capability("ability", prior=prior)

    def effects(self):
        """Effects of items, tasks and pairs, where subjects share them."""
        effects = 0
        if self.often():
            sums = ml.Prior("ZeroSumNormal", sigma=self.scale("easeSpread"))
            prior = self.one_of(sums, normal(0, 1.5), normal(0, self.scale("easeSpread")))
            owner = self.one_of("item", TASK)
            if self.often():
                mean = ml.Bias("ofTask", per=TASK, prior=normal(0, self.scale("amongTasks")))
                owner, prior = "item", normal(mean, self.scale("easeSpread"))
            effects = effects + ml.Bias("ease", per=owner, prior=prior)
        if self.often(0.4):
            pair = self.one_of(("subject", TASK), (SCHOOL, TASK), (TASK, ROOM))
            mean = 0
            if self.often():
                coarser = SCHOOL if SCHOOL in pair else TASK
                mean = ml.Bias("ofPairs", per=coarser, prior=normal(0, 1.5))
            prior = normal(mean, self.scale("pairSpread"))
            effects = effects + ml.Bias("pair", per=pair, prior=prior)
        return effects

    def owner(self):
        """What has a value of its own."""
        return self.one_of("subject", "population", "item") if self.joint else "subject"

    def chance(self, unseen=None):
        """The chance of success, whose parts are demands, a band and labels."""
        margin = self.ability() - SIZE if unseen is None else self.ability() - unseen
        if self.joint:
            margin = margin + self.effects()
        chance = logistic(margin, ml.Slope("slope", per=self.owner()) if self.often() else 1.0)
        if self.often(0.3):
            risk = ml.Propensity("risk", prior=normal(0, self.scale("riskSpread")))
            chance = chance * band(risk, LOW, LOW + 1.5, slope=2)
        if self.often(0.3):
            prior = normal(1, self.scale("skillSpread"))
            skill = ml.Capability("skill", prior=prior, labels=PLACES, dim="place")
            able = logistic(skill - LOAD)
            whole = self.one_of(
                product(able, over="place"), generalised_mean(able, power=-2.0, over="place")
            )
            chance = presence(chance * whole, SHOWN) if self.often() else chance * whole
        owner = self.one_of("subject", "population") if self.joint else "subject"
        noise = ml.Noise("noise", per=owner, prior=ml.Prior("Beta", alpha=1, beta=4))
        return self.one_of(
            chance, guessing(chance, noise), mixture(chance, by=noise, toward=0.4)
        ), noise

    def layout(self, name):
        kind = self.one_of("success", "success", "failure", "unseen", "graded", "score", "several")
        if kind == "unseen":
            hard = ml.Unseen("hard", SIZE, self.scale("scatter"))
            return ml.Layout(name, ml.Success("solved", self.chance(hard)[0]))
        chance, noise = self.chance()
        graded = self.graded(chance)
        score = ml.Score(
            "credit", chance, precision=self.one_of(2.0, ml.Slope("precise")), places=3
        )
        if kind == "failure":
            chance = mixture(chance, by=noise, toward=mean_failure)
        solved = ml.Success("solved", chance)
        outcomes = {"graded": [graded], "score": [score], "several": [solved, graded]}
        return ml.Layout(name, *outcomes.get(kind, [solved]))

    def graded(self, chance):
        owner = self.one_of("subject", "item") if self.joint else "subject"
        gap = self.one_of(
            1.3,
            ml.Slope("gap", per=owner),
            ml.Slope("gaps", labels=("first", "second"), dim="step", per=owner),
        )
        return ml.Graded("path", chance, grades=("lost", "detour", "near", "direct"), gap=gap)

    def evaluation(self, layout):
        """Outcomes with missing cells, and an item or a subject that has few."""
        rng, names = self.rng, [f"i{number}" for number in range(ITEMS)]
        low = rng.uniform(-2, 1, ITEMS)
        items = pd.DataFrame({"size": rng.uniform(0, 3, ITEMS), "low": low, "shown": 1}, names)
        items["shown"] = rng.permutation([0, 1, 1, 1, 0, 1, 1])
        items["task"] = rng.permutation(list("aabbccc"))
        items["room"] = rng.choice(list("uvw"), ITEMS)
        for place in PLACES:
            items[f"load[{place}]"] = rng.uniform(0, 2, ITEMS)
        who = [f"s{number}" for number in range(SUBJECTS)]
        columns = {"tests": rng.uniform(-2, 2, SUBJECTS), "school": list("xyxyx")}
        subjects = pd.DataFrame(columns, who)
        missing = rng.random((SUBJECTS, ITEMS)) < self.one_of(0.0, 0.2, 0.5)
        if self.often(0.3):
            missing[1:, 2] = True
        missing[:, 0] = missing[0] = False
        if layout.steps is None:
            trials = np.where(missing, 0, rng.integers(1, self.one_of(2, 4), missing.shape))
            counts = (pd.DataFrame(n, who, names) for n in (rng.binomial(trials, 0.6), trials))
            return ml.Evaluation(items, *counts, subjects=subjects)
        tables = {
            outcome.name: pd.DataFrame(
                np.where(missing, np.nan, self._values(outcome, missing.shape)), who, names
            )
            for outcome in layout.outcomes
        }
        return ml.Evaluation.of_outcomes(layout, tables, items, subjects=subjects)

    def _values(self, outcome, shape):
        if isinstance(outcome, ml.Score):
            return self.rng.integers(0, 4, shape) / 3
        return self.rng.integers(0, 2 if isinstance(outcome, ml.Success) else 4, shape)


def random_study(seed):
    """A layout and an evaluation, the same for the same seed."""
    drawing = _Drawing(seed)
    layout = drawing.layout(f"random {seed}")
    return layout, drawing.evaluation(layout)
