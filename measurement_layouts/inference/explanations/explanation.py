"""The explanation of one forecast, as tables and as sentences."""

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from ...common.digits import significant, with_interval
from ...common.messages import many

_NAMED = 5  # derived nodes that the sentences name


class Estimate(NamedTuple):
    """A posterior mean and the ends of its interval.

    Examples
    --------
    >>> print(Estimate(0.6, 0.4, 0.8))
    0.600 [0.400, 0.800]
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return with_interval(*self)


def ends_of(what: str) -> list[str]:
    """Name the columns of a mean and of the ends of its interval."""
    return [what, f"{what}_low", f"{what}_high"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """What one subject's forecast on one item consists of; in words when printed.

    Made by `Fit.explain`.

    Attributes
    ----------
    subject, item, outcome : str
        Names of the subject, the item and the outcome.
    prob : float
        Mass of the equal-tailed intervals.
    success : Estimate
        Probability of success in the layout's own forecast: ``mean``, ``low``, ``high``.
    nodes : DataFrame
        Indexed by derived node whose values are probabilities, ``node[label]`` for one label, in
        the layout's order. ``fails`` is the probability that it fails, one minus its value, with
        ``fails_low`` and ``fails_high``.
    changes : DataFrame
        Indexed by change: the ``success`` probability after it and the ``gain``, with their
        intervals.
    nearest : DataFrame
        Indexed by training item, the nearest first: ``distance``, ``successes`` and ``trials``.
    remark : str
        Properties of the item that lie outside the subject's training items (else empty).

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> sight, reach = (ml.Capability(name, low=0, high=9) for name in ("sight", "reach"))
    >>> small, far = (ml.MetaFeature(name, low=0, high=9) for name in ("small", "far"))
    >>> sees = ml.Derived("sees", logistic(sight - small))
    >>> layout = ml.Layout("fetch", ml.Success("got", sees * logistic(reach - far)))
    >>> items = pd.DataFrame({"small": [1, 7, 1, 7] * 5, "far": [1, 1, 2, 2] * 5})
    >>> outcomes = pd.DataFrame([[1, 0, 1, 0] * 5], ["Ann"])
    >>> fitted = ml.fit(layout, ml.Evaluation.from_wide(outcomes, items), method="grid")
    >>> print(fitted.explain({"small": 6, "far": 3}, neighbours=2))
    Ann is expected to fail new item: success 0.142 ...
    """

    subject: str
    item: str
    outcome: str
    prob: float
    success: Estimate
    nodes: pd.DataFrame
    changes: pd.DataFrame
    nearest: pd.DataFrame
    remark: str

    @property
    def sentences(self) -> list[str]:
        """The explanation in sentences, one string per topic."""
        if self.success.low < 0.5 < self.success.high:
            first = f"It is uncertain whether {self.subject} succeeds on {self.item}"
        else:
            verb = "fail" if self.success.mean < 0.5 else "succeed on"
            first = f"{self.subject} is expected to {verb} {self.item}"
        sentences = [f"{first}: success {self.success}."]
        if len(self.nodes):
            most = self.nodes.nlargest(_NAMED, "fails").itertuples(name=None)
            chances = ", ".join(f"{name} {Estimate(*numbers)}" for name, *numbers in most)
            sentences.append(f"Probability of failing, by node of the layout: {chances}.")
        before = significant(self.success.mean, self.success.high - self.success.low)
        for name, *numbers in self.changes.itertuples(name=None):
            sentences.append(f"With {name}: success {before} → {Estimate(*numbers[:3])}.")
        if len(self.nearest):
            counts = self.nearest[["successes", "trials"]]
            passed, tried = counts.sum()
            names = ", ".join(f"{one.Index} ({one[1]} of {one[2]})" for one in counts.itertuples())
            sentences.append(
                f"On the {many(len(self.nearest), 'nearest training item')}, {self.subject} "
                f"succeeded in {passed} of {many(tried, 'attempt')}: {names}."
            )
        if self.remark:
            sentences.append(f"Outside the training items: {self.remark}.")
        return sentences

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        return (
            f"<Explanation of {self.subject} on {self.item}: success {self.success}, "
            f"{many(len(self.nodes), 'derived node')}, {many(len(self.changes), 'change')}>"
        )

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- {sentence}" for sentence in self.sentences)
