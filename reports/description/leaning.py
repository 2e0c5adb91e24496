"""Sentences about how much subjects' profiles lean on the population."""

from collections.abc import Sequence

import pandas as pd

from ...common.digits import decimals, fixed
from ...inference.fit import Fit
from ...inference.population.standing import standing
from ...linking import units
from .rules import Finding


def leanings(fit: Fit, table: pd.DataFrame, subjects: Sequence[str]) -> dict[str, list[Finding]]:
    """Describe how much each element of a profile leans on the population, and its value without.

    Parameters
    ----------
    fit : Fit
        The fit.
    table : DataFrame
        Profiles of these subjects, as returned by `diagnostics.profiles`.
    subjects : sequence of str
        Names of the subjects.

    Returns
    -------
    dict of str to list of Finding
        Findings by subject, one for each element; none if each subject is fitted separately.
    """
    found: dict[str, list[Finding]] = {subject: [] for subject in subjects}
    if not fit.layout.joint:
        return found
    columns = ["subject", "node", "label"]
    held = standing(fit, subjects=subjects).merge(table[[*columns, "ess_bulk"]], on=columns)
    kinds = {latent.name: latent for latent in fit.layout.profile}
    for row in held.to_dict("records"):
        name = f"{row['node']}[{row['label']}]" if row["label"] else row["node"]
        weight = float(row["population_weight"])
        text = f"{name} by {weight:.0%}"
        if pd.notna(row["alone"]):
            digits = decimals(row["sd"], row["ess_bulk"])
            unit = units.name(kinds[row["node"]].unit)
            own = fixed(row["alone"], digits) + (f" {unit}" if unit else "")
            text += f" (about {own} by its own outcomes alone)"
        found[row["subject"]].append(Finding("leaning", name, weight, text=text))
    return found
