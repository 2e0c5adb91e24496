"""How far subjects' profiles lean on what they share, in words."""

from collections.abc import Sequence

import pandas as pd

from ...common.digits import decimals, fixed
from ...inference.fit import Fit
from ...inference.population.standing import standing
from ...linking import units
from .rules import Finding


def leanings(fit: Fit, table: pd.DataFrame, subjects: Sequence[str]) -> dict[str, list[Finding]]:
    """Say by how much each element of a profile rests on the population, and what it is without.

    Parameters
    ----------
    fit : Fit
        Profiles.
    table : DataFrame
        Of these subjects' profiles, as `diagnostics.profiles` gives it.
    subjects : sequence of str
        Names of the subjects.

    Returns
    -------
    dict of str to list of Finding
        By subject, one for each element; none where each subject stands alone.
    """
    found: dict[str, list[Finding]] = {subject: [] for subject in subjects}
    if not fit.layout.joint:
        return found
    columns = ["subject", "node", "label"]
    held = standing(fit, subjects=subjects).merge(table[[*columns, "ess_bulk"]], on=columns)
    kinds = {latent.name: latent for latent in fit.layout.profile}
    for row in held.to_dict("records"):
        name = f"{row['node']}[{row['label']}]" if row["label"] else row["node"]
        text = f"{name} by {row['lean']:.0%}"
        if pd.notna(row["alone"]):
            digits = decimals(row["sd"], row["ess_bulk"])
            unit = units.name(kinds[row["node"]].unit)
            own = fixed(row["alone"], digits) + (f" {unit}" if unit else "")
            text += f" (about {own} by its own outcomes alone)"
        found[row["subject"]].append(Finding("leaning", name, float(row["lean"]), text=text))
    return found
