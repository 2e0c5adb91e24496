"""Verdicts on latents before sampling, and descriptions of problems."""

from collections.abc import Sequence

import pandas as pd

from ...common.messages import many, some
from ...inference.posterior.summaries import LITTLE_LEARNT
from ...layouts import Layout
from ...linking import mean_failure

WELL_LEARNT = 0.5  # least share of the prior variance that data remove of an informed latent
_ENOUGH_TRIALS = 10  # least trials per profile element for a fit of each subject separately
_ENOUGH_SUBJECTS = 8  # least subjects for a joint fit
_TOGETHER = 0.9  # correlation of demands from which it is reported as a problem


def verdict(shrinkage: float, confounded_with: str) -> str:
    """Describe in a few words how much the data are expected to inform a profile element.

    Examples
    --------
    >>> verdict(0.8, ""), verdict(0.05, "")
    ('informed', 'prior-dominated')
    """
    if confounded_with:
        return f"confounded with {confounded_with}"
    if shrinkage < LITTLE_LEARNT:
        return "prior-dominated"
    return "informed" if shrinkage >= WELL_LEARNT else "weakly informed"


def about_constants(features: pd.DataFrame, opposed: Sequence[str]) -> list[str]:
    """Describe columns that never vary, among those that are opposed to a latent."""
    said = []
    for column, row in features[features["constant"]].iterrows():
        if column in opposed:
            value = f"{row['low']:g} on" if row["distinct"] else "undefined on"
            said.append(
                f"{column} is {value} all items, so its effect cannot be estimated; add items "
                "with other values, or write the number into the layout"
            )
    return said


def about_outcomes_twice(layout: Layout) -> list[str]:
    """Describe the double use of outcomes by a layout that uses the subject's mean failure."""
    if mean_failure not in layout.constants:
        return []
    return [
        "the outcome depends on the subject's own mean failure (mixture with toward=mean_failure), "
        "which is computed from the outcomes that it helps to explain: outcomes count twice, and "
        "90 % intervals contain the truth only 78 to 85 % of the time; give toward= a number such "
        "as 0.5, or a meta-feature with the chance of guessing"
    ]


def about_latents(latents: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Describe latents that the data will inform little, or that they will not tell apart."""
    said, pairs = [], set[frozenset[str]]()
    for name, (_, row) in zip(names, latents.iterrows(), strict=True):
        partner = row["confounded_with"]
        if partner and frozenset((name, partner)) not in pairs:
            pairs.add(frozenset((name, partner)))
            said.append(
                f"{name} and {partner} will hardly be told apart (expected posterior correlation "
                f"{row['correlation']:.2f}): add items on which only one of them matters, or leave "
                "one out of the layout"
            )
        elif row["verdict"] == "prior-dominated":
            met = row["informed_by"]
            more = (
                f"add items that differ more in {met}, at levels where the outcome is uncertain"
                if met
                else "add items that differ in a property on which its effect depends"
            )
            said.append(
                f"{name} will be prior-dominated (expected shrinkage "
                f"{row['shrinkage']:.2f}): {more}, add trials, or give it a prior that you believe"
            )
    return said


def about_demands(collinear: pd.DataFrame) -> list[str]:
    """Describe demands that do not vary independently of each other among the items."""
    remedy = "their effects cannot be told apart; add items that have one and not the other"
    said = []
    for _, row in collinear.iterrows():
        if row["relation"]:
            said.append(f"{row['relation']}: {remedy}")
        elif max(abs(row["pearson"]), abs(row["spearman"])) >= _TOGETHER:
            said.append(
                f"{row['demands']} are correlated (Pearson {row['pearson']:.2f}, Spearman "
                f"{row['spearman']:.2f}): {remedy}"
            )
    return said


def about_subjects(subjects: pd.DataFrame) -> list[str]:
    """Describe subjects whose outcomes are all the same."""
    alike = list(subjects.index[subjects["all_alike"]])
    if not alike:
        return []
    return [
        f"all outcomes of {many(len(alike), 'subject')} are the same ({some(alike)}): the data "
        "bound their profiles on one side only; add harder or easier items"
    ]


def about_short_tests(latents: pd.DataFrame, subjects: int) -> list[str]:
    """Recommend a population where each subject has few trials and subjects are enough for one.

    The condition is fewer than 10 trials of the median subject for each profile element, and at
    least 8 subjects, which are enough to estimate how subjects differ.

    Examples
    --------
    >>> table = pd.DataFrame({"node": ["sight", "speed"], "trials": [12, 9]})
    >>> about_short_tests(table, subjects=30)[0]
    "12 trials of the median subject for 2 profile elements, fewer than 10 for each: ..."
    """
    trials, count = int(latents["trials"].max()), len(latents)
    if subjects < _ENOUGH_SUBJECTS or trials >= _ENOUGH_TRIALS * count:
        return []
    return [
        f"{many(trials, 'trial')} of the median subject for {many(count, 'profile element')}, "
        f"fewer than {_ENOUGH_TRIALS} for each: a joint fit of the {subjects} subjects may be more "
        "precise. Give priors parameters of the population, as in Prior('Normal', mu=Bias('mean', "
        "per='population'), sigma=Spread('spread')), and items effects of their own with per='item'"
    ]
