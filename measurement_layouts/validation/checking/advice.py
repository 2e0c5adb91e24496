"""Verdicts on latents before sampling, and descriptions of problems."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ...batteries.information.expected import CONFOUNDED
from ...common.messages import labels_together, many, some
from ...inference.posterior.summaries import LITTLE_LEARNT
from ...layouts import Layout
from ...linking import mean_failure

WELL_LEARNT = 0.5  # least share of the prior variance that data remove of an informed latent
_ENOUGH_TRIALS = 10  # least trials per profile element for a fit of each subject separately
_MOST_GROUPS = 30  # texts of a column that count as groups, at most
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


def learnt(
    names: Sequence[str], before: np.ndarray, after: np.ndarray, correlation: np.ndarray
) -> dict[str, object]:
    """Judge what data teach: columns of `Check.latents`, in the order of the names.

    Parameters
    ----------
    names : sequence of str
        Names of the profile elements or latents.
    before, after : ndarray, shape (names,)
        Standard deviations in the prior, and expected with the data.
    correlation : ndarray, shape (names, names)
        Expected posterior correlations; 0 for pairs that are not compared.
    """
    partner = np.abs(correlation).argmax(axis=1)
    strongest = correlation[np.arange(len(names)), partner]
    rivals = [
        names[other] if abs(r) > CONFOUNDED else ""
        for other, r in zip(partner, strongest, strict=True)
    ]
    shrinkage = 1 - (after / before) ** 2
    return {
        "prior_sd": before,
        "expected_sd": after,
        "shrinkage": shrinkage,
        "confounded_with": rivals,
        "correlation": strongest if len(names) > 1 else np.nan,
        "verdict": [verdict(*row) for row in zip(shrinkage, rivals, strict=True)],
    }


def about_constants(features: pd.DataFrame, needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Describe columns that never vary, although latents can only be inferred if they do."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for column, row in features[features["constant"]].iterrows():
        if need := needs.get(str(column)):
            value = f"{row['low']:g} on" if row["distinct"] else "undefined on"
            alike.setdefault((_node(str(column)), value, some(need)), []).append(str(column))
    return [
        f"{labels_together(columns)} is {value} all items, so its effect cannot be estimated, nor "
        f"{need}; add items with other values, or write numbers into the layout"
        for (_, value, need), columns in alike.items()
    ]


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


def about_latents(
    latents: pd.DataFrame,
    names: Sequence[str],
    more: Callable[[pd.DataFrame], str],
    known: Iterable[frozenset[str]] = (),
) -> list[str]:
    """Describe latents that the data will inform little, or that they will not tell apart.

    Parameters
    ----------
    latents : DataFrame
        Rows of `Check.latents`. Those of one node with the same problem are described together.
    names : sequence of str
        Names of the rows, as ``node[label]``.
    more : callable
        Returns which data would inform some rows of one node.
    known : iterable of frozenset of str
        Pairs of names that are described elsewhere.
    """
    met, pairs = set(known), dict[tuple[str, str], list[tuple[str, float]]]()
    for name, partner, r in zip(
        names, latents["confounded_with"], latents["correlation"], strict=True
    ):
        if partner and frozenset((name, partner)) not in met:
            met.add(frozenset((name, partner)))
            nodes = _node(name), _node(partner)
            pairs.setdefault(nodes, []).append((f"{name} and {partner}", r))
    said = []
    for found in pairs.values():
        each = "" if len(found) == 1 else "of each pair "
        said.append(
            f"{some(pair for pair, _ in found)} will hardly be told apart (expected posterior "
            f"correlation {_from_to(r for _, r in found)}): add items on which only one "
            f"{each or 'of them '}matters, or leave one {each}out of the layout"
        )
    table = latents.assign(name=list(names))
    for _, rows in table[table["verdict"] == "prior-dominated"].groupby("node", sort=False):
        prior = "it a prior" if len(rows) == 1 else "them priors"
        said.append(
            f"{labels_together(rows['name'])} will be prior-dominated (expected shrinkage "
            f"{_from_to(rows['shrinkage'])}): add {more(rows)}, or give {prior} that you believe"
        )
    return said


def more_items(rows: pd.DataFrame) -> str:
    """Describe the items that would inform the latents of some rows of `Check.latents`."""
    met = set(rows["informed_by"])
    columns = met.pop() if len(met) == 1 else "the columns that inform them"
    if not columns:
        return "items that differ in a property on which its effect depends, add trials"
    return (
        f"items that differ more in {columns}, at levels where the outcome is uncertain, add trials"
    )


def _node(name: str) -> str:
    """Return the name without its label."""
    return name.partition("[")[0]


def _from_to(values: Iterable[float]) -> str:
    """Write a number, or the smallest and the largest of several."""
    ordered = [f"{value:.2f}" for value in sorted(values)]
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def about_demands(collinear: pd.DataFrame) -> list[str]:
    """Describe demands that do not vary independently of each other among the items."""
    remedy = "their effects cannot be told apart; add items that have one and not the other"
    exact = [text for text in collinear["relation"] if text]
    size = collinear[["pearson", "spearman"]].abs().max(axis=1)
    near = collinear[(size >= _TOGETHER) & (collinear["relation"] == "")]
    said = [f"{some(exact)}: {remedy}"] if exact else []
    nodes = near["demands"].map(lambda pair: tuple(map(_node, pair.split(", "))))
    for _, rows in near.groupby(nodes, sort=False):
        pearson, spearman = (_from_to(rows[column]) for column in ("pearson", "spearman"))
        more = f" and {len(rows) - 3} more pairs" if len(rows) > 3 else ""
        said.append(
            f"{'; '.join(rows['demands'][:3])}{more} are correlated (Pearson {pearson}, "
            f"Spearman {spearman}): {remedy}"
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


def about_groups(layout: Layout, items: pd.DataFrame) -> list[str]:
    """Recommend an effect per group where a column of texts groups the items and is not used.

    Columns with 2 to 30 different texts count, on at least twice as many items.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> about_groups(layout, pd.DataFrame({"kind": list("aabb"), "name": list("wxyz")}))[0]
    "the layout does not use kind, which puts the items into 2 groups: ...Category('kind')..."
    """
    used = {column for node in layout.properties for column in node.columns}
    used |= {category.name for category in layout.categories}
    texts = items.drop(columns=items.columns.intersection(list(used)))
    texts = texts.select_dtypes(["object", "str", "category"])
    advice = []
    for name, column in texts.items():
        groups = column.dropna().map(str).nunique()
        if 2 <= groups <= min(_MOST_GROUPS, len(column) // 2):
            advice.append(
                f"the layout does not use {name}, which puts the items into {groups} groups: where "
                "groups differ beyond their demands, intervals on new groups are too narrow. Add "
                f"an effect per group, Effect('ease', per=Category({str(name)!r}), "
                "prior=Prior('Normal', mu=0, sigma=Spread('easeSpread'))), to the log-odds"
            )
    return advice


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
        "precise. Give priors parameters of the population, as in Prior('Normal', "
        "mu=Effect('mean'), sigma=Spread('spread')), and items an Effect('ease', per='item')"
    ]
