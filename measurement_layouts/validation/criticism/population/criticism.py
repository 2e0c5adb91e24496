"""Criticism of a layout with a population, as tables and sentences."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ....common.digits import fixed, with_interval
from ....common.messages import some
from ....evaluations.evaluation import Evaluation
from ....inference.fit import Fit
from ....layouts import Layout
from ..overdispersion import ALIKE, remedy
from .attempts import REPEATED
from .dependence import TOGETHER
from .explained import Explained
from .invariance import STANDARD
from .item_fit import LEVEL

TABLES = ("subjects", "items", "groups", "pairs")


@dataclass(frozen=True, eq=False)
class PopulationCriticism:
    """Criticism of a joint fit by subjects, items, groups of subjects and pairs of items.

    Made by `criticise` from a joint fit. If the layout is sufficient, the probability of any false
    alarm in a table is at most `alpha` (Holm's adjustment).

    Attributes
    ----------
    subjects : DataFrame
        Person fit: subjects with unexpected patterns of outcomes; see `person_fit.person_fit`.
    items : DataFrame
        Item fit: items that are steeper, flatter or easier than expected; see `item_fit.item_fit`.
    groups : DataFrame
        Invariance: items that are easier for some subjects; see `invariance.invariance`.
    pairs : DataFrame
        Local dependence: items that have more in common than expected; see `dependence.pairs` and
        `dependence.testlets`.
    explained : Explained
        Share of the items' difficulty that the declared demands explain; see `explained.explained`.
    fit : Fit
        The fit that was criticised.
    evaluation : Evaluation
        Evaluation with the columns.
    alpha : float
        Probability of any false alarm in a table.
    prob : float
        Mass of the intervals.
    testlets : str
        Column of the items that groups those that belong together; empty without.

    Examples
    --------
    >>> import numpy as np
    >>> from measurement_layouts import Capability, Effect, Layout, Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> from measurement_layouts.validation.criticism.criticise import criticise
    >>> skill = Capability("skill", prior=Prior("Normal", mu=0, sigma=Spread("spread")))
    >>> ease = Effect("ease", per="item", prior=Prior("Normal", mu=0, sigma=1))
    >>> layout = Layout("quiz", Success("solved", logistic(skill + ease)))
    >>> rng = np.random.default_rng(1)
    >>> able, easy = rng.normal(size=(12, 1)), np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    >>> passed = (rng.logistic(size=(12, 6)) < able + easy).astype(float)
    >>> outcomes = pd.DataFrame(passed, list("ABCDEFGHIJKL"), list("uvwxyz"))
    >>> people = pd.DataFrame({"school": ["east", "west"] * 6}, outcomes.index)
    >>> known = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns),
    ...                              subjects=people)
    >>> found = fit(layout, known, draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> criticise(found, known)
    <PopulationCriticism of 'quiz': 0 of 12 subjects flagged, 0 of 6 items, 0 of 6 items by groups,
    0 pairs, at 5% in each>
    """

    subjects: pd.DataFrame
    items: pd.DataFrame
    groups: pd.DataFrame
    pairs: pd.DataFrame
    explained: Explained
    fit: Fit
    evaluation: Evaluation
    alpha: float
    prob: float
    testlets: str = ""

    def flagged(self) -> pd.DataFrame:
        """Combine the flagged rows of all tables.

        Returns
        -------
        DataFrame
            Columns ``table``, ``name`` (of a subject, an item, two items or a testlet),
            ``effect``, ``low``, ``high`` and ``p_adjusted``.
        """
        columns = ["table", "name", "effect", "low", "high", "p_adjusted"]
        parts = [pd.DataFrame(columns=columns)]
        for name, rows in self._flagged.items():
            if len(rows):
                named = [row_name(name, row) for row in rows.to_dict("records")]
                parts.append(rows.assign(table=name, name=named)[columns])
        return pd.concat(parts[1:] or parts, ignore_index=True)

    def suggestions(self) -> list[str]:
        """Describe what is flagged, and the effect to add to the layout.

        Returns
        -------
        list of str
            Sentences, each only if something is flagged: one for subjects, one for slopes and one
            for levels of items; one for each column of the subjects; and one for pairs or testlets.
        """
        subjects, items, groups, pairs = self._flagged.values()
        level = items["what"] == LEVEL
        repeated, count = pairs["testlet"] == REPEATED, self.groups["by"].value_counts()
        told = [_of_subjects(subjects)] if len(subjects) else []
        told += [_of_slopes(items[~level])] if (~level).any() else []
        told += [_of_levels(items[level])] if level.any() else []
        told += [_of_group(rows, count[by]) for by, rows in groups.groupby("by", sort=False)]
        told += [_of_pairs(pairs[~repeated], self.testlets)] if (~repeated).any() else []
        told += [_of_attempts(pairs[repeated], self.fit.layout)] if repeated.any() else []
        return told

    @property
    def _flagged(self) -> dict[str, pd.DataFrame]:
        """The flagged rows of each table."""
        tables: dict[str, pd.DataFrame] = {name: getattr(self, name) for name in TABLES}
        return {name: table[table["flagged"]] for name, table in tables.items()}

    def __repr__(self) -> str:
        items = self.items.groupby("item", sort=False)["flagged"].any()
        told = [
            f"{int(self.subjects['flagged'].sum())} of {len(self.subjects)} subjects flagged",
            f"{int(items.sum())} of {len(items)} items",
        ]
        if len(self.groups):
            groups = int(self.groups["flagged"].sum())
            told.append(f"{groups} of {len(self.groups)} items by groups")
        alike = int(self.pairs["flagged"].sum())
        told.append(f"{alike} of {len(self.pairs)} testlets" if self.testlets else f"{alike} pairs")
        name = self.fit.layout.name
        return f"<PopulationCriticism of {name!r}: {', '.join(told)}, at {self.alpha:.0%} in each>"


def row_name(table: str, row: Mapping[Hashable, Any]) -> str:
    """Name the object of a row: a subject, an item, two items or a testlet."""
    if table == "pairs":
        return str(row["testlet"] or f"{row['item']} + {row['other']}")
    if table == "groups":
        return f"{row['item']}, {row['by']} {row['level']}"
    return f"{row['item']}, {row['what']}" if table == "items" else str(row["subject"])


def _numbers(row: pd.Series) -> str:
    """Write an effect with its interval."""
    return with_interval(row["effect"], row["low"], row["high"])


def _of_subjects(flagged: pd.DataFrame) -> str:
    """Describe subjects with unexpected patterns of outcomes."""
    flat, regular = (flagged[flagged["effect"] * sign > 0]["subject"] for sign in (-1, 1))
    told = []
    if len(flat):
        row = flagged.loc[flat.index[0]]
        example = ""
        if row["hard"]:
            example = (
                f" ({row['subject']} passes {row['observed']:.0%} of its hard items instead of "
                f"{row['expected']:.0%})"
            )
        told.append(
            f"{some(flat)}: the pattern is flatter than the layout implies{example}, as if items "
            "were memorised, guessed, or skipped on purpose"
        )
    if len(regular):
        told.append(f"{some(regular)}: the pattern is more regular than the layout implies")
    return (
        f"{'; '.join(told)}; inspect these outcomes, or give subjects slopes of their own: "
        'Slope("steepness")'
    )


def _of_slopes(flagged: pd.DataFrame) -> str:
    """Describe items that are flatter or steeper, and what to add."""
    parts = []
    for word, sign in (("less", -1), ("more", 1)):
        own = flagged[flagged["effect"] * sign > 0]
        if len(own):
            parts.append(
                f"{some(own['item'])} discriminate{'s' if len(own) == 1 else ''} between "
                f"subjects {word} than the layout implies "
                f"({own['item'].iloc[0]}: {_numbers(own.iloc[0])})"
            )
    backwards = flagged[flagged["high"] < -1]["item"]
    key = f"; check the key of {some(backwards)}" if len(backwards) else ""
    return (
        f"{'; '.join(parts)}{key}; give items slopes of their own: "
        'Slope("discrimination", per="item")'
    )


def _of_levels(flagged: pd.DataFrame) -> str:
    """Describe items that are easier or harder, and what to add."""
    return (
        f"{some(flagged['item'])}: easier or harder than the layout implies "
        f"({flagged['item'].iloc[0]}: {_numbers(flagged.iloc[0])} log-odds); give items an ease of "
        'their own: Effect("ease", per="item", prior=Prior("ZeroSumNormal", '
        'sigma=Spread("easeSpread")))'
    )


def _of_group(flagged: pd.DataFrame, count: int) -> str:
    """Describe items, of so many, that are easier for some groups, and what to add."""
    row = flagged.sort_values("p").iloc[0]
    return (
        f"{len(flagged)} of {count} items differ in difficulty by {row['by']}: "
        f"{some(flagged['item'])} ({row['item']}, {row['level']} against {row['against']}: "
        f"{_numbers(row)} log-odds relative to the other items); inspect these items, or add "
        f"{_favour(row)}"
    )


def _favour(row: pd.Series) -> str:
    """Write the effect of a column of the subjects on single items."""
    if row["level"] == STANDARD:
        return f'Effect("weight", per="item") times MetaFeature({row["by"]!r}, ..., per="subject")'
    return (
        f'Effect("favour", per=(Category({row["by"]!r}, per="subject"), "item"), '
        'prior=Prior("Normal", mu=0, sigma=Spread("favourSpread")))'
    )


def _of_pairs(flagged: pd.DataFrame, testlets: str) -> str:
    """Describe items with more or less in common, the effect on intervals, and what to add."""
    told = []
    for word, sign in (("more", 1), ("less", -1)):
        own = flagged[flagged["effect"] * sign > 0]
        if len(own):
            names = [row_name("pairs", row) for row in own.to_dict("records")]
            told.append(
                f"{testlets} {some(names)}".strip() + f": items have {word} in common than the "
                f"layout implies ({names[0]}: {_numbers(own.iloc[0])} squared log-odds, "
                f"Q3 {fixed(own.iloc[0]['q3'], 2)})"
            )
    if not (flagged["effect"] > 0).any():
        return f"{told[0]}; inspect these items: success on one may reduce success on the other"
    return (
        f"{'; '.join(told)}{widened(flagged)}; add an effect of each subject on each group of "
        f'items: Effect("shared", per=("subject", Category({testlets or "testlet"!r})), '
        'prior=Prior("Normal", mu=0, sigma=Spread("sharedSpread")))'
    )


def _of_attempts(flagged: pd.DataFrame, layout: Layout) -> str:
    """Describe repeated attempts that are too similar, the effect, and what to add."""
    row = flagged.iloc[0]
    if row["effect"] < 0:
        return (
            "repeated attempts at an item are less alike than the layout allows "
            f"({_numbers(row)} squared log-odds); keep one attempt at each item"
        )
    return (
        f"{ALIKE}, as if each subject had an effect of its own on each item, with a variance of "
        f"{_numbers(row)} squared log-odds{widened(flagged)}; {remedy(layout)}"
    )


def widened(flagged: pd.DataFrame) -> str:
    """State by about what factor intervals of subjects are too narrow, for all flagged rows."""
    together = flagged[flagged["testlet"] == TOGETHER]
    rows = together if len(together) else flagged
    factor = max(1 + float((rows["widening"] ** 2 - 1).sum()), 0) ** 0.5
    if factor < 1.01:
        return ""
    return f"; intervals of subjects should be about {factor:.2f} times as wide"
