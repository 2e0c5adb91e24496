"""Criticism of a fit: which cells, subjects, items, groups and properties its layout misses."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ...common import options
from ...common.errors import DataError, FitError
from ...common.findings import Finding
from ...common.messages import some
from ...common.showing import Overview, Shown
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import Rows
from ...evaluations.tables import need_columns
from ...inference.fit import Fit
from ...inference.given import refuse_few_draws, refuse_no_fit
from ...inference.model.unseen import refuse_unseen
from ...layouts.plates import ITEM
from .agreement import agreement, outcomes_by_item
from .cells import Outcomes
from .dependence import TOGETHER, attempts, pairs, testlet_table
from .fit_tables import cell_table, item_fit, person_fit
from .groups import Contrast, group_columns, invariance
from .properties import (
    candidate_columns,
    places_of,
    property_table,
    read_property,
    residual_table,
    taken,
    used_columns,
)
from .sentences import findings

_FEWEST_ITEMS = 10  # smallest number of items of equal properties to compare agreement on


@dataclass(frozen=True, eq=False)
class Criticism(Shown):
    """What a layout misses, by cell, subject, item, group of subjects, and property of items.

    Made by `criticise`. If the layout is sufficient, the probability of any false alarm is at most
    `alpha` in each table (Holm's adjustment; of subjects, the false discovery rate).

    Attributes
    ----------
    table : DataFrame
        One row per subject and property; a subject's flagged ones first, then by gain. No rows for
        a joint fit, unless candidates were given.

        - ``kind``: "candidate", a property that the layout does not use, or "used": whether another
          form for one that it uses would explain more than the layout does.
        - ``level``: the level whose success rate deviates most from the one that the layout, with
          any form for its own properties, expects; ``observed`` and ``expected`` are these rates on
          the level's items, ``effect`` their difference, ``low`` and ``high`` the ends of its
          interval.
        - ``gain``, ``gain_se``: expected gain in leave-one-out elpd (nats) from effects of
          the property's levels.
        - ``statistic``, ``df``, ``p``, ``p_adjusted``: the test that these effects explain
          nothing, alone and adjusted for all properties of the kind and all subjects.
        - ``flagged``: whether ``p_adjusted`` is at most `alpha` and ``gain`` positive; ``cell``:
          position of the single cell that explains it, or -1; ``remark``: the reason where there is
          no test.
    subjects : DataFrame
        Subjects with unexpected patterns of outcomes; see `fit_tables.person_fit`.
    items : DataFrame
        Items that are steeper, flatter or easier than expected; see `fit_tables.item_fit`.
    groups : DataFrame
        Items that are easier or steeper for some subjects; see `groups.invariance`.
    pairs : DataFrame
        Items that have more in common than expected; see `dependence.pairs`.
    overdispersion : DataFrame
        Repeated attempts that are more alike than expected; see `dependence.attempts`.
    agreement : DataFrame
        Subjects whose outcomes agree with no other's; see `agreement.agreement`.
    cells : DataFrame
        Single outcomes, the most unexpected first; see `fit_tables.cell_table`.
    fit : Fit
        The fit that was criticised.
    evaluation : Evaluation
        Evaluation with the properties of the items and subjects.
    alpha, prob : float
        Probability of any false alarm in a table, and mass of the intervals.
    seed : int
        Seed of the replicated outcomes.
    testlets : str
        Column of the items that groups those that belong together; empty without.

    Examples
    --------
    >>> from measurement_layouts.validation.criticism.criticise import criticise
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-30"],
    ...              draws=200, tune=300, chains=2, seed=1, progressbar=False)
    >>> criticism = criticise(result, cohort.evaluation, candidates=["size"])
    >>> criticism.suggestions()
    []
    >>> criticism.residuals("sim-30", "rewardBehind")[["items", "trials"]]
                  items  trials
    rewardBehind
    0  ...
    """

    table: pd.DataFrame
    subjects: pd.DataFrame
    items: pd.DataFrame
    groups: pd.DataFrame
    pairs: pd.DataFrame
    overdispersion: pd.DataFrame
    agreement: pd.DataFrame
    cells: pd.DataFrame
    fit: Fit
    evaluation: Evaluation
    alpha: float
    prob: float
    seed: int
    testlets: str = ""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables of effects, by name."""
        return {
            "properties": self.table,
            "subjects": self.subjects,
            "items": self.items,
            "groups": self.groups,
            "pairs": self.pairs,
            "repeated attempts": self.overdispersion,
        }

    @property
    def candidates(self) -> pd.DataFrame:
        """Rows of `table` on properties that the layout does not use."""
        return self.table[self.table["kind"] == "candidate"].reset_index(drop=True)

    @property
    def forms(self) -> pd.DataFrame:
        """Rows of `table` on properties that the layout uses."""
        return self.table[self.table["kind"] == "used"].reset_index(drop=True)

    def first(self) -> pd.Series:
        """Find each subject's first flagged candidate, by subject; missing where there is none."""
        flagged = self.candidates[self.candidates["flagged"]]
        first = flagged.drop_duplicates("subject").set_index("subject")["property"]
        return first.reindex(list(dict.fromkeys(self.table["subject"])))

    def findings(self) -> list[Finding]:
        """Describe what is flagged, single cells first, and what could not be computed."""
        layout = self.fit.layout
        results = list(findings(self.tables, self.cells, self.agreement, layout, self.testlets))
        if layout.steps is None:
            return results
        return [  # the sign between the names of an item and of its step becomes a comma
            replace(one, where=one.where.replace(" · ", ", "), text=one.text.replace(" · ", ", "))
            for one in results
        ]

    def flagged(self) -> pd.DataFrame:
        """Combine the flagged rows of all tables of effects.

        Returns
        -------
        DataFrame
            Columns ``table``, ``name`` (of what the row is about), ``effect``, ``low``, ``high``
            and ``p_adjusted``.
        """
        columns = ["table", "name", "effect", "low", "high", "p_adjusted"]
        rows = [
            {**row, "table": name, "name": row_name(row)}
            for name, table in self.tables.items()
            for row in table[table["flagged"]].to_dict("records")
        ]
        return pd.DataFrame(rows, columns=columns)

    def suggestions(self) -> list[str]:
        """Describe what is flagged, with what to inspect or to add to the layout.

        Returns
        -------
        list of str
            Sentences without their full stops; a misfit that a single cell explains is described as
            that cell.
        """
        return [str(finding) for finding in self.findings() if finding.computed]

    def untried(self) -> str:
        """State why no candidate could be tried, with the remedy; empty if any was tried.

        Returns
        -------
        str
            A sentence without its full stop.
        """
        candidates = self.candidates
        if candidates["p"].notna().any() or (self.fit.layout.joint and candidates.empty):
            return ""
        why = "the layout uses every property of the items, other than names of items"
        if len(candidates):
            names = candidates.groupby("remark")["property"].unique()
            why = "; ".join(f"{some(tried)}: {remark}" for remark, tried in names.items())
        return (
            f"no candidate could be tried ({why}); add columns of numbers or categories to the "
            "evaluation's items"
        )

    def residuals(self, subject: object = None, *properties: str) -> pd.DataFrame:
        """Compare success rates with the layout's posterior predictive distribution, by level.

        Parameters
        ----------
        subject : object
            Name of the subject; None for all subjects together.
        *properties : str
            One property, or several whose levels are combined, such as a candidate and a property
            of the layout.

        Returns
        -------
        DataFrame
            Table as returned by `properties.residual_table`.

        Raises
        ------
        DataError
            When no property is named, or one is unknown.
        FitError
            When the subject is not in the fit.
        """
        if not properties:
            raise DataError("no property was named; give one or several columns of the items")
        rows = self.fit.places(None if subject is None else [subject])
        settings = {"alpha": self.alpha, "prob": self.prob, "seed": self.seed}
        outcomes = Outcomes.of(self.fit, rows, rows, progressbar=False, **settings)
        levels = _properties(self.evaluation, outcomes.items, properties)
        columns = [one.iloc[outcomes.item] for one in levels]
        cells = outcomes.cells(np.arange(len(outcomes.item)))
        return residual_table(cells, columns, self.prob, np.random.default_rng(self.seed))

    def _overview(self) -> Overview:
        facts = {"flagged": repr(self)[1:-1].partition(": flagged ")[2]}
        calls = {
            "criticism.suggestions()": "what is flagged, in words, with remedies",
            "criticism.subjects, .items, .groups, .pairs, .table": "every test, with effects",
            "criticism.cells": "single outcomes, the most unexpected first",
            "ml.describe(fit, criticism)": "descriptions of profiles, with what the layout misses",
        }
        return Overview(facts, calls, {"flagged": self.flagged()})

    def __repr__(self) -> str:
        own = self.overdispersion
        tables = {
            "candidates": self.candidates,
            "used properties": self.forms,
            "subjects": self.subjects,
            "items": self.items.groupby("item", sort=False)[["flagged", "p"]].max(),
            "items by groups": self.groups,
            "subjects' repeated attempts": own[own["subject"] != TOGETHER],
        }
        counts = [
            f"{table['flagged'].sum()} of {table['p'].notna().sum()} {name}"
            for name, table in tables.items()
            if len(table)
        ]
        pair = "testlets" if self.testlets else "pairs"
        counts += [f"{self.pairs['flagged'].sum()} {pair}", f"{self.cells['flagged'].sum()} cells"]
        name = self.fit.layout.name
        return f"<Criticism of {name!r}: flagged {', '.join(counts)}, at {self.alpha:.0%} in each>"


def row_name(row: dict) -> str:  # type: ignore[type-arg]
    """Name what a row of a table is about: a subject, an item, two items, a testlet."""
    if row.get("testlet") or row.get("other"):
        return str(row["testlet"] or f"{row['item']} + {row['other']}")
    first = str(row["item"] if "item" in row else row["subject"])
    rest = [str(row[name]) for name in ("property", "by", "level", "what") if name in row]
    return ", ".join([first, *rest])


def criticise(
    fit: Fit,
    evaluation: Evaluation,
    *,
    candidates: Iterable[str] | None = None,
    by: str | Iterable[str] | None = None,
    anchors: Iterable[str] | None = None,
    testlets: str | None = None,
    subjects: Iterable[object] | None = None,
    alpha: float = 0.05,
    prob: float = 0.9,
    seed: int = 1,
    progressbar: bool = True,
) -> Criticism:
    r"""Find what a layout leaves unexplained: in cells, subjects, items, groups and properties.

    Each test is a score test of an effect that the layout does not have, from the draws of the
    fit, whether subjects were fitted alone or together: nothing is sampled again. Sums of residuals
    are divided by their standard deviation, from which the part that the fit absorbs is subtracted,
    and compared with the same sums of replicated outcomes; see `scores.score`. P values are
    (k + 1) / (n + 1), with as many replicates as the adjustment needs.

    Memory is bounded by the number of attempted cells, of which 1,000 posterior draws, or fewer of
    more than 33,000 cells, are read.

    Parameters
    ----------
    fit : Fit
        The fit, with the outcomes to which it was fitted.
    evaluation : Evaluation
        Properties of the items and subjects.
    candidates : iterable of str, optional
        Columns of the items, tested for each subject. The default is all columns that the layout
        does not use, except those with a different text for nearly every item; of a joint fit,
        none. If there are none, `Criticism.untried` states the reason.
    by : str or iterable of str, optional
        Columns of the evaluation's subjects, each with few levels or numbers (default: of a joint
        fit, all with two to eight levels of at least two subjects each; otherwise none).
    anchors : iterable of str, optional
        Items that are the same for all groups, by which these are compared (default: all others).
    testlets : str, optional
        Column of the evaluation's items that groups those that belong together (default: all pairs
        of items are tested, of up to 200 items).
    subjects : iterable, optional
        Subjects in the tables of subjects and properties (default: all).
    alpha : float, default 0.05
        Probability of any false alarm in a table, in (0, 1); among subjects, the false discovery
        rate.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.
    seed : int
        Seed of the replicated outcomes.
    progressbar : bool, default True
        Whether to show the progress.

    Returns
    -------
    Criticism
        Tables, with methods that return findings, suggestions and residuals.

    Raises
    ------
    DataError
        When `candidates` is empty, a candidate is unknown or used by the layout, or an item of the
        fit is not in the evaluation; when a column of `by` or `testlets` is not there, has missing
        values, or does not group; when an anchor is no item.
    FitError
        When `fit` is something else, a subject is not in the fit, `alpha` or `prob` is out of
        range, there are fewer than 100 draws, or the trials of an item depend on each other because
        of an `Unseen` property.

    References
    ----------
    Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6. Rubin, D. B. (1984), Bayesianly justifiable and relevant frequency calculations
    for the applied statistician, Annals of Statistics 12.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=200, tune=300, chains=2, seed=1, progressbar=False)
    >>> items = cohort.evaluation.items.assign(day=np.arange(69) % 5)
    >>> known = Evaluation(items, cohort.evaluation.successes, cohort.evaluation.trials)
    >>> criticise(result, known, candidates=["day"])
    <Criticism of 'animal-ai-olympics': flagged 0 of 2 candidates, 0 of 8 used ...>
    """
    refuse_no_fit(fit)
    refuse_no_evaluation(evaluation)
    alpha = options.inside("alpha", alpha, such_as=0.05)
    prob = options.inside("prob", prob, such_as=0.9)
    seed = options.whole("seed", seed)
    refuse_few_draws(fit, "criticise")
    layout, asked = fit.layout, fit.places(subjects)
    if not len(asked):
        raise FitError("criticise: subjects= names no subject; name some, or omit it for all")
    if bool((fit.coded.select(asked).trials > 1).any()):
        refuse_unseen(layout, "criticise", "fit items of one trial each", 2)
    tested = candidates is not None or not layout.joint
    names = candidate_columns(fit, evaluation.items, candidates) if tested else []
    used = used_columns(fit) if tested else []
    rows = fit.places() if layout.joint else asked
    people = evaluation.subject_table
    people = people.iloc[places_of(fit.names(rows), people.index, "subject")]
    columns = group_columns(people, by) if layout.joint or by is not None else []
    contrasts = [Contrast.of(people, name) for name in columns]
    anchors = [] if anchors is None else list(map(str, anchors))
    places_of(anchors, fit.item_names, "anchor")
    testlet = None if testlets is None else _testlets(evaluation, fit.item_names, testlets)
    settings: dict[str, Any] = {"alpha": alpha, "prob": prob, "seed": seed}
    with threadpool_limits(1, user_api="blas"):  # more threads change the last digits
        outcomes = Outcomes.of(fit, rows, asked, progressbar, **settings)
        forms, others = (_properties(evaluation, outcomes.items, of) for of in (used, names))
        own_levels = any(latent.plates == (ITEM,) for latent in layout.latents)
        return Criticism(
            table=property_table(outcomes, forms, others),
            subjects=person_fit(outcomes),
            items=item_fit(outcomes, levels=not own_levels),
            groups=invariance(outcomes, contrasts, anchors),
            pairs=pairs(outcomes) if testlet is None else testlet_table(outcomes, testlet),
            overdispersion=attempts(outcomes),
            agreement=_agreement(fit, forms, asked, prob),
            cells=cell_table(outcomes),
            fit=fit,
            evaluation=evaluation,
            testlets=testlets or "",
            **settings,
        )


def _properties(
    evaluation: Evaluation, items: list[str], columns: Iterable[str]
) -> list[pd.Series]:
    """Divide columns of the fitted items into levels."""
    table = evaluation.items
    positions = places_of(items, table.index, "item")
    return [taken(read_property(table, name), positions) for name in columns]


def _testlets(evaluation: Evaluation, items: pd.Index, name: str) -> np.ndarray:
    """Read the name of each item's testlet; empty where no other item is in it."""
    table = evaluation.items
    need_columns(table.columns, [name], "testlets: the items have")
    column = table[name].iloc[places_of(items, table.index, "item")]
    together = column.notna() & column.duplicated(keep=False)
    if not together.any():
        raise DataError(
            f"testlets: {name} is different for each item; name a column with the same value for "
            "all items of a testlet"
        )
    return column.map(str).where(together, "").to_numpy()


def _agreement(fit: Fit, used: list[pd.Series], rows: np.ndarray, prob: float) -> pd.DataFrame:
    """Compare the outcomes of all subjects with each other, within items of equal properties."""
    steps = None if fit.layout.steps is None else Rows.read(fit.item_names)
    strata = None
    if used and steps is None:
        codes = np.stack([one.cat.codes for one in used])
        _, strata, counts = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
        if counts[counts > 1].sum() < _FEWEST_ITEMS:
            strata = None
    outcomes = outcomes_by_item(fit.coded, steps)
    table = agreement(fit.subjects, outcomes, prob=prob, strata=strata)
    return table[table["subject"].isin(fit.names(rows))].reset_index(drop=True)
