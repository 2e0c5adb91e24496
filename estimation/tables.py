"""Tables of estimates, one form for every method."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..inference.model.prior import draw_prior
from ..inference.sampling.engine import Battery
from ..layouts import Layout
from .collapse import collapsed
from .estimates import COLUMNS, Estimates
from .peaks import Peaks
from .posterior import posterior_peaks, posterior_rows
from .survey import Survey, survey

_NUMBERS = ["estimate", "se", "low", "high"]
_NO_END = "the best plateau has no end"


def of_one(
    layout: Layout, evaluation: Evaluation, method: str, prob: float, fit: Fit | None
) -> Estimates:
    """Estimate the only latent of a layout; from the fit's posterior where there is one."""
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
    """Take every element of a layout with several from its posterior."""
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
    at, logs, below = (
        np.concatenate([np.empty(0), *parts])
        for parts in (
            [top.at for top in tops],
            [top.logs for top in tops],
            [top.logs[0] - top.logs for top in tops],
        )
    )
    return pd.DataFrame(
        {
            "subject": np.repeat(np.array(subjects, dtype=object), counts).astype("str"),
            "node": node,
            "at": at,
            "log_likelihood": logs,
            "below": below,
        }
    )
