"""Leave-future-out: later subjects are predicted from earlier ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logsumexp

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import inside, whole
from ...common.progress import track
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_few_layouts, refuse_no_evaluation
from ...evaluations.tables import need_columns
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.population.newcomer import log_predictive
from ...layouts import Layout
from .compare import LayoutComparison, of_units
from .loo import LeaveOneOut

_UNKNOWN = ["p_loo", "bad_k"]


def leave_future_out(
    layouts: Mapping[str, Layout],
    evaluation: Evaluation,
    *,
    by: str,
    learnt: float = 0.5,
    blocks: int = 3,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    target_accept: float = 0.9,
    seed: int = 1,
    progressbar: bool = True,
) -> LayoutComparison:
    r"""Compare layouts by how well they predict later subjects from earlier ones.

    .. math:: \mathrm{elpd}_s = \log \frac{1}{S} \sum_{d=1}^{S} p(y_s \mid \varphi_d), \qquad
        \varphi_d \sim p(\varphi \mid \{y_r : t_r < t_b\}), \quad t_s \ge t_b

    Subjects are ordered by date. After a first part, the others are divided into blocks of similar
    size, and each block, which begins at :math:`t_b`, is predicted from all subjects before it. All
    outcomes y of a subject are predicted together from its properties and the shared latents
    :math:`\varphi`; its own values are integrated over. Subjects of the date of a block or later
    are not used for its prediction. A trend is therefore scored on its extrapolation, whereas
    leave-one-out scores its interpolation.

    Parameters
    ----------
    layouts : mapping of str to Layout
        At least two joint layouts, by name.
    evaluation : Evaluation
        Outcomes, and the subjects' dates as a property.
    by : str
        Name of this property, a number. Subjects with the same date are in the same block.
    learnt : float, default 0.5
        Part of the subjects from which the first block is predicted, in (0, 1).
    blocks : int, default 3
        Number of blocks, for each of which the layouts are fitted to all earlier subjects.
    draws, tune, chains, target_accept, seed
        Options of each fit; see `fit`.
    progressbar : bool
        Whether to show completed fits and remaining time.

    Returns
    -------
    LayoutComparison
        Tables by subject of the blocks, and in total, as from `compare_layouts`, but without
        ``p_loo`` and ``bad_k``, because the layouts are refitted.

    Raises
    ------
    DataError
        When `layouts` or `evaluation` is something else, there are fewer than two layouts, the
        property is missing, or there are too few different dates for the blocks.
    FitError
        When a layout is not joint, or an option is out of range.

    References
    ----------
    Buerkner, Gabry and Vehtari (2020), Approximate leave-future-out cross-validation for Bayesian
    time series models, Journal of Statistical Computation and Simulation 90(14), section 2.

    Examples
    --------
    >>> from measurement_layouts.scenarios import weirdml
    >>> models = weirdml.dated(weirdml.simulated_cohort().evaluation, weirdml.release_dates())
    >>> shapes = {name: weirdml.trend_layout(name) for name in ("line", "kink")}
    >>> found = leave_future_out(shapes, models, by="released", learnt=0.8, blocks=1, draws=100,
    ...                          tune=200, progressbar=False)
    >>> found.total[["layout", "rank", "outcomes"]]
      layout  rank  outcomes
    0   ...
    """
    learnt, blocks = inside("learnt", learnt, such_as=0.5), whole("blocks", blocks, 1)
    refuse_few_layouts(layouts)
    refuse_no_evaluation(evaluation)
    alone = [name for name, layout in layouts.items() if not layout.joint]
    if alone:
        raise FitError(
            f"under {some(alone)} subjects share nothing, so that later subjects cannot be "
            "predicted from earlier ones; give joint layouts, such as ones with a trend"
        )
    starts = _starts(evaluation, by, learnt, blocks)
    dates = evaluation.subject_table[by].astype(float)
    options: dict[str, Any] = {
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "target_accept": target_accept,
    }
    elpd: dict[str, dict[str, float]] = {name: {} for name in layouts}
    lost = []
    parts = [
        (name, *block)
        for block in zip(starts, [*starts[1:], np.inf], strict=True)
        for name in layouts
    ]
    for name, start, end in track(parts, len(parts), progressbar, what="fits"):
        earlier = evaluation.select(subjects=dates.index[dates < start])
        found = fit(layouts[name], earlier, seed=seed, progressbar=False, **options)
        if (found.diagnostics()["status"] == "not converged").any():
            lost.append(name)
        for who in dates.index[(dates >= start) & (dates < end)]:
            own = evaluation.select(subjects=[who])
            elpd[name][who] = _foreseen(found, own, seed)
    tried = (evaluation.trials.loc[list(elpd[next(iter(layouts))])] > 0).sum(axis=1)
    single = {name: _as_left_out(values, tried) for name, values in elpd.items()}
    compared = of_units(single, "subject", lost)
    table, total = (part.drop(columns=_UNKNOWN) for part in (compared.table, compared.total))
    return LayoutComparison(table, total, "subject")


def _starts(evaluation: Evaluation, by: str, learnt: float, blocks: int) -> list[float]:
    """Return the dates at which the blocks begin."""
    need_columns(evaluation.subject_table.columns, [by], "the subjects have")
    dates = np.sort(evaluation.subject_table[by].to_numpy(dtype=float))
    first = round(learnt * len(dates))
    places = np.linspace(first, len(dates), blocks + 1)[:-1].round().astype(int)
    starts = [float(dates[min(place, len(dates) - 1)]) for place in places]
    if not dates[0] < starts[0] or len(set(starts)) < blocks:
        raise DataError(
            f"{len(dates)} subjects with {len(set(dates))} different values of {by} are too few "
            f"for {blocks} block(s) after the first part of {learnt:g}; give a smaller blocks=, or "
            "more subjects"
        )
    return starts


def _foreseen(found: Fit, own: Evaluation, seed: int) -> float:
    """Compute the log predictive density of a subject that was not fitted."""
    values = log_predictive(found, own, seed)
    return float(logsumexp(values) - np.log(len(values)))


def _as_left_out(elpd: Mapping[str, float], tried: pd.Series) -> LeaveOneOut:
    """Return scores of subjects in the form of a leave-one-out."""
    names = pd.Index(list(elpd), name="subject", dtype="str")
    columns = {"elpd": list(elpd.values()), "p_loo": 0.0, "outcomes": tried.to_numpy(), "bad_k": 0}
    return LeaveOneOut(pd.DataFrame(columns, names), xr.Dataset(), np.inf, "subject")
