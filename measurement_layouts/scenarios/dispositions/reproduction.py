"""Results of the simulated study, compared with its true values."""

import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from ...dispositions.comparison import compare_choices
from ...dispositions.directional import directional_alignment
from ...dispositions.judgments import SituationalJudgments
from ...dispositions.measures import misalignment
from ...dispositions.pulls import choices
from ...dispositions.self_report import self_report_correlations, self_reports
from ...dispositions.support import support_by
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...validation.prediction.cross_validate import cross_validate
from ...validation.prediction.layouts import FittedLayout
from ...validation.prediction.result import CrossValidation
from ..figures import Figure, Reproduction
from ..scenario import Scenario
from .implied import ALL, distances, implied_misalignment
from .layouts import COLUMNS, RECOMMENDED, disposition_layout
from .simulated import SimulatedStudy, simulated_study
from .traits import TRAITS, supports

ALIGNED = "sim-01"
"""The model whose rates are people's."""

_COVERAGE = 0.05  # distance from 90 %: two standard errors, with dependent errors in a study
_ERRORS = 3.0
_MINUTES = 15.0


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Analyse the simulated study, and compare the results with its true values.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data, published : Path or None
        Not used: the paper's choices and the numbers behind its figures are not public.
    """
    study = simulated_study()
    judgments, evaluation = study.judgments, choices(study.judgments)
    gaps = misalignment(judgments)
    start = time.perf_counter()
    found = fit(
        disposition_layout(), evaluation, chains=2, draws=500, tune=500, seed=1, progressbar=False
    )
    minutes = (time.perf_counter() - start) / 60
    fitted, replicates = recovered(study, found), summary(recovery())
    briers = beside_truth(held_out(evaluation), study)
    profiles = _by_profiles(study, found, evaluation, gaps)
    correlations = self_report_correlations(judgments)
    return Reproduction(
        [
            *_misalignment_figures(judgments, gaps),
            *_profile_figures(profiles),
            *_recovery_figures(replicates),
            *_forecast_figures(briers),
            *_self_report_figures(correlations, study.loadings),
            Figure(
                f"minutes to fit {len(found.subjects)} models to {len(evaluation.items)} scenarios",
                minutes,
                "<=",
                _MINUTES,
                "minutes",
            ),
        ],
        {
            "misalignment": gaps,
            "misalignment, measured and by profiles": profiles,
            "directional alignment": directional_alignment(judgments),
            "recovery, four studies of a quarter of the size": replicates,
            "recovery, one study of full size": summary(fitted.assign(study=0)),
            "held-out Brier scores": briers,
            "self-reports": self_reports(judgments),
            "self-reports against behaviour": correlations,
            "support by groups of raters": _supports(judgments),
        },
    )


def _misalignment_figures(judgments: SituationalJudgments, gaps: pd.DataFrame) -> list[Figure]:
    row = gaps.to_dict("index")[(ALIGNED, "all")]
    table = compare_choices(judgments)
    corrected = table.loc[table.index.get_level_values("model") == ALIGNED, "corrected"].to_numpy()
    error = corrected.std(ddof=1) / len(corrected) ** 0.5
    return [
        Figure(
            "misalignment of a perfectly aligned model, by the published measure",
            float(row["misalignment"]),
            ">",
            0.05,
            "far from 0 with 10 votes and 20 samples",
        ),
        Figure(
            f"its corrected misalignment, {row['corrected']:+.4f}, in standard errors",
            abs(float(corrected.mean() / error)),
            "<=",
            _ERRORS,
            f"within {_ERRORS:g} standard errors of 0",
            published=0,
        ),
    ]


def _by_profiles(
    study: SimulatedStudy, found: Fit, evaluation: Evaluation, gaps: pd.DataFrame
) -> pd.DataFrame:
    """Compare measured misalignment with that of the fitted and of the true profiles."""
    measured = gaps.xs(ALL, level="trait")[["misalignment", "corrected"]]
    by_fit = implied_misalignment(found, evaluation).xs(ALL, level="trait")
    truth = study.truth
    true = distances(
        truth["slope"].to_numpy(dtype=float),
        truth["noise"].to_numpy(dtype=float),
        {trait: truth[f"disposition[{trait}]"].to_numpy(dtype=float) for trait in TRAITS},
        evaluation.items,
    )[ALL]
    return measured.join(by_fit.add_prefix("by profile: ")).assign(
        true=pd.Series(true, truth.index)
    )


def _profile_figures(table: pd.DataFrame) -> list[Figure]:
    errors = table.drop(columns="true").sub(table["true"], axis=0).abs().mean()
    beside = ", ".join(f"{name} {errors[name]:.3f}" for name in ("misalignment", "corrected"))
    return [
        Figure(
            f"mean error of the misalignment by profiles, {len(table)} models (measured: {beside})",
            float(errors["by profile: misalignment"]),
            "<",
            float(errors[["misalignment", "corrected"]].min()),
            "below that of both measures",
        )
    ]


def _recovery_figures(table: pd.DataFrame) -> list[Figure]:
    figures = []
    for node, row in table.iterrows():
        figures.append(
            Figure(
                f"coverage of 90 % intervals, {row['elements']:.0f} x {node}: distance from 0.9",
                abs(float(row["coverage"]) - 0.9),
                "<=",
                _COVERAGE,
                f"within {_COVERAGE}",
            )
        )
        figures.append(
            Figure(
                f"bias of {node}, {row['bias']:+.4f} (posterior sd {row['sd']:.3f}), in standard "
                "errors over studies",
                abs(float(row["bias"])) / float(row["se"]),
                "<=",
                5.84,
                "within the 99 % of Student's t with 3 degrees of freedom",
                published=0,
            )
        )
    return figures


def _forecast_figures(briers: pd.DataFrame) -> list[Figure]:
    leaning = briers[briers["strongest"] > 0]
    return [
        Figure(
            f"of {len(leaning)} models with a disposition, those that the layout forecasts worse "
            f"than {name} does (mean Brier {leaning[RECOMMENDED].mean():.4f} against "
            f"{leaning[name].mean():.4f})",
            int((leaning[RECOMMENDED] >= leaning[name]).sum()),
            "==",
            0,
            "none",
        )
        for name in (AGGREGATE, PEOPLE)
    ]


def _self_report_figures(correlations: pd.DataFrame, loadings: "pd.Series[float]") -> list[Figure]:
    figures, found = [], correlations.to_dict("index")
    for trait, loading in loadings.items():
        row, tells = found[trait], loading > 0
        what = "does" if tells else "does not"
        figures.append(
            Figure(
                f"{trait}: lower end of the interval of Spearman's rho {row['rho']:.2f} of "
                f"self-report and behaviour ({what} depend on the same disposition)",
                float(row["low"]),
                ">" if tells else "<",
                0,
                "above 0" if tells else "not above 0",
            )
        )
    return figures


def _supports(judgments: SituationalJudgments) -> pd.DataFrame:
    """Compare the simulated raters' support with the published one."""
    table = supports()
    parts = []
    for attribute, groups in table.groupby("attribute", sort=False):
        found = support_by(judgments, str(attribute))
        parts.append(groups.join(found.add_prefix("obtained "), on=["trait", "group"]))
    return pd.concat(parts, ignore_index=True)


AGGREGATE, PEOPLE = "aggregate", "people's rate"


class AsPeople:
    """Every model chooses as people do, at the posterior mean of their rate."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS[:1]

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success, as an `Assessor` does."""
        return np.asarray(training.items.loc[cells["item"], COLUMNS[0]], dtype=float)


def held_out(evaluation: Evaluation) -> CrossValidation:
    """Hold out a fifth of the scenarios, once, and forecast every model's choices there.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `choices`.

    Returns
    -------
    CrossValidation
        Scores of the layout, the aggregate, people's rate alone, and a logistic regression on
        people's rate and the trait.
    """
    return cross_validate(
        {
            RECOMMENDED: FittedLayout(disposition_layout(), draws=300, tune=400),
            AGGREGATE: "aggregate",
            PEOPLE: AsPeople(),
            "logistic regression": "logistic",
        },
        evaluation,
        repeats=1,
        columns=COLUMNS,
        seed=1,
        progressbar=False,
    )


def beside_truth(scores: CrossValidation, study: SimulatedStudy) -> pd.DataFrame:
    """Compare each model's Brier scores with its largest disposition.

    Returns
    -------
    DataFrame
        Indexed by model: one column of Brier scores per method, ``strongest`` (the largest absolute
        disposition, in people's log-odds), ``slope`` and ``noise``.
    """
    table = scores.per_subject()
    dispositions = study.truth.filter(like="disposition[").abs().max(axis=1)
    return table.assign(
        strongest=dispositions, slope=study.truth["slope"], noise=study.truth["noise"]
    )


_STUDIES, _PER_STATEMENT = 4, 4


def recovered(study: SimulatedStudy, found: Fit) -> pd.DataFrame:
    """Compare a fit with the true values.

    Parameters
    ----------
    study : SimulatedStudy
        Study with known profiles.
    found : Fit
        Fit of its models.

    Returns
    -------
    DataFrame
        One row per model and profile element: ``subject``, ``node``, ``label``, ``truth``,
        ``mean``, ``sd``, ``low``, ``high``, ``error`` (mean minus truth) and ``covered``.
    """
    table = found.profiles(prob=0.9)
    table = table[table["node"] != "peoplesSpread"].reset_index(drop=True)
    names = [
        f"{node}[{label}]" if label else node
        for node, label in zip(table["node"], table["label"].fillna(""), strict=True)
    ]
    truth = [
        study.truth.at[model, name] for model, name in zip(table["subject"], names, strict=True)
    ]
    table["truth"] = np.array(truth, dtype=float)
    table["error"] = table["mean"] - table["truth"]
    table["covered"] = table["truth"].between(table["low"], table["high"])
    columns = ["subject", "node", "label", "truth", "mean", "sd", "low", "high", "error", "covered"]
    return table[columns]


def recovery() -> pd.DataFrame:
    """Simulate four studies of a quarter of the size, each with different votes, and fit them.

    All models of a study share its votes, so that their errors are dependent: one study, whatever
    its size, cannot distinguish a bias from the random errors of its votes.

    Returns
    -------
    DataFrame
        Columns as in `recovered`, and the column ``study``.
    """
    parts = []
    for number in range(_STUDIES):
        study = simulated_study(101 + number, per_statement=_PER_STATEMENT)
        found = fit(
            disposition_layout(),
            choices(study.judgments),
            chains=2,
            draws=500,
            tune=500,
            seed=1,
            reruns=0,
            progressbar=False,
        )
        parts.append(recovered(study, found).assign(study=number))
    return pd.concat(parts, ignore_index=True)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Average errors and coverage by node.

    Parameters
    ----------
    table : DataFrame
        Result of `recovery`.

    Returns
    -------
    DataFrame
        Indexed by node: ``elements``, ``bias`` with its standard error ``se`` over studies (errors
        in a study are dependent), ``rmse``, ``sd`` (mean posterior standard deviation),
        ``coverage`` of 90 % intervals. A noise of 0 is left out, because an interval between
        quantiles never contains an end of the range.
    """
    inside = table[~((table["node"] == "noise") & (table["truth"] == 0))]

    def row(part: pd.DataFrame) -> "pd.Series[float]":
        bias = part.groupby("study")["error"].mean()
        return pd.Series(
            {
                "elements": len(part),
                "bias": bias.mean(),
                "se": bias.sem(),
                "rmse": float((part["error"] ** 2).mean() ** 0.5),
                "sd": part["sd"].mean(),
                "coverage": part["covered"].mean(),
            }
        )

    return pd.DataFrame({name: row(part) for name, part in inside.groupby("node", sort=False)}).T
