"""Draws of a fit that is kept in memory."""

import numpy as np

from ...evaluations.evaluation import Evaluation
from ...layouts import Layout
from ..model.prior import draw_prior
from ..sampling.draws import Sampled, SamplingOptions
from ..sampling.engine import Battery
from .assembly import Training, Tried, assemble, marks
from .posterior import Posterior


class Collected:
    """Draws of subjects kept in memory until all are there.

    Parameters
    ----------
    layout : Layout
        What is fitted.
    evaluation : Evaluation
        To what.
    battery : Battery
        Of both.
    options : SamplingOptions
        How subjects are sampled.
    seed : int
        From which seed.
    method : str
        "nuts" or "grid".
    """

    def __init__(
        self,
        layout: Layout,
        evaluation: Evaluation,
        battery: Battery,
        options: SamplingOptions,
        seed: int,
        method: str = "nuts",
    ) -> None:
        self.seed, self._method = seed, method
        self._layout, self._evaluation, self._battery = layout, evaluation, battery
        self._options = options
        self._tried: dict[str, Tried] = {}
        self._posterior: dict[str, dict[str, np.ndarray]] = {}
        self._statistics: dict[str, dict[str, np.ndarray]] = {}

    @property
    def finished(self) -> set[str]:
        """Subjects that have draws."""
        return {subject for subject, tried in self._tried.items() if tried.failure is None}

    def add(self, sampled: Sampled) -> None:
        """Take what came of one subject."""
        self._tried[sampled.subject] = Tried.of(sampled)
        if sampled.draws is not None:
            for kept, arrays in (
                (self._posterior, sampled.draws.posterior),
                (self._statistics, sampled.draws.statistics),
            ):
                for name, values in arrays.items():
                    kept.setdefault(name, {})[sampled.subject] = values

    def posterior(self) -> Posterior:
        """Join what there is; the draws are handed over, so that they lie in memory once.

        Returns
        -------
        Posterior
            Subjects in the evaluation's order.
        """
        finished = self.finished
        subjects = [subject for subject in self._evaluation.subjects if subject in finished]

        def joined(kept: dict[str, dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
            found = {}
            for name in list(kept):
                by_subject = kept.pop(name)
                found[name] = np.stack([by_subject[subject] for subject in subjects])
            return found

        return assemble(
            self._layout,
            Training.of(self._layout, self._battery.features, self._evaluation, subjects),
            {name: drawn[None] for name, drawn in draw_prior(self._layout).items()},
            joined(self._posterior),
            joined(self._statistics),
            marks(self._layout, self._options, self.seed, self._method),
            {
                subject: self._tried[subject]
                for subject in self._evaluation.subjects
                if subject in self._tried
            },
        )
