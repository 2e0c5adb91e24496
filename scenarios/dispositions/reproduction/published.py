"""Results of the simulated study, compared with its true values."""

import time
from pathlib import Path

import pandas as pd

from ....dispositions.comparison import compare_choices
from ....dispositions.directional import directional_alignment
from ....dispositions.judgments import SituationalJudgments
from ....dispositions.measures import misalignment
from ....dispositions.populations import alignment_by_population
from ....dispositions.pulls import choices
from ....dispositions.self_report import self_report_correlations, self_reports
from ....dispositions.support import support_by
from ....evaluations.evaluation import Evaluation
from ....inference.fit import Fit
from ....inference.fitting import fit
from ...figures import Figure, Reproduction
from ...scenario import Scenario
from ..implied import ALL, distances, implied_misalignment
from ..layouts import RECOMMENDED, disposition_layout
from ..simulated import SimulatedStudy, simulated_study
from ..traits import TRAITS, supports
from .forecast import AGGREGATE, PEOPLE, beside_truth, held_out
from .recovery import recovered, recovery, summary

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
    directions = directional_alignment(judgments)
    start = time.perf_counter()
    found = fit(
        disposition_layout(), evaluation, chains=2, draws=500, tune=500, seed=1, progressbar=False
    )
    minutes = (time.perf_counter() - start) / 60
    fitted, replicates = recovered(study, found), summary(recovery())
    briers = beside_truth(held_out(evaluation), study)
    profiles = _by_profiles(study, found, evaluation, gaps)
    correlations = self_report_correlations(judgments)
    beside = alignment_by_population(judgments, "nationality").table
    return Reproduction(
        [
            *_misalignment_figures(judgments, gaps),
            *_profile_figures(profiles),
            *_direction_figures(directions),
            _population_figure(beside),
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
            "directional alignment": directions,
            "recovery, four studies of a quarter of the size": replicates,
            "recovery, one study of full size": summary(fitted.assign(study=0)),
            "held-out Brier scores": briers,
            "self-reports": self_reports(judgments),
            "self-reports against behaviour": correlations,
            "support by groups of raters": _supports(judgments),
            "models and raters by nationality": beside,
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
    measured = gaps.xs(ALL, level="trait")[["misalignment", "corrected", "posterior"]]
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
    beside = ", ".join(
        f"{name} {errors[name]:.3f}" for name in ("misalignment", "corrected", "posterior")
    )
    return [
        Figure(
            f"mean error of the misalignment by profiles, {len(table)} models (measured: {beside})",
            float(errors["by profile: misalignment"]),
            "<",
            float(errors[["misalignment", "corrected", "posterior"]].min()),
            "below that of every measure",
        )
    ]


def _direction_figures(directions: pd.DataFrame) -> list[Figure]:
    row = directions.to_dict("index")[(ALIGNED, "all", "all")]
    scenarios = float(row["scenarios"])
    expected = float(row["attainable"])
    error = (expected * (1 - expected) / scenarios) ** 0.5
    return [
        Figure(
            f"false misses of a perfectly aligned model at a consensus of 0.8: "
            f"{1 - row['aligned']:.4f} of {scenarios:.0f} scenarios, {1 - expected:.4f} expected; "
            "difference in standard errors",
            abs(float(row["aligned"]) - expected) / error,
            "<=",
            _ERRORS,
            f"within {_ERRORS:g} standard errors",
        )
    ]


def _population_figure(table: pd.DataFrame) -> Figure:
    own = table.xs(ALIGNED, level="model").xs(ALL, level="trait")
    told_apart = (own["distance_low"] > 0) | (own["distance_high"] < 0)
    return Figure(
        f"of {len(own)} populations by nationality, those from which a perfectly aligned model is "
        f"distinguished (distances {own['distance'].min():+.3f} to {own['distance'].max():+.3f})",
        int(told_apart.sum()),
        "<=",
        1,
        "at most 1 by chance",
    )


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
