"""The main job of a scenario: profiles of everybody, and forecasts of items held out."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots
from ..common.files import write_text
from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..inference.fitting import fit
from ..inference.forecasts.forecasting import Forecast
from ..layouts import Layout
from ..validation.prediction.baselines import Aggregate
from ..validation.prediction.cross_validate import Method, cross_validate
from ..validation.prediction.layouts import FittedLayout
from ..validation.prediction.result import CrossValidation
from ..validation.prediction.score import score_forecast
from ..validation.prediction.splits import masked
from .figures import Figure
from .scenario import Scenario

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
        Success on a fifth of the items, by a second fit that did not see them.
    scores : dict of str to DataFrame
        Scores of that forecast, and of the aggregate's, per subject.
    """

    evaluation: Evaluation
    fit: Fit
    forecast: Forecast
    scores: dict[str, pd.DataFrame]

    @classmethod
    def run(
        cls,
        layout: Layout,
        evaluation: Evaluation,
        *,
        method: Literal["nuts", "grid"],
        seed: int,
        draws: int,
        progressbar: bool,
    ) -> "Study":
        """Fit everybody on all items, then again without a random fifth of the items."""
        infer = partial(fit, layout, method=method, draws=draws, seed=seed, progressbar=progressbar)
        everything = infer(evaluation)
        count = max(1, round(_HELD_OUT * len(evaluation.items)))
        chosen = np.random.default_rng(seed).permutation(len(evaluation.items))[:count]
        held_out = evaluation.items.index[np.sort(chosen)]
        training = masked(evaluation, held_out)
        blind = infer(training)
        forecast = blind.forecast(evaluation.items.loc[held_out])
        aggregate = Aggregate().forecast(training, list(held_out))
        scores = {
            layout.name: score_forecast(forecast, evaluation),
            "aggregate": score_forecast(aggregate, evaluation),
        }
        return cls(evaluation, everything, forecast, scores)

    def write(self, folder: Path) -> list[Path]:
        """Write the fit, the diagrams, tables and figures into an empty or new folder.

        Returns
        -------
        list of Path
            ``fit.nc``, ``layout.svg`` and ``.png``, ``profiles.csv``, ``diagnostics.csv``,
            ``forecasts.csv``, ``scores.csv``, and a PNG for each of `figures`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        layout = self.fit.layout
        written = [self.fit.save(folder / "fit.nc")]  # first: it took the longest to come by
        written += [layout.draw(folder / f"layout.{ending}") for ending in ("svg", "png")]
        tables = {
            "profiles": self.fit.profiles(),
            "diagnostics": self.fit.diagnostics().reset_index(),
            "forecasts": self.forecast.to_frame(),
            "scores": pd.concat(self.scores, names=["method"]).reset_index(),
        }
        for name, table in tables.items():
            written.append(write_text(folder / f"{name}.csv", table.to_csv(index=False)))
        for name, axes in self.figures().items():
            written.append(folder / f"{name}.png")
            figure = np.ravel(axes)[0].get_figure(root=True)
            figure.savefig(written[-1], dpi=150)
            plt.close(figure)
        return written

    def figures(self) -> dict[str, Any]:
        """Draw the study's figures, by file name; those of one subject show the middle one."""
        rates = self.fit.diagnostics()["success"].loc[self.fit.subjects]
        forecast = self.forecast.data["subject"].to_numpy()
        middle = str((rates[rates.index.isin(forecast)] - 0.5).abs().idxmin())
        ranged = [
            feature.name
            for feature in self.fit.layout.meta_features
            if not feature.levels and not feature.labels and feature.given is None
        ]
        drawn = {
            "profiles": plots.profile_forest(self.fit),
            "prior-posterior": plots.prior_posterior(self.fit, middle),
            "forecast": plots.forecast_plot(self.forecast, middle, self.evaluation),
            "brier": plots.brier_against_success(self.scores, success=rates),
            "reliability": plots.reliability(self.forecast, self.evaluation),
        }
        if sum(latent.kind == "capability" for latent in self.fit.layout.latents) > 1:
            drawn["capabilities"] = plots.capability_scatter(self.fit)
        if len(ranged) > 1:
            x, y = ranged[:2]
            drawn["characteristic-grid"] = plots.agent_characteristic_grid(
                self.evaluation, middle, x, y, layout=self.fit.layout
            )
        return drawn


def score_methods(
    scenario: Scenario, evaluation: Evaluation, *, repeats: int, progressbar: bool = True
) -> CrossValidation:
    """Score all layouts and the baselines on items held out.

    Parameters
    ----------
    scenario : Scenario
        The study.
    evaluation : Evaluation
        Items and outcomes of this study.
    repeats : int
        Random splits.
    progressbar : bool
        Show splits done and time left.

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
    baselines: dict[str, Method] = {
        "aggregate": "aggregate",
        "logistic regression": "logistic",
        "random forest": "forest",
    }
    return cross_validate(
        methods | baselines,
        evaluation,
        repeats=repeats,
        columns=scenario.columns,
        seed=1,
        progressbar=progressbar,
    )


def judge(scenario: Scenario, scores: CrossValidation) -> list[Figure]:
    """Hold mean Brier scores on held-out items against that of the recommended layout.

    Parameters
    ----------
    scenario : Scenario
        The study; its `windows` say of which subjects.
    scores : CrossValidation
        Of all methods.

    Returns
    -------
    list of Figure
        The recommended layout's score, which is to be below its rival's or else every other
        method's, and each of those.
    """
    figures = []
    for window in scenario.windows:
        means = scores.summary(success=window)["mean"]
        ours, others = float(means[scenario.recommended]), means.drop(scenario.recommended)
        rival = scenario.rival
        bound = float(others.min() if rival is None else others[rival])
        goal = f"above {ours:.4f}, that of the {scenario.recommended}"
        who = "" if window == (0, 1) else ", subjects with success in [{:g}, {:g}]".format(*window)
        name = f"{{}}: mean Brier on held-out items{who}".format
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
