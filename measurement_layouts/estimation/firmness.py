"""Firmness: the place of a propensity, its wobble, and how far prompts move it."""

import numpy as np
import pandas as pd
from scipy.stats import linregress, t

from ..common.errors import FitError
from ..common.messages import many
from ..common.options import inside
from ..evaluations.tables import need_conditions
from ..inference.fit import Fit
from ..inference.given import refuse_no_fit
from ..inference.model.bands import ends, find_bands
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import find_elements

PLACE, WOBBLE = "propensity", "wobble"
_FEW = 10  # least trials at bands that end near the place, for a wobble to be identified
_LEAST = 3  # least conditions for a line and the scatter about it


def firmness(
    fit: Fit, *, place: str = PLACE, wobble: str = WOBBLE, prob: float = 0.9
) -> pd.DataFrame:
    r"""Summarise place and wobble of each subject, and count the trials that inform the wobble.

    The place is the mean of a subject's varying level, and the wobble is its standard deviation.
    Only trials of items whose band ends near the place inform the wobble: the outcome of an item
    whose band ends far from it does not depend on the wobble. The trials that count are those with

    .. math:: |b_i - \hat\theta| \le \omega_{high}

    with the posterior mean :math:`\hat\theta` of the place and the upper end of the wobble's
    interval. Where there are no such trials, the outcomes only show that the wobble is below that
    value.

    Parameters
    ----------
    fit : Fit
        A fit in which each subject was fitted alone, of a layout with a band about an `Unseen` node
        whose mean is the place and whose spread is the wobble.
    place, wobble : str
        Names of the two latents.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        Indexed by subject: ``place`` and ``wobble`` (posterior means, in the unit of the bands),
        each with ``_low`` and ``_high``; their posterior ``correlation``; ``near``, the number of
        trials of items whose band ends near the place; ``identified``, whether neither of the two
        is prior-dominated and the posterior has one mode; and ``reason``, why they are not
        identified, or a remark about the wobble (else empty). Where a place or a wobble is
        prior-dominated, its numbers are NaN.

    Raises
    ------
    FitError
        When `fit` is something else, a name is not a profile element of the layout, `prob` is not
        between 0 and 1, or the layout has no band whose ends are properties of items.

    References
    ----------
    Propensities paper, section 6, which asks for the second parameter.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.inference.simulate import simulate
    >>> from measurement_layouts.scenarios import propensities
    >>> layout, items = propensities.firmness_layout(), propensities.battery("risk_aversion")
    >>> truth = pd.DataFrame({"propensity": 0.5, "wobble": 0.8, "noise": 0.05}, ["Ann"])
    >>> evaluation = simulate(layout, items, truth, seed=3)
    >>> found = fit(layout, evaluation, draws=200, tune=300, chains=2, seed=1, reruns=0,
    ...             progressbar=False)
    >>> firmness(found)[["place", "wobble", "wobble_low", "wobble_high", "near"]].round(1)
             place  wobble  wobble_low  wobble_high  near
    subject
    Ann        0.5     0.8         0...          0.9    ...
    """
    refuse_no_fit(fit)
    prob = inside("prob", prob, such_as=0.9)
    both = [find_elements(fit.layout, name)[0] for name in (place, wobble)]
    profiles = fit.profiles(prob=prob)
    rows = {
        name: rows_of(profiles, element, fit.subjects)
        for name, element in zip(("place", "wobble"), both, strict=True)
    }
    found = {
        f"{name}{end}": own[column].where(~own["prior_dominated"].astype(bool))
        for name, own in rows.items()
        for end, column in (("", "mean"), ("_low", "low"), ("_high", "high"))
    }
    table = pd.DataFrame(found, index=pd.Index(fit.subjects, name="subject"))
    draws = [
        fit.posterior[name].stack(draw_=("chain", "draw")).to_numpy() for name in (place, wobble)
    ]
    centred = [values - values.mean(axis=1, keepdims=True) for values in draws]
    spreads = np.prod([values.std(axis=1) for values in centred], axis=0)
    table["correlation"] = (centred[0] * centred[1]).mean(axis=1) / spreads
    trials = fit.observed["trials"].to_numpy()
    far = table["wobble_high"].to_numpy()[:, None, None]
    near = np.abs(_ends(fit) - table["place"].to_numpy()[:, None, None]) <= far
    table["near"] = (near.any(axis=1) * trials).sum(axis=1)
    modes = rows["place"]["modes"].astype(str) + rows["wobble"]["modes"].astype(str)
    known = table[["place", "wobble"]].notna()
    table["identified"] = known.all(axis=1) & modes.eq("").to_numpy()
    tried = trials.sum(axis=1)
    reasons = []
    for row, subject in enumerate(map(str, table.index)):
        own = table.loc[subject]
        asked = f"{own['near']} of {many(int(tried[row]), 'trial')} are at bands that end within "
        asked += f"{own['wobble_high']:.2g} of the place"
        if not known.loc[subject].all():
            lost = " and ".join(name for name in known.columns if not known[name][subject])
            reasons.append(f"the prior decides the {lost}; add items whose bands end nearby")
        elif not own["identified"]:
            reasons.append(f"the posterior has separate modes: {modes[subject]}")
        elif own["near"] < _FEW:
            reasons.append(f"{asked}: the wobble is known from above only")
        else:
            reasons.append("")
    return table.assign(reason=reasons)


def _ends(fit: Fit) -> np.ndarray:
    """Collect the ends of all bands, shape (1, ends, items)."""
    known = {node.name: fit.constants[node.name].to_numpy() for node in fit.layout.row_features}
    pairs = (ends(band, known, fit.layout) for band in find_bands(fit.layout))
    found = [end for pair in pairs if pair is not None for end in pair if end.ndim == 1]
    if not found:
        raise FitError(
            f"layout {fit.layout.name!r} has no band whose ends are properties of items, from "
            "which a wobble could be estimated; fit a layout with band, uncertain_band or "
            "bilogistic"
        )
    return np.stack(found)[None]


_NUMBERS = (
    *("slope", "slope_low", "slope_high", "at_zero", "scatter"),
    *("wobble", "wobble_low", "wobble_high", "unprompted", "unprompted_wobble"),
)


def incitability(
    fit: Fit,
    conditions: pd.DataFrame,
    *,
    place: str = PLACE,
    wobble: str = WOBBLE,
    prob: float = 0.9,
) -> pd.DataFrame:
    r"""Estimate how far prompts move each model's place, and how much its places scatter.

    .. math:: \hat\theta_c = \alpha + \beta \ell_c + e_c, \qquad e_c \sim N(0, \tau^2)

    by least squares over a model's conditions c, with the place :math:`\hat\theta_c` and the level
    :math:`\ell_c` that the prompt asked for. With a slope of 1 the model moves as far as the prompt
    asks for; with a slope of 0 it does not move. The slope's interval is Student's. It includes the
    errors of the places as far as they contribute to the scatter about the line. The wobble that
    remains under a prompt is the mean of the conditions' wobbles.

    Parameters
    ----------
    fit : Fit
        A fit as for `firmness`, in which a subject is a model under a condition.
    conditions : DataFrame
        Indexed by subject: ``model``, and ``incited``, the level that the prompt asked for (NaN
        without a prompt).
    place, wobble : str
        Names of the two latents.
    prob : float, default 0.9
        Mass of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        Indexed by model: ``slope`` (levels moved per level asked for) with ``slope_low`` and
        ``slope_high``, ``at_zero`` (place on the line at level 0), ``scatter`` (standard deviation
        about the line), ``wobble`` (mean over the prompts) with ``wobble_low`` and ``wobble_high``
        (posterior interval), ``unprompted`` and ``unprompted_wobble`` (place and wobble without a
        prompt), ``used`` (number of prompts used) and ``left_out`` (number of prompts whose place
        or wobble is not identified). The line is NaN unless at least three prompts at two or more
        levels were used.

    Raises
    ------
    DataError
        When a column is missing, or a subject of the fit has no condition.
    FitError
        For the reasons that `firmness` lists.

    References
    ----------
    Propensities paper, sections 5.1 and 6: how much a propensity can be incited, or fixed.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.inference.simulate import simulate
    >>> from measurement_layouts.scenarios import propensities
    >>> layout, items = propensities.firmness_layout(), propensities.battery("risk_aversion")
    >>> levels = [-2.0, 0.0, 1.0, 2.0]
    >>> names = [f"A {level:g}" for level in levels]
    >>> conditions = pd.DataFrame({"model": "A", "incited": levels}, names)
    >>> truth = pd.DataFrame({"propensity": levels, "wobble": 0.5, "noise": 0.05}, names)
    >>> evaluation = simulate(layout, items, truth, seed=1)
    >>> found = fit(layout, evaluation, draws=100, tune=200, chains=2, seed=1, reruns=0,
    ...             progressbar=False)
    >>> incitability(found, conditions)[["slope", "used"]].round(0)
           slope  used
    model
    A        1.0     4
    """
    refuse_no_fit(fit)
    need_conditions(conditions, fit.subjects)
    table = firmness(fit, place=place, wobble=wobble, prob=prob)
    table = table.join(conditions[["model", "incited"]])
    draws = fit.posterior[wobble].stack(draw_=("chain", "draw"))
    rows: dict[object, dict[str, float]] = {}
    for model, own in table.groupby("model", sort=False):
        prompted = own[own["incited"].notna()]
        used = prompted[prompted["identified"]]
        found = dict.fromkeys(_NUMBERS, np.nan)
        plain = own[own["incited"].isna() & own["identified"]]
        if len(plain):
            found |= {
                "unprompted": plain["place"].mean(),
                "unprompted_wobble": plain["wobble"].mean(),
            }
        if len(used):
            mean = draws.sel(subject=list(used.index)).mean("subject").to_numpy()
            low, high = np.quantile(mean, [(1 - prob) / 2, (1 + prob) / 2])
            found |= {"wobble": mean.mean(), "wobble_low": low, "wobble_high": high}
        if len(used) >= _LEAST and used["incited"].nunique() > 1:
            found |= _line(used["incited"].to_numpy(float), used["place"].to_numpy(float), prob)
        rows[model] = {**found, "used": len(used), "left_out": len(prompted) - len(used)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def _line(level: np.ndarray, place: np.ndarray, prob: float) -> dict[str, float]:
    """Fit a line and compute Student's interval of its slope."""
    line, freedom = linregress(level, place), len(level) - 2
    half = float(t.ppf((1 + prob) / 2, freedom)) * line.stderr
    rest = place - line.intercept - line.slope * level
    return {
        "slope": line.slope,
        "slope_low": line.slope - half,
        "slope_high": line.slope + half,
        "at_zero": line.intercept,
        "scatter": float((rest @ rest / freedom) ** 0.5),
    }
