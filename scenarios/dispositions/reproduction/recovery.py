"""Errors of fitted dispositions, slopes and noise."""

import numpy as np
import pandas as pd

from ....dispositions.pulls import choices
from ....inference.fit import Fit
from ....inference.fitting import fit
from ..layouts import disposition_layout
from ..simulated import SimulatedStudy, simulated_study

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


def recovery(seed: int = 1) -> pd.DataFrame:
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
        study = simulated_study(seed + 100 + number, per_statement=_PER_STATEMENT)
        found = fit(
            disposition_layout(),
            choices(study.judgments),
            chains=2,
            draws=500,
            tune=500,
            seed=seed,
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
