"""Findings about constants, subjects, short tests and unused groups of items."""

from collections.abc import Iterator

import pandas as pd

from ...common.findings import Finding
from ...common.messages import labels_together, many, some
from ...inference.model.features import read_features
from ...inference.model.variation import needing
from ...layouts import Layout
from ...layouts.opposed import opposed
from ...linking import mean_failure
from .columns import Columns

_ENOUGH_TRIALS = 10  # least trials per profile element for a fit of each subject separately
_ENOUGH_SUBJECTS = 8  # least subjects for a joint fit
_MOST_GROUPS = 30  # texts of a column that count as groups, at most


def about_constants(layout: Layout, columns: Columns, items: pd.DataFrame) -> Iterator[Finding]:
    """Report columns that never vary, although latents can only be inferred if they do."""
    demands, values = opposed(layout), read_features(layout, items[columns.usable])
    same: dict[tuple[str, str, str], list[str]] = {}
    for feature in layout.meta_features:
        for label, name in enumerate(feature.columns if feature.name in demands else ()):
            row = columns.table.loc[name]
            need = [] if row["distinct"] > 1 else needing(layout, feature, values, label)
            if need:
                value = f"{row['low']:g} on" if row["distinct"] else "undefined on"
                same.setdefault((feature.name, value, some(need)), []).append(name)
    remedy = "add items with other values, or write numbers into the layout"
    for (node, value, latents), names in same.items():
        text = f"{labels_together(names)} is {value} all items, so its effect cannot be estimated"
        yield Finding(node, "constant", f"{text}, nor {latents}", remedy)


def about_outcomes_twice(layout: Layout) -> Iterator[Finding]:
    """Report the double use of outcomes by a layout that uses the subject's mean failure."""
    if mean_failure not in layout.constants:
        return
    text = (
        "the outcome depends on the subject's own mean failure (mixture with toward=mean_failure), "
        "which is computed from the outcomes that it helps to explain: outcomes count twice, and "
        "90 % intervals contain the truth only 78 to 85 % of the time"
    )
    remedy = "give toward= a number such as 0.5, or a meta-feature with the chance of guessing"
    yield Finding(str(layout.outcome.name), "outcomes twice", text, remedy)


def about_subjects(subjects: pd.DataFrame) -> Iterator[Finding]:
    """Report subjects whose outcomes are all the same."""
    same = subjects.index[subjects["all_alike"]]
    if len(same):
        text = (
            f"all outcomes of {many(len(same), 'subject')} are the same ({some(same)}): the data "
        )
        text += "bound their profiles on one side only"
        yield Finding(some(same), "all alike", text, "add harder or easier items")


def about_short_tests(layout: Layout, latents: pd.DataFrame, subjects: int) -> Iterator[Finding]:
    """Recommend a population where each subject has few trials and subjects are enough for one.

    The condition is fewer than 10 trials of the median subject for each profile element, and at
    least 8 subjects, which are enough to estimate how subjects differ.
    """
    trials, count = int(latents["trials"].max()), len(latents)
    if layout.joint or subjects < _ENOUGH_SUBJECTS or trials >= _ENOUGH_TRIALS * count:
        return
    text = (
        f"{many(trials, 'trial')} of the median subject for {many(count, 'profile element')}, "
        f"fewer than {_ENOUGH_TRIALS} for each: a joint fit of the {subjects} subjects may be more "
        "precise"
    )
    remedy = (
        "give priors parameters of the population, as in Prior('Normal', mu=Effect('mean'), "
        "sigma=Spread('spread')), and items an Effect('ease', per='item')"
    )
    yield Finding("subjects", "short test", text, remedy)


def about_groups(layout: Layout, items: pd.DataFrame) -> Iterator[Finding]:
    """Recommend an effect per group where a column of texts groups the items and is not used.

    Columns with 2 to 30 different texts count, on at least twice as many items.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> items = pd.DataFrame({"kind": list("aabb"), "name": list("wxyz")})
    >>> print(*about_groups(layout, items))
    the layout does not use kind, which puts the items into 2 groups: ...Category('kind')...
    """
    used = {column for node in layout.properties for column in node.columns}
    used |= {category.name for category in layout.categories}
    texts = items.drop(columns=items.columns.intersection(list(used)))
    texts = texts.select_dtypes(["object", "str", "category"])
    for name, column in texts.items():
        groups = column.dropna().map(str).nunique()
        if 2 <= groups <= min(_MOST_GROUPS, len(column) // 2):
            text = (
                f"the layout does not use {name}, which puts the items into {groups} groups: where "
                "groups differ beyond their demands, intervals on new groups are too narrow"
            )
            remedy = (
                f"add an effect per group, Effect('ease', per=Category({str(name)!r}), "
                "prior=Prior('Normal', mu=0, sigma=Spread('easeSpread'))), to the log-odds"
            )
            yield Finding(str(name), "groups", text, remedy)
