"""What a subject did on the items it was fitted on, and how far the items mattered."""

from typing import NamedTuple

import numpy as np

from ..element_draws import success_rates
from ..forecasts.blocks import distinct
from ..forecasts.streaming import every_draw, probabilities
from ..ladders import Rows
from ..loo.pointwise import Attempted
from ..results import Fit
from ..wording import many
from .finding import Finding
from .rules import Rules

_MEMORY_MIB = 8.0


class Training(NamedTuple):
    """A subject's training outcomes.

    Attributes
    ----------
    successes, trials, items : int
        Counts; items are those attempted.
    spread : float
        Standard deviation over them of the posterior mean of the success probability; NaN where
        all items are alike, so that it cannot vary.
    mean : float or None
        Where outcomes are several, graded or scores: the mean of all, as parts of the highest. Then
        counts are of steps, and the spread is that of the items' expected outcomes.
    """

    successes: int
    trials: int
    items: int
    spread: float
    mean: float | None = None

    @classmethod
    def of(cls, fit: Fit, row: int) -> "Training":
        """Read and forecast them, by the subject's place in the fit."""
        attempted = Attempted.of(fit, row)
        if attempted.steps is not None:
            return cls._of_steps(fit, row, attempted, attempted.steps)
        items, features = len(attempted.names), attempted.features
        means = np.empty(items)
        for places, chances in probabilities(fit, row, features, items, memory_mib=_MEMORY_MIB):
            means[places] = chances.mean(axis=1)
        alike = not distinct(features, items)[1].any()
        spread = np.nan if alike else float(means.std())
        return cls(int(attempted.successes.sum()), int(attempted.trials.sum()), items, spread)

    @classmethod
    def _of_steps(cls, fit: Fit, row: int, attempted: Attempted, steps: Rows) -> "Training":
        _, first = np.unique(steps.places, return_index=True)
        features = {
            part.name: attempted.features[part.name][first] for part in fit.layout.meta_features
        }
        means = np.zeros(len(first))
        for leaf in fit.layout.outcomes:
            highest = leaf.range.high * len(fit.layout.outcomes)
            for places, values in every_draw(
                fit, row, features, len(first), leaf, memory_mib=_MEMORY_MIB
            ):
                means[places] += values.mean(axis=1) / highest
        alike = not distinct(features, len(first))[1].any()
        counts = int(attempted.successes.sum()), int(attempted.trials.sum())
        rate = float(success_rates(fit, np.array([row])).iloc[0])
        return cls(*counts, len(first), np.nan if alike else float(means.std()), rate)

    @property
    def rate(self) -> float:
        """Success rate."""
        return self.successes / self.trials if self.mean is None else self.mean

    def uniform(self, rules: Rules) -> bool:
        """Whether success hardly depends on the items."""
        return self.spread < rules.spread

    def silent(self, rules: Rules) -> bool:
        """Whether nothing follows for single elements: uniform, and short of nearly all."""
        return self.uniform(rules) and self.rate < rules.nearly_all

    def level(self, rules: Rules) -> str:
        """Say whether it passes ``nearly all``, ``nearly nothing``, or is ``in between``."""
        if self.rate >= rules.nearly_all:
            return "nearly all"
        return "nearly nothing" if self.rate <= rules.nearly_nothing else "in between"

    def finding(self, subject: str, rules: Rules) -> Finding:
        """Say how much the subject passes, and whether that depends on the items."""
        of = many(self.items, "item")
        if self.mean is not None:
            of = f"what {of} give"
        elif self.trials != self.items:
            of = f"{many(self.trials, 'trial')} on {of}"
        level = self.level(rules)
        how = "" if level == "in between" else f"{level}: "
        verb = "passes" if self.mean is None else "gets"
        text = f"{subject} {verb} {how}{self.rate:.2f} of {of}"
        if self.silent(rules):
            text += ", whatever they ask as far as the layout sees; strengths and weaknesses "
            text += "cannot be told from that"
        elif self.successes == self.trials:
            text += "; how far its abilities reach beyond them cannot be told"
        return Finding("overall", value=self.rate, text=text)
