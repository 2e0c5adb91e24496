"""Published figures of the propensities study, compared with the obtained ones."""

from pathlib import Path

import numpy as np
import pandas as pd

from ....common.errors import DataError
from ....estimation.estimate import Estimates, estimate
from ....inference.fit import Fit
from ....inference.fitting import fit
from ....inference.sampling.convergence import NOT_SEARCHED, RHAT_LIMIT
from ....validation.prediction.cross_validate import Method, cross_validate
from ....validation.prediction.layouts import FittedLayout
from ....validation.prediction.result import CrossValidation
from ...figures import Figure, Reproduction
from ...files import published_table
from ...scenario import Scenario
from ..cohort import FIGURE_6
from ..data import released
from ..dimensions import obtained
from ..layouts import LAYOUTS, PUBLISHED, RECOMMENDED, published_layout
from .recovery import figure_6, recovery

TABLE = "propensities_tables2_3.csv"
_REPEATS = 15
_EQUAL = 1e-5  # largest difference of log-likelihoods from the released ones, in nats
_BETTER = 0.01  # least difference at which a maximum counts as better, in nats
_FOUND = 45  # number of subjects for whom a better maximum is known to exist
_FAR = 4.6  # standard errors: probability of 1 in 1,000 for the largest of 400
_COLLAPSE = -1.091  # the published point collapse
_COVERAGE = 0.04  # distance from 90 %: 2.6 standard errors with about 380 subjects


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Analyse the real study and a simulated one, and compare them with the paper's figures.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data, published : Path
        Folders of the real study's data (default: the folder in the environment variable) and of
        published tables.

    Raises
    ------
    DataError
        When either cannot be read; this is checked before anything is estimated.
    """
    evaluation, table = scenario.load(data), released(data)
    check_obtained(published)
    layout = published_layout()
    maxima = estimate(layout, evaluation, prob=0.95)
    real = against_released(maxima, table)
    known = list(real.index[real["identified"]])
    chosen = evaluation.select(subjects=known)
    nuts = fit(layout, chosen, method="nuts", seed=1, progressbar=False)
    grid = fit(layout, chosen, method="grid", seed=1, progressbar=False)
    sampled = sampled_against_integrated(nuts, grid)
    methods: dict[str, Method] = {
        name: FittedLayout(make(), method="grid") for name, make in LAYOUTS.items()
    }
    scores = cross_validate(
        methods | {"aggregate": "aggregate"},
        evaluation,
        repeats=_REPEATS,
        seed=1,
        progressbar=False,
    )
    conditions = by_condition(scores)
    subjects, recovered = recovery()
    repeats = figure_6()
    silent = evaluation.success_rates().eq(0)
    return Reproduction(
        [
            *_likelihood_figures(real),
            *_unidentified_figures(real, list(silent.index[silent])),
            *_sampling_figures(sampled),
            *_score_figures(conditions),
            *_recovery_figures(recovered, repeats),
        ],
        {
            "released estimates and our maxima": real,
            "unidentified subjects": real.loc[~real["identified"], ["obtained", "reason"]],
            "NUTS against the exact posterior": sampled,
            "held-out Brier scores by condition": conditions,
            "384 simulated subjects": recovered,
            "simulated subjects that are not identified": subjects.loc[
                ~subjects["identified (likelihood)"], ["truth"]
            ],
            "Figure 6, repeated": repeats.describe().loc[["mean", "std", "min", "max"]],
        },
    )


def check_obtained(folder: Path) -> None:
    """Check that the true values of the simulation are those of the published tables.

    Raises
    ------
    DataError
        When the table is not in the folder, or has other values.

    References
    ----------
    Propensities paper, Tables 2 and 3.
    """
    keys = ["propensity", "model", "incited"]

    def keyed(raw: pd.DataFrame) -> pd.DataFrame:
        level = pd.to_numeric(raw["incited_level"].replace("unprompted", None))
        return raw.assign(incited=level).set_index(keys)[["obtained"]].sort_index()

    theirs = published_table(folder, TABLE, "give Tables 2 and 3", keyed)
    ours = obtained().set_index(keys)[["obtained"]].sort_index()
    if len(ours) != len(theirs) or not theirs.eq(ours).all(axis=None):
        raise DataError(
            f"{Path(folder) / TABLE} has other values than Tables 2 and 3; give the published "
            "tables"
        )


def _likelihood_figures(real: pd.DataFrame) -> list[Figure]:
    least = float(real["gain"].min())
    halves = real[real["global"] & real["identified"]]
    ratio = (halves["released_half"] / halves["our_half"]).dropna()
    return [
        *(
            Figure(
                f"largest difference to the released log-likelihood {where}, 96 subjects",
                float((real[ours] - real[theirs]).abs().max()),
                "<=",
                _EQUAL,
                f"at most {_EQUAL} nats",
                published=0,
            )
            for where, ours, theirs in (
                ("at the released estimate", "there", "log_likelihood"),
                ("at 0", "at_origin", "at_zero"),
            )
        ),
        Figure(
            "smallest gain over the released maximum, 96 subjects",
            least,
            ">=",
            -1e-6,
            "never lower",
            published=0,
        ),
        Figure(
            f"subjects with a maximum better by more than {_BETTER} nats",
            int((real["gain"] > _BETTER).sum()),
            ">=",
            _FOUND,
            f"at least the {_FOUND} known ones",
            published=0,
        ),
        Figure(
            "released half-widths of 95 % intervals over ours, median of "
            f"{len(ratio)} global optima: distance from 1",
            abs(float(ratio.median()) - 1),
            "<=",
            0.1,
            "within a tenth",
        ),
    ]


def _unidentified_figures(real: pd.DataFrame, silent: list[str]) -> list[Figure]:
    return [
        Figure(
            f"subjects without any success that still have an estimate ({', '.join(silent)})",
            int(real.loc[silent, "identified"].sum()),
            "==",
            0,
            "all four named as unidentified",
            published=len(silent),
        ),
    ]


def _sampling_figures(sampled: pd.DataFrame) -> list[Figure]:
    far, flagged, apart = sampled["z"] > _FAR, sampled["flagged"], sampled["apart"]
    return [
        Figure(
            f"subjects whose NUTS draws differ from the exact posterior and {which}",
            int((far & chosen).sum()),
            "==",
            0,
            f"mean and 5, 50, 95 % quantiles within {_FAR} Monte Carlo errors, or modes apart",
        )
        for which, chosen in (
            ("not flagged", ~flagged),
            (
                f"flagged ({flagged.sum()} are), but not for modes apart ({apart.sum()} are)",
                flagged & ~apart,
            ),
        )
    ]


def _score_figures(conditions: pd.DataFrame) -> list[Figure]:
    means = conditions.mean()
    figures = [
        Figure(
            f"held-out Brier, {RECOMMENDED} (aggregate {means['aggregate']:.3f}, {PUBLISHED} "
            f"{means[PUBLISHED]:.3f})",
            float(means[RECOMMENDED]),
            "<",
            float(means["aggregate"]),
            "below the aggregate",
        )
    ]
    for condition, row in conditions.iterrows():
        figures.append(
            Figure(
                f"held-out Brier at {condition}, {RECOMMENDED} (aggregate {row['aggregate']:.3f}, "
                f"{PUBLISHED} {row[PUBLISHED]:.3f})",
                float(row[RECOMMENDED]),
                "<=",
                float(row["aggregate"] + 2 * row["se"]),
                "above the aggregate by two standard errors at most",
            )
        )
    return figures


def _recovery_figures(methods: pd.DataFrame, repeats: pd.DataFrame) -> list[Figure]:
    figures = []
    for method, row in methods.iterrows():
        name = f"{method}, {row['identified']:.0f} of 384 simulated subjects"
        figures.append(
            Figure(
                f"coverage of 90 % intervals, distance from 0.9: {name}",
                abs(float(row["coverage"]) - 0.9),
                "<=",
                _COVERAGE,
            )
        )
        figures.append(
            Figure(f"absolute bias: {name}", abs(row["bias"]), "<=", 0.02, "at most 0.02 levels")
        )
    likelihood, collapse = repeats["likelihood"].to_numpy(), repeats["collapse"].mean()
    error = abs(float(likelihood.mean()) - FIGURE_6)
    limit = 4 * float(likelihood.std(ddof=1)) / len(likelihood) ** 0.5
    return [
        *figures,
        Figure(
            "Figure 6: mean maximum-likelihood estimate of -1.5, distance to the truth",
            error,
            "<=",
            limit,
            "within 4 standard errors",
            published=0.014,
        ),
        Figure(
            f"Figure 6: mean point collapse {collapse:.2f}, distance from {_COLLAPSE}",
            abs(float(collapse) - _COLLAPSE),
            "<=",
            0.1,
            "within 0.1",
            published=0,
        ),
    ]


_NORMAL_95 = 1.959963984540054
_QUANTILES = (0.05, 0.5, 0.95)


def against_released(estimates: Estimates, released: pd.DataFrame) -> pd.DataFrame:
    """Compare our maxima with the released estimates.

    Parameters
    ----------
    estimates : Estimates
        Estimates by maximum likelihood, under the published layout.
    released : DataFrame
        Result of `data.released`.

    Returns
    -------
    DataFrame
        Indexed by subject, with the released columns and: our log-likelihood at the released
        estimate (``there``), at 0 (``at_origin``) and at its maximum (``highest``), the ``gain``
        from the released one to the maximum, whether the released optimum is ``global``, our
        ``estimate``, ``identified`` and ``reason``, and the half-widths of the 95 % intervals:
        ``released_half``, ``our_half`` (from the curvature) and ``profile_half``.
    """
    ours = estimates.table.set_index("subject")
    values = {
        subject: estimates.curves[subject](np.array([place, 0.0]))
        for subject, place in zip(map(str, released.index), released["obtained"], strict=True)
    }
    found = pd.DataFrame.from_dict(values, orient="index", columns=["there", "at_origin"])
    table = released.join(found)
    table["highest"] = estimates.modes.groupby("subject")["log_likelihood"].max()
    table["gain"] = table["highest"] - table["log_likelihood"]
    table["global"] = table["gain"] < _BETTER
    table = table.join(ours[["estimate", "identified", "reason"]])
    table["released_half"] = (table["high"] - table["low"]) / 2
    table["our_half"] = _NORMAL_95 * ours["se"]
    table["profile_half"] = (ours["high"] - ours["low"]) / 2
    return table


def sampled_against_integrated(nuts: Fit, grid: Fit) -> pd.DataFrame:
    """Compare NUTS with the exact posterior.

    Parameters
    ----------
    nuts, grid : Fit
        Fits of a layout with one latent to the same subjects.

    Returns
    -------
    DataFrame
        Indexed by subject: ``z``, the largest difference of mean, 5, 50 and 95 % quantile in
        Monte Carlo standard errors of NUTS; ``flagged``, whether its chains are reported as not
        mixing; ``apart``, whether as staying in separate modes; and ``reason``.
    """
    from arviz_stats.base import array_stats

    verdict = nuts.diagnostics()
    (name,) = (latent.name for latent in nuts.layout.latents)
    rows = []
    for subject, rhat, reason in verdict[["rhat", "reason"]].loc[nuts.subjects].itertuples():
        draws, exact = (f.posterior[name].sel(subject=subject).to_numpy() for f in (nuts, grid))
        pairs = [(draws.mean(), exact.mean(), array_stats.mcse(draws, method="mean"))]
        for prob in _QUANTILES:
            error = array_stats.mcse(draws, method="quantile", prob=prob)
            pairs.append((np.quantile(draws, prob), np.quantile(exact, prob), error))
        z = [abs(one - other) / error for one, other, error in pairs]
        apart = "chains stay" in reason or NOT_SEARCHED in reason
        rows.append((max(z), rhat > RHAT_LIMIT or NOT_SEARCHED in reason, apart, reason))
    subjects = pd.Index(nuts.subjects, name="subject")
    return pd.DataFrame(rows, subjects, ["z", "flagged", "apart", "reason"])


def by_condition(scores: CrossValidation) -> pd.DataFrame:
    """Average held-out Brier scores over the models, per condition and method.

    Parameters
    ----------
    scores : CrossValidation
        Scores of both layouts and the aggregate.

    Returns
    -------
    DataFrame
        Indexed by condition (incited level, or ``unprompted``): one column per method, and ``se``,
        the standard error over repeats of the difference between the recommended layout and the
        aggregate.
    """
    condition = scores.scores["subject"].str.rsplit(" ", n=1).str[1]
    each = scores.scores.assign(condition=condition).pivot_table(
        "brier", ["condition", "repeat"], "method", sort=False
    )
    table = each.groupby("condition", sort=False).mean()
    difference = each[RECOMMENDED] - each["aggregate"]
    return table.assign(se=difference.groupby("condition").sem())
