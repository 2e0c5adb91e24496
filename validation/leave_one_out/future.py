"""Leave the future out: later subjects foreseen from the earlier ones."""

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
    r"""Compare layouts by how well they foresee later subjects from the earlier ones.

    .. math:: \mathrm{elpd}_s = \log \frac{1}{S} \sum_{d=1}^{S} p(y_s \mid \varphi_d), \qquad
        \varphi_d \sim p(\varphi \mid \{y_r : t_r < t_b\}), \quad t_s \ge t_b

    Subjects are put in the order of a date. The first part is learnt from; the others are cut into
    blocks of about one size, and each block, which begins at :math:`t_b`, is foreseen from all
    before it. A subject's outcomes y are foreseen together, from its properties and what is shared,
    :math:`\varphi`: its own values are integrated over. Nothing of a block's date or later is used,
    so a trend is scored on how it goes on, where leave-one-out scores how it goes between.

    Parameters
    ----------
    layouts : mapping of str to Layout
        At least two, by name; in each of them subjects share something.
    evaluation : Evaluation
        Outcomes, and the subjects' dates as a property.
    by : str
        That property, a number; subjects of one date go together.
    learnt : float, default 0.5
        Part of the subjects that is learnt from in the first block, in (0, 1).
    blocks : int, default 3
        How often the layouts are fitted, each time to more subjects.
    draws, tune, chains, target_accept, seed
        Of each fit, as `fit` takes them.
    progressbar : bool
        Show fits done and time left.

    Returns
    -------
    LayoutComparison
        By subject of the blocks, and in total, as `compare_layouts` returns it, without ``p_loo``
        and ``bad_k``: nothing is approximated by weights.

    Raises
    ------
    DataError
        When there are fewer than two layouts, the property is missing, or there are too few
        different dates for the blocks.
    FitError
        When subjects share nothing in a layout, or an option is out of range.

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
    if len(layouts) < 2:
        raise DataError(f"there is {len(layouts)} layout; give at least two, by name")
    alone = [name for name, layout in layouts.items() if not layout.joint]
    if alone:
        raise FitError(
            f"under {some(alone)} subjects share nothing, so that earlier ones say nothing about "
            "later ones; give layouts in which subjects share something, such as a trend"
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
    """Say at which dates the blocks begin."""
    need_columns(evaluation.subject_table.columns, [by], "the subjects have")
    dates = np.sort(evaluation.subject_table[by].to_numpy(dtype=float))
    first = round(learnt * len(dates))
    places = np.linspace(first, len(dates), blocks + 1)[:-1].round().astype(int)
    starts = [float(dates[min(place, len(dates) - 1)]) for place in places]
    if not dates[0] < starts[0] or len(set(starts)) < blocks:
        raise DataError(
            f"{len(dates)} subjects of {len(set(dates))} different {by} do not make "
            f"{blocks} block(s) after the first {learnt:g}; ask for fewer blocks, or give more "
            "subjects"
        )
    return starts


def _foreseen(found: Fit, own: Evaluation, seed: int) -> float:
    """Compute the log predictive density of a subject that was not fitted."""
    values = log_predictive(found, own, seed)
    return float(logsumexp(values) - np.log(len(values)))


def _as_left_out(elpd: Mapping[str, float], tried: pd.Series) -> LeaveOneOut:
    """Lay scores of subjects out as those of subjects that were left out."""
    names = pd.Index(list(elpd), name="subject", dtype="str")
    columns = {"elpd": list(elpd.values()), "p_loo": 0.0, "outcomes": tried.to_numpy(), "bad_k": 0}
    return LeaveOneOut(pd.DataFrame(columns, names), xr.Dataset(), np.inf, "subject")
