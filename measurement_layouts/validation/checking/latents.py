"""What the data would tell of each latent: trials, expected standard deviations, confounding."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ...batteries.information.expected import CONFOUNDED, draws_of, expected
from ...batteries.information.sensitivity import Sensitivity, labelled
from ...common.findings import Finding
from ...common.messages import from_to, labels_together, some
from ...evaluations.evaluation import Evaluation
from ...inference.model.linkage import about_unlinked, unlinked_groups
from ...inference.model.new_levels import parents
from ...inference.posterior.summaries import LITTLE_LEARNT
from ...layouts import Layout
from ...layouts.elements import Element, elements
from ...layouts.plates import POPULATION, SUBJECT, plate_name
from ...linking import units
from .attempts import Attempts
from .columns import informed_by
from .ridges import about_ridges

_WELL_LEARNT = 0.5  # least share of the prior variance that data remove of an informed latent


def read_latents(
    layout: Layout, evaluation: Evaluation, items: np.ndarray, varying: Sequence[str], *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, list[Finding]]:
    """Count the data on each latent, and compute the expected precision of each profile.

    The expected standard deviations of a subject's elements are those of `expected.expected`, from
    the subject's own outcomes: in a joint layout, values that subjects share count as known, and
    the prior is that of a single subject. Those of shared values are not computed.

    Parameters
    ----------
    layout : Layout
        The layout.
    evaluation : Evaluation
        Items and outcomes.
    items : ndarray of bool, shape (items,)
        Usable items with attempts.
    varying : sequence of str
        Columns of the items that vary.
    seed : int
        Seed of the draws from the prior.

    Returns
    -------
    latents, expected : DataFrame
        As in `Check`.
    findings : list of Finding
        Groups that share no item, ridges, confounded and prior-dominated elements.
    """
    attempts, choice = Attempts.of(layout, evaluation, items), labelled(layout)
    features = {name: values[attempts.examples] for name, values in attempts.features.items()}
    rows = len(attempts.examples)
    source = Sensitivity.of(layout, features, rows, draws_of(rows, len(choice)), seed)
    slopes = source.scaled.reshape(-1, len(choice))
    fisher = slopes.T @ slopes
    latents = _counted(layout, attempts, source.matters[source.evaluator.row], varying)
    sds, after, correlation = _expected(layout, attempts, seed)
    latents = latents.join(_judged(choice, source.spread, after, correlation))
    cohort = attempts.cohort
    groups = unlinked_groups(cohort) if layout.joint else []
    unlinked = [text.partition("\n") for text in about_unlinked(cohort, groups)]
    ridges = [] if groups else about_ridges(cohort, choice, fisher, source.spread)
    names = [element.name for element in elements(layout, cohort.levels)]
    findings = [
        *(Finding("subjects", "unlinked", text, remedy) for text, _, remedy in unlinked),
        *ridges,
        *_about_pairs(latents, {finding.where for finding in ridges}),
        *_about_dominated(latents),
    ]
    return latents, pd.DataFrame(sds, evaluation.subjects)[names], findings


def _expected(
    layout: Layout, attempts: Attempts, seed: int
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Compute sds of the profile's elements by subject; of the median; correlations of latents."""
    choice, cohort = labelled(layout), attempts.cohort
    after, correlation = np.full(len(choice), np.nan), np.zeros((len(choice), len(choice)))
    sds = dict[str, np.ndarray]()
    for plates in dict.fromkeys(latent.plates for latent in layout.profile):
        columns = [at for at, element in enumerate(choice) if element.latent.plates == plates]
        trials = attempts.by_level(choice[columns[0]].latent)
        conditional = columns if layout.joint else None
        result = expected(layout, attempts.features, trials, seed=seed, columns=conditional)
        after[columns] = np.median(result.sds, axis=0)
        correlation[np.ix_(columns, columns)] = result.correlation * (1 - np.eye(len(columns)))
        grid = np.moveaxis(result.sds.reshape(*cohort.size(plates), -1), plates.index(SUBJECT), 0)
        grid = grid.reshape(len(grid), -1, len(columns))
        position = {(choice[at].latent, choice[at].labels): n for n, at in enumerate(columns)}
        for element in elements(layout, cohort.levels):
            if element.latent.plates == plates:
                column = position[element.latent, element.labels]
                sds[element.name] = grid[:, element.level_index, column]
    return sds, after, correlation


def _counted(
    layout: Layout, attempts: Attempts, matters: np.ndarray, varying: Sequence[str]
) -> pd.DataFrame:
    """Count the items, and the trials of each level, whose outcome depends on each latent."""
    cohort, choice = attempts.cohort, labelled(layout)
    outcomes, outcome = np.unique(attempts.first[: len(matters)], return_inverse=True)
    reached = np.logical_or.reduceat(matters, outcomes)[outcome[cohort.row]]
    for column, element in reversed(list(enumerate(choice))):
        above = {up for prior in element.latent.priors for p in prior.parents for up in parents(p)}
        of_parents = [element.latent in above for element in choice]
        reached[:, of_parents] |= reached[:, [column]]
    rows = []
    for element, cells in zip(choice, reached.T, strict=True):
        latent, levels = element.latent, int(np.prod(cohort.size(element.latent.plates), dtype=int))
        count = np.bincount(attempts.level(latent), cohort.trials * cells, minlength=levels)
        columns = [column for column in informed_by(layout, element) if column in varying]
        rows.append(
            {
                "node": latent.name,
                "label": element.label,
                "per": " and ".join(map(plate_name, latent.plates)) or POPULATION,
                "levels": levels,
                "unit": units.name(latent.unit),
                "informed_by": ", ".join(columns),
                "items": len(np.unique(cohort.item[cells])),
                "trials": int(np.median(count)),
                "least_trials": int(count.min()),
            }
        )
    return pd.DataFrame(rows)


def _judged(
    choice: Sequence[Element], before: np.ndarray, after: np.ndarray, correlation: np.ndarray
) -> pd.DataFrame:
    """Compare expected standard deviations with those of the prior: columns of the latents."""
    partner = np.abs(correlation).argmax(axis=1)
    strongest = correlation[np.arange(len(choice)), partner]
    names = np.array([element.name for element in choice], dtype=object)
    rivals = np.where(abs(strongest) > CONFOUNDED, names[partner], "")
    shrinkage = 1 - (after / before) ** 2
    verdicts = {
        "shared": np.isnan(shrinkage),
        "confounded": rivals != "",
        "prior-dominated": shrinkage < LITTLE_LEARNT,
        "weakly informed": shrinkage < _WELL_LEARNT,
    }
    verdict = np.select(list(verdicts.values()), list(verdicts), "informed")
    return pd.DataFrame(
        {
            "prior_sd": before,
            "expected_sd": after,
            "shrinkage": shrinkage,
            "confounded_with": rivals,
            "correlation": strongest if len(choice) > 1 else np.nan,
            "verdict": np.where(rivals == "", verdict, "confounded with " + rivals),
        }
    )


def _about_pairs(latents: pd.DataFrame, described: set[str]) -> Iterator[Finding]:
    """Report elements that outcomes hardly tell apart, except pairs that are described already."""
    table = latents.assign(name=named(latents)).query("confounded_with != ''")
    pairs = dict[frozenset[str], float]()
    for name, rival, r in table[["name", "confounded_with", "correlation"]].to_numpy():
        if f"{rival} and {name}" not in described and f"{name} and {rival}" not in described:
            pairs.setdefault(frozenset((name, rival)), r)
    if pairs:
        order = {name: position for position, name in enumerate(named(latents))}
        together = [" and ".join(sorted(pair, key=order.__getitem__)) for pair in pairs]
        text = f"{some(together)} will hardly be told apart (expected posterior correlation"
        remedy = "add items on which only one of two matters, or leave one out of the layout"
        size = max(pairs.values(), key=abs)
        text += f" {from_to(pairs.values())})"
        yield Finding(together[0], "confounded", text, remedy, size)


def _about_dominated(latents: pd.DataFrame) -> Iterator[Finding]:
    """Report elements about which outcomes tell little, those of a node together."""
    table = latents.assign(name=named(latents)).query("verdict == 'prior-dominated'")
    for node, rows in table.groupby("node", sort=False):
        columns = rows["informed_by"].unique()
        by = columns[0] if len(columns) == 1 else "the columns that inform them"
        text = f"{labels_together(rows['name'])} will be prior-dominated (expected shrinkage"
        remedy = (
            f"add items that differ more in {by or 'a property on which its effect depends'}, at "
            "levels where the outcome is uncertain, add trials, or give a prior that you believe"
        )
        lowest = float(rows["shrinkage"].min())
        text += f" {from_to(rows['shrinkage'])})"
        yield Finding(str(node), "prior-dominated", text, remedy, lowest)


def named(latents: pd.DataFrame) -> pd.Series:
    """Write the names of elements, as ``node`` or ``node[label]``."""
    labels = latents["label"].map(lambda label: f"[{label}]" if label else "")
    return latents["node"] + labels
