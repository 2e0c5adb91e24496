"""Study: profiles of all subjects of a scenario, and forecasts of held-out items."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots
from ..common.files import csv_text, write_text
from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..inference.fitting import fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.posterior.posterior import success_rates
from ..layouts import Layout
from ..validation.prediction.cross_validate import Method, cross_validate
from ..validation.prediction.estimators import Estimator
from ..validation.prediction.layouts import FittedLayout
from ..validation.prediction.outcomes import attempted_pairs
from ..validation.prediction.result import CrossValidation
from ..validation.prediction.score import score_forecast
from ..validation.prediction.splits import Cells, Fold, Items
from .figures import Figure
from .scenario import POPULATION, Scenario

_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class Study:
    """A layout fitted to an evaluation.

    Attributes
    ----------
    evaluation : Evaluation
        Items and outcomes.
    fit : Fit
        Profiles from all outcomes.
    forecast : Forecast
        Forecast of a fifth of the items, or of the outcomes, by a second fit to the others.
    unseen : Evaluation
        The outcomes that are forecast.
    scores : dict of str to DataFrame
        Scores of that forecast and of the aggregate, by subject.
    """

    evaluation: Evaluation
    fit: Fit
    forecast: Forecast
    unseen: Evaluation
    scores: dict[str, pd.DataFrame]

    @classmethod
    def run(
        cls,
        layout: Layout,
        evaluation: Evaluation,
        *,
        method: Literal["nuts", "grid"],
        seed: int,
        progressbar: bool,
        **sampling: Any,
    ) -> "Study":
        """Fit all subjects on all items, then again without a random fifth of the items.

        For a joint layout, a fifth of the outcomes is held out instead, since such a layout uses
        the outcomes of other subjects on an item.
        """
        options: dict[str, Any] = {
            "method": "nuts" if layout.joint else method,
            "seed": seed,
            "progressbar": progressbar,
            **sampling,
        }
        everything = fit(layout, evaluation, **options)
        split = Cells(_HELD_OUT) if layout.joint else Items(_HELD_OUT)
        (fold,) = split.draw(evaluation, np.random.default_rng(seed))
        training, unseen = fold.training(evaluation), _unseen(evaluation, fold)
        places = np.unique(attempted_pairs(evaluation)[1][fold.test])
        held_out = list(evaluation.item_table.index[places])
        blind = fit(layout, training, **options)
        forecast = blind.forecast(evaluation.items.loc[held_out])
        aggregate = Estimator("aggregate").forecast(training, held_out)
        scores = {
            layout.name: score_forecast(forecast, unseen),
            "aggregate": score_forecast(aggregate, unseen),
        }
        return cls(evaluation, everything, forecast, unseen, scores)

    def write(self, folder: Path) -> list[Path]:
        """Write the fit, the diagrams, tables and figures into an empty or new folder.

        Returns
        -------
        list of Path
            ``fit.nc``, ``layout.svg`` and ``.png``, ``profiles.csv``, ``diagnostics.csv``,
            ``forecasts.csv``, ``scores.csv``, and a PNG for each of `figures`; for a joint layout
            also ``population.csv`` and ``items.csv``.
        """
        folder.mkdir(parents=True, exist_ok=True)
        layout = self.fit.layout
        written = [self.fit.save(folder / "fit.nc")]  # first, since the fit took the longest
        written += [layout.draw(folder / f"layout.{ending}") for ending in ("svg", "png")]
        tables = {
            "profiles": self.fit.profiles(),
            "diagnostics": self.fit.diagnostics().reset_index(),
            "forecasts": self.forecast.to_frame(),
            "scores": pd.concat(self.scores, names=["method"]).reset_index(),
        }
        if layout.joint:
            tables |= {"population": self.fit.population(), "items": self.fit.items()}
        for name, table in tables.items():
            written.append(write_text(folder / f"{name}.csv", csv_text(table)))
        for name, axes in self.figures().items():
            written.append(folder / f"{name}.png")
            figure = np.ravel(axes)[0].get_figure(root=True)
            figure.savefig(written[-1], dpi=150)
            plt.close(figure)
        return written

    def figures(self) -> dict[str, Any]:
        """Draw the study's figures, by file name; those of one subject show the median subject."""
        rates = success_rates(self.fit)
        middle = str((rates[rates.index.isin(self.unseen.subjects)] - 0.5).abs().idxmin())
        ranged = [
            feature.name
            for feature in self.fit.layout.meta_features
            if not feature.levels and not feature.labels and feature.given is None
        ]
        drawn = {
            "profiles": plots.profile_forest(self.fit),
            "prior-posterior": plots.prior_posterior(self.fit, middle),
            "forecast": plots.forecast_plot(self.forecast, middle, self.unseen),
            "brier": plots.brier_against_success(self.scores, success=rates),
            "reliability": plots.reliability(self.forecast, self.unseen),
        }
        if self.fit.layout.joint:
            drawn["population"] = plots.population_forest(self.fit)
        if sum(latent.kind == "capability" for latent in self.fit.layout.latents) > 1:
            drawn["capabilities"] = plots.capability_scatter(self.fit)
        if len(ranged) > 1:
            x, y = ranged[:2]
            drawn["characteristic-grid"] = plots.agent_characteristic_grid(
                self.evaluation, middle, x, y, layout=self.fit.layout
            )
        return drawn


def _unseen(evaluation: Evaluation, fold: Fold) -> Evaluation:
    """Keep the outcomes that are predicted, and the subjects who have any."""
    people, pair = evaluation.subject_table, attempted_pairs(evaluation)[2]
    cells = evaluation.coded.take(fold.test[pair])
    chosen = np.unique(cells.subject)
    cells = cells.select(subjects=chosen)
    return Evaluation.of_cells(evaluation.items, people.index[chosen], cells, subjects=people)


def score_methods(
    scenario: Scenario,
    evaluation: Evaluation,
    *,
    repeats: int,
    population: Layout | None = None,
    progressbar: bool = True,
) -> CrossValidation:
    """Score all layouts and the baselines on held-out items, or on held-out outcomes.

    Parameters
    ----------
    scenario : Scenario
        The study.
    evaluation : Evaluation
        Items and outcomes of this study.
    repeats : int
        Number of random splits.
    population : Layout, optional
        A joint layout, which is scored as well.
    progressbar : bool
        Whether to show the number of finished splits and the remaining time.

    Returns
    -------
    CrossValidation
        Scores by method, split and subject.

    Raises
    ------
    DataError
        When the items do not fit a layout.
    """
    methods: dict[str, Method] = {
        name: FittedLayout(make(), method=scenario.method)
        for name, make in scenario.layouts.items()
    }
    if population is not None:
        methods[POPULATION] = FittedLayout(population)
    return cross_validate(
        methods | dict(scenario.baselines),
        evaluation,
        split=scenario.split,
        repeats=repeats,
        columns=scenario.columns,
        seed=1,
        progressbar=progressbar,
    )


def judge(scenario: Scenario, scores: CrossValidation) -> list[Figure]:
    """Compare mean held-out Brier scores with that of the recommended layout.

    Parameters
    ----------
    scenario : Scenario
        The study; its `windows` select the subjects.
    scores : CrossValidation
        Scores of all methods.

    Returns
    -------
    list of Figure
        The score of the recommended layout, which should be below that of its rival, or of all
        other methods; and the score of each other method, except for the population layout, which
        has no goal.
    """
    figures = []
    for window in scenario.windows:
        means = scores.summary(success=window)["mean"].drop(POPULATION, errors="ignore")
        ours, others = float(means[scenario.recommended]), means.drop(scenario.recommended)
        rival = scenario.rival
        bound = float(others.min() if rival is None else others[rival])
        goal = f"above {ours:.4f}, that of the {scenario.recommended}"
        who = "" if window == (0, 1) else ", subjects with success in [{:g}, {:g}]".format(*window)
        name = f"{{}}: mean Brier on held-out {scenario.split}{who}".format
        figures += [
            Figure(
                name(scenario.recommended),
                ours,
                "<",
                bound,
                "below every other method's" if rival is None else f"below the {rival}",
            ),
            *(
                Figure(name(method), float(value), ">", ours, goal)
                for method, value in others.items()
            ),
        ]
    return figures
