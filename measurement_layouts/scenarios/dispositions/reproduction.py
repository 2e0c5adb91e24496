"""What measures and profiles show on simulated models, whose dispositions are known."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ...dispositions.comparison import compare_choices
from ...dispositions.measures import misalignment
from ...dispositions.pulls import choices
from ...dispositions.self_report import self_report_correlations
from ...dispositions.support import support_by
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...validation.prediction.cross_validate import cross_validate
from ...validation.prediction.layouts import FittedLayout
from ..figures import Figure, Reproduction
from ..scenario import Scenario
from . import COLUMNS, RECOMMENDED, disposition_layout
from .implied import ALL, distances, implied_misalignment
from .simulated import SimulatedStudy, simulated_study
from .traits import TRAITS, supports

ALIGNED = "sim-01"
"""The model whose rates are people's."""
PEOPLE = "people's rate"
_STUDIES = 4
_SAMPLING: dict[str, Any] = {"chains": 2, "draws": 500, "tune": 500, "seed": 1}
_SAMPLING["progressbar"] = False


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare misalignment, profiles, forecasts and self-reports with the known dispositions."""
    study = simulated_study()
    judgments, evaluation = study.judgments, choices(study.judgments)
    gaps = misalignment(judgments).xs(ALL, level="trait")[["misalignment", "corrected"]]
    fitted = fit(disposition_layout(), evaluation, **_SAMPLING)
    implied = implied_misalignment(fitted, evaluation).xs(ALL, level="trait")
    profiles = gaps.join(implied.add_prefix("by profile: "))
    profiles["true"] = true_misalignment(study, evaluation.items)
    replicates, briers = summary(recovery()), held_out(evaluation)
    correlations = self_report_correlations(judgments)
    leaning = study.truth.filter(like="disposition[").abs().max(axis=1) > 0
    corrected = compare_choices(judgments)["corrected"].xs(ALIGNED, level="model").to_numpy()
    in_errors = corrected.mean() / (corrected.std(ddof=1) / len(corrected) ** 0.5)
    few = "far from 0 with 10 votes and 20 samples"
    figures = [
        Figure(
            "misalignment of a perfectly aligned model, by the published measure",
            *(float(gaps["misalignment"].astype(float)[ALIGNED]), ">", 0.05, few),
        ),
        Figure(
            f"its corrected misalignment, {corrected.mean():+.4f}, in standard errors",
            *(abs(float(in_errors)), "<=", 3),
            published=0,
        ),
        _profile_figure(profiles),
        *_recovery_figures(replicates),
        *_forecast_figures(briers[leaning]),
    ]
    for trait, loading in study.loadings.items():
        rho, low = (float(correlations[name].astype(float)[str(trait)]) for name in ("rho", "low"))
        depends = "does" if loading else "does not"
        name = f"{trait}: lower end of the interval of Spearman's rho {rho:.2f} of self-report and "
        name += f"behaviour ({depends} depend on the same disposition)"
        figures.append(Figure(name, low, ">" if loading else "<", 0))
    by_group = [
        groups.join(
            support_by(judgments, str(attribute)).add_prefix("obtained "), on=["trait", "group"]
        )
        for attribute, groups in supports().groupby("attribute", sort=False)
    ]
    tables = {
        "misalignment, measured and by profiles": profiles,
        "recovery, four studies of a quarter of the size": replicates,
        "held-out Brier scores": briers,
        "self-reports against behaviour": correlations,
        "support by groups of raters": pd.concat(by_group),
    }
    return Reproduction(figures, tables)


def true_misalignment(study: SimulatedStudy, items: pd.DataFrame) -> "pd.Series[float]":
    """Compute the misalignment of each model from its true profile."""
    truth = study.truth.drop(columns="size").astype(float)
    leaning = {trait: truth[f"disposition[{trait}]"].to_numpy() for trait in TRAITS}
    slope, noise = truth["slope"].to_numpy(), truth["noise"].to_numpy()
    return pd.Series(distances(slope, noise, leaning, items)[ALL], truth.index)


def recovered(study: SimulatedStudy, fit: Fit) -> pd.DataFrame:
    """Compare profiles with the truth: one row per model and element."""
    table = fit.profiles(prob=0.9).query("node != 'peoplesSpread'")
    label = table["label"].fillna("")
    element = table["node"] + ("[" + label + "]").where(label != "", "")
    true, cells = study.truth.to_dict("index"), zip(table["subject"], element, strict=True)
    table = table.assign(truth=[float(true[model][name]) for model, name in cells])
    covered = table["truth"].between(table["low"], table["high"])
    return table.assign(error=table["mean"] - table["truth"], covered=covered)


def recovery() -> pd.DataFrame:
    """Fit studies of a quarter of the size, and compare their profiles with the truth."""
    tables = []
    for number in range(_STUDIES):
        study = simulated_study(101 + number, per_statement=4)
        fitted = fit(disposition_layout(), choices(study.judgments), reruns=0, **_SAMPLING)
        tables.append(recovered(study, fitted).assign(study=number))
    return pd.concat(tables, ignore_index=True)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Compute bias and coverage by node, without noise of 0, which no interval contains."""
    inside = table[~((table["node"] == "noise") & (table["truth"] == 0))]
    nodes = inside.assign(square=inside["error"] ** 2).groupby("node", sort=False)
    bias = inside.groupby(["node", "study"], sort=False)["error"].mean().groupby("node")
    means = nodes[["square", "sd", "covered"]].mean()
    return pd.DataFrame(
        {
            "elements": nodes.size(),
            "bias": bias.mean(),
            "se": bias.sem(),
            "rmse": means["square"] ** 0.5,
            "sd": means["sd"],
            "coverage": means["covered"],
        }
    )


class AsPeople:
    """Assessor that forecasts the rate of people."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS[:1]

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Return the rate of people in the scenario of each cell."""
        return np.asarray(training.items.loc[cells["item"], COLUMNS[0]], dtype=float)


def held_out(evaluation: Evaluation) -> pd.DataFrame:
    """Score forecasts of held-out scenarios, by model."""
    methods = {
        RECOMMENDED: FittedLayout(disposition_layout(), draws=300, tune=400),
        "aggregate": "aggregate",
        PEOPLE: AsPeople(),
        "logistic regression": "logistic",
    }
    options: dict[str, Any] = {"columns": COLUMNS, "seed": 1, "progressbar": False}
    return cross_validate(methods, evaluation, repeats=1, **options).per_subject()


def _profile_figure(table: pd.DataFrame) -> Figure:
    """Compare the mean errors of misalignment by profiles and as measured."""
    errors = table.drop(columns="true").sub(table["true"], axis=0).abs().mean()
    measured, profile = errors[["misalignment", "corrected"]], errors["by profile: misalignment"]
    name = f"mean error of the misalignment by profiles, {len(table)} models (measured: "
    name += f"misalignment {measured.iloc[0]:.3f}, corrected {measured.iloc[1]:.3f})"
    return Figure(name, float(profile), "<", float(measured.min()), "below that of both measures")


def _recovery_figures(table: pd.DataFrame) -> list[Figure]:
    """Judge coverage, and bias over four studies by Student's t with 3 degrees of freedom."""
    figures = []
    for node, row in table.iterrows():
        name = f"coverage of 90 % intervals, {row['elements']:.0f} x {node}: distance from 0.9"
        figures.append(Figure(name, abs(float(row["coverage"]) - 0.9), "<=", 0.05))
        name = f"bias of {node}, {row['bias']:+.4f}, in standard errors over studies"
        figures.append(Figure(name, abs(float(row["bias"] / row["se"])), "<=", 5.84, published=0))
    return figures


def _forecast_figures(briers: pd.DataFrame) -> list[Figure]:
    """Count the models with a disposition that a baseline forecasts better."""
    means, figures = briers.mean(), []
    for rival in ("aggregate", PEOPLE):
        name = f"of {len(briers)} models with a disposition, those that the layout forecasts worse "
        name += (
            f"than {rival} does (mean Brier {means[RECOMMENDED]:.4f} against {means[rival]:.4f})"
        )
        figures.append(Figure(name, int((briers[RECOMMENDED] >= briers[rival]).sum()), "==", 0))
    return figures
