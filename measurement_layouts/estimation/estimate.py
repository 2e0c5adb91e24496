"""Estimates of latents by likelihood, point collapse, integration or sampling."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt

from ..common import options
from ..common.errors import FitError
from ..common.messages import some
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_layout
from ..inference.fit import Fit
from ..inference.fitting import fit
from ..inference.model.prior import draw_prior
from ..inference.model.unseen import refuse_unseen
from ..inference.model.variables import profile_variables
from ..inference.posterior.posterior import rows_of
from ..inference.sampling.engine import Battery
from ..layouts import Layout
from ..layouts.elements import elements
from .collapse import collapsed
from .curves import defined
from .estimates import COLUMNS, Estimates
from .peaks import Peaks, peaks
from .survey import Survey, survey

_NAMES = {"mean": "estimate", "sd": "se", "low": "low", "high": "high"}


def posterior_rows(fit: Fit, prob: float) -> pd.DataFrame:
    """Summarise every element of every subject, including subjects whose sampling failed.

    Returns
    -------
    DataFrame
        One row per subject and node: ``estimate``, ``se``, ``low``, ``high``, ``identified`` (the
        element is not prior-dominated), ``reason``, and ``trouble``, the part of the reason that
        concerns sampling.
    """
    judged, profiles = fit.diagnostics(), fit.profiles(prob=prob)
    parts = []
    for element in fit.elements:
        own = rows_of(profiles, element, fit.subjects).reindex(judged.index)
        part = own[list(_NAMES)].rename(columns=_NAMES)
        vague = own["prior_dominated"].eq(True)
        part["identified"] = own["mean"].notna() & ~vague
        part["trouble"] = judged["reason"].where(judged["status"] != "ok", "")
        part["reason"] = part["trouble"].where(~vague, "the prior decides; " + part["trouble"])
        part["reason"] = part["reason"].str.removesuffix("; ")
        parts.append(part.assign(node=element.name))
    table = pd.concat(parts).rename_axis("subject").reset_index()
    order = {subject: place for place, subject in enumerate(judged.index)}
    return table.sort_values("subject", key=lambda names: names.map(order), kind="stable")


def posterior_peaks(survey: Survey, layout: Layout) -> list[Peaks]:
    """Find all modes of the subjects' posterior densities of the only latent."""
    log_prior, places = _log_prior(layout), survey.line.places

    def density(at: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.asarray(survey.curves.at(at, rows) + log_prior(at))

    heights = survey.curves.over(places) + log_prior(places)
    return peaks(density, survey.line, heights)


def _log_prior(layout: Layout) -> Callable[[np.ndarray], np.ndarray]:
    """Compile the log-density of the only latent's prior."""
    with pm.Model():
        (variable,) = profile_variables(layout).values()
    places = pt.vector()
    graph = pm.logp(variable, places)
    function = pytensor.function([places], graph, mode="FAST_COMPILE")
    return lambda values: defined(np.asarray(function(values)))


_NUMBERS = ["estimate", "se", "low", "high"]
_NO_END = "the best plateau has no end"


def of_one(
    layout: Layout, evaluation: Evaluation, method: str, prob: float, fit: Fit | None
) -> Estimates:
    """Estimate the only latent of a layout, from the posterior if a fit is given."""
    battery = Battery.of(layout, evaluation)
    places = collapsed(layout, battery, evaluation) if method == "collapse" else None
    found = survey(battery, evaluation, prob)
    if fit is not None:
        rows, tops = _from_posterior(found, fit, prob), posterior_peaks(found, layout)
    elif places is not None:
        rows, tops = _from_collapse(places), found.peaks
    else:
        rows, tops = _from_likelihood(found, prob), found.peaks
    subjects, node = found.curves.subjects, layout.latents[0].name
    identified = found.identified & rows["estimate"].notna().to_numpy()
    remarks = [verdict.reason for verdict in found.verdicts]
    table = pd.DataFrame({"subject": subjects, "node": node})
    table[_NUMBERS] = rows[_NUMBERS].where(pd.Series(identified, rows.index))
    highest = np.array([top.logs[0] for top in found.peaks])
    at = np.where(identified, table["estimate"], 0.0)
    logs = found.curves.at(at, np.arange(len(subjects)))
    table["log_likelihood"] = np.where(identified, logs, highest)
    table["modes"] = pd.array([len(top.at) for top in tops], dtype="Int64")
    table["identified"] = identified
    table["compatible"] = [verdict.compatible for verdict in found.verdicts]
    table["reason"] = [
        "; ".join(filter(None, parts)) for parts in zip(remarks, rows["reason"], strict=True)
    ]
    return Estimates(
        layout,
        method,
        prob,
        table[["subject", "node", *COLUMNS]],
        _modes(subjects, node, tops),
        dict(zip(subjects, found.pieces, strict=True)),
        {subject: found.curves.of(number) for number, subject in enumerate(subjects)},
        partial(draw_prior, layout),
        fit,
    )


def of_several(fit: Fit, method: str, prob: float) -> Estimates:
    """Estimate every element of a layout with several latents from the posterior."""
    table = posterior_rows(fit, prob).reset_index(drop=True)
    table = table.assign(log_likelihood=np.nan, compatible="")
    table["modes"] = pd.array([pd.NA] * len(table), dtype="Int64")
    table[_NUMBERS] = table[_NUMBERS].where(table["identified"])
    columns = ["subject", "node", *COLUMNS]
    prior, none = partial(draw_prior, fit.layout), _modes([], "", [])
    return Estimates(fit.layout, method, prob, table[columns], none, {}, {}, prior, fit)


def _from_likelihood(found: Survey, prob: float) -> pd.DataFrame:
    errors, reasons = found.errors(prob)
    return pd.DataFrame(
        {
            "estimate": [top.at[0] for top in found.peaks],
            "se": errors,
            "low": [pieces[0][0] for pieces in found.pieces],
            "high": [pieces[-1][1] for pieces in found.pieces],
            "reason": reasons,
        }
    )


def _from_collapse(places: np.ndarray) -> pd.DataFrame:
    reasons = np.where(np.isnan(places), _NO_END, "")
    unknown = dict.fromkeys(["se", "low", "high"], np.nan)
    return pd.DataFrame({"estimate": places, **unknown, "reason": reasons})


def _from_posterior(found: Survey, fit: Fit, prob: float) -> pd.DataFrame:
    rows = posterior_rows(fit, prob).set_index("subject").loc[found.curves.subjects]
    rows["reason"] = rows["trouble"]
    return rows.reset_index()


def _modes(subjects: Sequence[str], node: str, tops: Sequence[Peaks]) -> pd.DataFrame:
    counts = [len(top.at) for top in tops]
    at = np.concatenate([np.empty(0), *(top.at for top in tops)])
    logs = np.concatenate([np.empty(0), *(top.logs for top in tops)])
    highest = np.repeat([top.logs[0] for top in tops], counts)
    return pd.DataFrame(
        {
            "subject": np.repeat(np.array(subjects, dtype=object), counts).astype("str"),
            "node": node,
            "at": at,
            "log_likelihood": logs,
            "below": highest - logs,
        }
    )


type Method = Literal["likelihood", "collapse", "grid", "nuts"]

_METHODS = ("likelihood", "collapse", "grid", "nuts")


def estimate(
    layout: Layout,
    evaluation: Evaluation,
    *,
    method: Method = "likelihood",
    prob: float = 0.9,
    subjects: Iterable[object] | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int | None = None,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Estimates:
    r"""Estimate the latents of each subject, and name the subjects that are not identified.

    Each subject is estimated from its own outcomes alone.

    ``"likelihood"`` takes the maximum of

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    over the whole range of the layout's only latent. All maxima are found and listed, not only the
    one nearest to a starting value. The standard error is one over the square root of the observed
    information. The interval is the set of all :math:`\theta` with
    :math:`\ell(\hat\theta) - \ell(\theta) \le \chi^2_{1,prob}/2`, which may be in several pieces.

    ``"collapse"`` takes the middle of the plateau of `point_collapse` whose success rate has the
    highest lower limit (Wilson's, of 95 %; the widest of equal plateaus). The estimate is biased
    and has no standard error.

    ``"grid"`` and ``"nuts"`` take the mean, standard deviation and quantiles of the posterior,
    which `fit` integrates over a grid, or samples with chains started in every mode. Both work for
    several latents too.

    With one latent, a subject is not identified, whatever the method, in three cases: when every
    value is compatible with its outcomes (inside the likelihood's interval), when the data set no
    limit on one side, or when two maxima are equal. In a range that ends, the data set no limit
    where the interval reaches the end and the likelihood falls by less than 0.05 nats over the last
    quarter of the piece at that end: the estimate would then depend on the declared range and not
    on the data. A subject that solved everything therefore has a lower limit and no estimate. With
    several latents, an element is identified when it is not prior-dominated.

    Parameters
    ----------
    layout : Layout
        The layout to fit. The first two methods need a layout with one latent.
    evaluation : Evaluation
        Items and outcomes.
    method : {"likelihood", "collapse", "grid", "nuts"}
        Method of estimation.
    prob : float, default 0.9
        Confidence, or posterior mass, of the intervals, in (0, 1).
    subjects : iterable, optional
        Subjects to estimate (default: all).
    draws, tune, chains, seed, n_jobs, progressbar
        Options of `fit`, used by ``"grid"`` and ``"nuts"``.

    Returns
    -------
    Estimates
        Estimates, intervals and reasons, in the same form for every method.

    Raises
    ------
    DataError
        When the items do not fit the layout, or a subject is unknown.
    LayoutError
        When `layout` is something else, or ``method="collapse"`` and the layout is not a single
        band of its latent.
    FitError
        When the method does not work for this number of latents or for an unseen property of items,
        when subjects share latents, when an option is out of range, or when sampling failed for
        every subject.

    References
    ----------
    Propensities paper, Eq. 6 and appendix B.3.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import MetaFeature, Propensity, Success
    >>> from measurement_layouts.linking import band
    >>> risk = Propensity("risk", low=-9, high=9)
    >>> low, high = (MetaFeature(end, low=-4, high=4) for end in ("low", "high"))
    >>> layout = Layout("risk", Success("right", band(risk, low, high)))
    >>> items = pd.DataFrame({"low": [-3.0, -1.0, 0.0, 1.0], "high": [0.0, 1.0, 2.0, 3.0]})
    >>> outcomes = pd.DataFrame([[0, 1, 1, 0], [0] * 4], ["Ann", "Bob"])
    >>> found = estimate(layout, Evaluation.from_wide(outcomes, items))
    >>> found
    <Estimates of 'risk' by 'likelihood': 2 subjects, 1 of 2 rows not identified, 90% intervals>
    >>> found.table.set_index("subject")[["estimate", "se", "low", "high"]].round(2)
             estimate    se   low  high
    subject
    Ann          0.49  0.45 -0.26  1.19
    Bob           NaN   NaN   NaN   NaN
    >>> found.unidentified["reason"].item()
    'no success on 4 items: anything below -2.64 or above 2.812 fits'
    """
    refuse_no_layout(layout)
    if not isinstance(method, str) or method not in _METHODS:
        raise FitError(f"method={method!r}; give {some(map(repr, _METHODS))}")
    _refuse_joint(layout)
    prob = options.inside("prob", prob, such_as=0.9)
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    known = [element.name for element in elements(layout)]
    alone = len(layout.latents) == 1 and not layout.latents[0].dims
    if not alone and method in ("likelihood", "collapse"):
        raise FitError(
            f"layout {layout.name!r} has {len(known)} profile elements ({some(known)}), and "
            f"method={method!r} needs a single latent without labels; use method='grid' for up to "
            "two elements, or 'nuts' for any number"
        )
    if alone:
        remedy, most = "take the posterior, fit(...).profiles()", int(chosen.coded.trials.max())
        refuse_unseen(layout, f"estimate with method={method!r}", remedy, most)
    sampled = None
    if method == "grid" or method == "nuts":
        own: dict[str, Any] = {"tune": tune} if method == "nuts" else {}
        own |= {"draws": draws, "chains": chains, "seed": seed, "n_jobs": n_jobs}
        sampled = fit(layout, chosen, method=method, progressbar=progressbar, **own)
    if sampled is not None and not alone:
        return of_several(sampled, method, prob)
    return of_one(layout, chosen, method, prob, sampled)


def _refuse_joint(layout: Layout) -> None:
    """Refuse a layout with a latent of other plates than the subject, or with covariates."""
    if layout.joint:
        shared = [latent.name for latent in layout.latents if not latent.is_profile]
        names = some([*shared, *(covariate.name for covariate in layout.covariates)], 3)
        raise FitError(
            f"layout {layout.name!r} is fitted to all subjects together, because of {names}, but "
            "estimate treats each subject alone; take the posterior, fit(...).profiles()"
        )
