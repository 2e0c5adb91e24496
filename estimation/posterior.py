"""Estimates from posteriors: means, standard deviations and quantiles."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt

from ..inference.fit import Fit
from ..inference.model.prior import profile_variables
from ..inference.posterior.posterior import rows_of
from ..layouts import Layout
from ..layouts.elements import elements
from .curves import defined
from .peaks import Peaks, peaks
from .survey import Survey

COLUMNS = {"mean": "estimate", "sd": "se", "low": "low", "high": "high"}


def posterior_rows(fit: Fit, prob: float) -> pd.DataFrame:
    """Summarise every element of every subject; also of those whose sampling failed.

    Returns
    -------
    DataFrame
        One row per subject and node: ``estimate``, ``se``, ``low``, ``high``, ``identified`` (the
        prior does not dominate), ``reason`` and, of it, what went wrong in sampling: ``trouble``.
    """
    judged, profiles = fit.diagnostics(), fit.profiles(prob=prob)
    parts = []
    for element in elements(fit.layout):
        own = rows_of(profiles, element, fit.subjects).reindex(judged.index)
        part = own[list(COLUMNS)].rename(columns=COLUMNS)
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
    """Find all modes of the posterior densities, per unit of the only latent."""
    log_prior = _log_prior(layout)
    places = survey.line.places
    before = log_prior(places)
    found = []
    for number in range(len(survey.curves.subjects)):
        alone = np.array([number])
        likelihood = survey.curves.among(alone)

        def density(
            at: np.ndarray, rows: np.ndarray, likelihood: Callable[..., np.ndarray] = likelihood
        ) -> np.ndarray:
            return np.asarray(likelihood(at, rows) + log_prior(at))

        heights = survey.curves.over(places, alone) + before
        found += peaks(density, survey.line, heights)
    return found


def _log_prior(layout: Layout) -> Callable[[np.ndarray], np.ndarray]:
    """Compile the log-density of the only latent's prior."""
    with pm.Model():
        (variable,) = profile_variables(layout).values()
    places = pt.vector()
    graph = pm.logp(variable, places)
    function = pytensor.function([places], graph, mode="FAST_COMPILE")
    return lambda values: defined(np.asarray(function(values)))
