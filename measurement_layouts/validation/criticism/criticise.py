"""Criticism of a layout: properties of the items that explain its residuals."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ...common import options
from ...common.digits import beside
from ...common.errors import DataError, FitError
from ...common.messages import many, some
from ...common.seeds import subject_seed
from ...common.showing import Overview, Shown
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import Rows
from ...inference.fit import Fit
from ...inference.given import refuse_no_fit
from ...inference.model.unseen import refuse_unseen
from .agreement import agreement, no_agreement, outcomes_by_item, told_agreement
from .background import Background, Leftover, deviation, explained, interplay, residual_table
from .expansion import holm
from .overdispersion import Spread, count_flagged, overdispersion, told
from .population.criticise import criticise_population
from .population.criticism import PopulationCriticism
from .properties import Cut, Property, candidate_columns, why_none


@dataclass(frozen=True, eq=False)
class Criticism(Shown):
    """Criticism of a layout that is fitted to each subject separately.

    Made by `criticise`.

    Attributes
    ----------
    table : DataFrame
        One row per subject and property; a subject's flagged ones first, then by gain.

        - ``kind``: "candidate", a property that the layout does not use, or "used": whether another
          form for one that it uses would explain more than the layout does.
        - ``level``: the level whose success rate deviates most from the one that the layout, with
          any form for its own properties, expects; ``observed`` and ``expected`` are these rates on
          the level's items, ``effect`` their difference, ``low`` and ``high`` the ends of its
          interval.
        - ``gain``, ``gain_se``: expected gain in leave-one-out elpd (nats) from effects of
          the property's levels: of a candidate, beyond any form for the layout's own properties;
          of one used, beyond the layout.
        - ``statistic``, ``df``, ``p``, ``p_adjusted``: the test that these effects explain
          nothing, alone and adjusted for all properties of the kind and all subjects.
        - ``flagged``: whether ``p_adjusted`` is at most `alpha`.
        - ``remark``: the reason where there is no test.
    fit : Fit
        The fit that was criticised.
    evaluation : Evaluation
        Evaluation with the properties of the items.
    alpha : float
        Probability of any false alarm, over all properties of a kind and all subjects.
    prob : float
        Mass of the intervals.
    seed : int
        Seed of the outcomes drawn.
    overdispersion : DataFrame
        One row per subject with at least two items that it attempted several times and, if there
        are several such subjects, one row for all together. P values are adjusted separately from
        the candidates'. Columns as in `overdispersion.overdispersion`.
    agreement : DataFrame
        Test of whether each subject's outcomes agree with those of others in the fit, item by item.
        One row per subject; columns as in `agreement.agreement`.

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
    fit: Fit
    evaluation: Evaluation
    alpha: float
    prob: float
    seed: int
    overdispersion: pd.DataFrame = field(
        default_factory=lambda: overdispersion({}, [], prob=0.9, alpha=0.05)
    )
    agreement: pd.DataFrame = field(default_factory=no_agreement)

    @property
    def candidates(self) -> pd.DataFrame:
        """Rows of `table` on properties that the layout does not use."""
        return self.table[self.table["kind"] == "candidate"].reset_index(drop=True)

    @property
    def forms(self) -> pd.DataFrame:
        """Rows of `table` on properties that the layout uses."""
        return self.table[self.table["kind"] == "used"].reset_index(drop=True)

    def flagged(self) -> pd.DataFrame:
        """Keep the rows of `table` that are flagged."""
        return self.table[self.table["flagged"]].reset_index(drop=True)

    def first(self) -> pd.Series:
        """Find each subject's first flagged candidate, by subject; missing where there is none."""
        flagged = self.candidates[self.candidates["flagged"]]
        found = flagged.drop_duplicates("subject").set_index("subject")["property"]
        return found.reindex(list(dict.fromkeys(self.table["subject"])))

    def suggestions(self) -> list[str]:
        """Describe changes: properties to add, forms to replace, outcomes to inspect.

        Returns
        -------
        list of str
            Sentences in the order of `table`; at the end, those about outcomes that agree with no
            other subject's and about repeated attempts, if any are flagged.
        """
        return [
            *(_suggestion(row) for _, row in self.flagged().iterrows()),
            *told_agreement(self.agreement),
            *told(self.overdispersion, self.prob, self.fit.layout),
        ]

    def untried(self) -> str:
        """State why no candidate could be tried, with the remedy; empty if any was tried.

        Returns
        -------
        str
            A sentence without its full stop.
        """
        why = self._why_none()
        return why and f"{why}; add columns of numbers or categories to the evaluation's items"

    def _why_none(self) -> str:
        """State why no candidate could be tried; empty if any was tried."""
        candidates = self.candidates
        if candidates["p"].notna().any():
            return ""
        why = why_none(self.fit, self.evaluation.items)
        if len(candidates):
            names = candidates.groupby("remark")["property"].unique()
            why = "; ".join(f"{some(own)}: {remark}" for remark, own in names.items())
        return f"no candidate could be tried ({why})"

    def residuals(self, subject: object, *properties: str) -> pd.DataFrame:
        """Compare success rates with the layout's posterior predictive distribution, by level.

        Parameters
        ----------
        subject : object
            Name of the subject.
        *properties : str
            One property, or several whose levels are combined, such as a candidate and a property
            of the layout.

        Returns
        -------
        DataFrame
            Table as returned by `background.residual_table`.

        Raises
        ------
        DataError
            When no property is named, or one is unknown.
        FitError
            When the subject is not in the fit.
        """
        if not properties:
            raise DataError("no property was named; give one or several columns of the items")
        (row,) = self.fit.places([subject])
        leftover = Leftover.of(self.fit, row)
        cut = Cut.of(self.fit, self.evaluation.items, properties).take(leftover.names)
        return residual_table(leftover, cut.candidates, self.prob, np.random.default_rng(self.seed))

    def interplay(self, subject: object, candidate: str) -> pd.DataFrame:
        """Test with which of the layout's properties the effect of a candidate varies.

        Parameters
        ----------
        subject : object
            Name of the subject.
        candidate : str
            Name of a property.

        Returns
        -------
        DataFrame
            Indexed by the layout's property, the strongest first: ``statistic``, ``df``, ``p``
            (not adjusted) and ``gain`` of products of levels, beyond those of both properties.

        Raises
        ------
        DataError
            When the column is missing or has too many different texts.
        FitError
            When the subject is not in the fit.
        """
        (row,) = self.fit.places([subject])
        leftover = Leftover.of(self.fit, row)
        cut = Cut.of(self.fit, self.evaluation.items, [candidate]).take(leftover.names)
        (main,) = cut.candidates
        rng = np.random.default_rng(self.seed)
        background = Background.of(leftover, [*cut.used, main], rng)
        values = [interplay(main, other) for other in cut.used]
        found = [background.explained(own, own)._asdict() for own in values]
        names = pd.Index([other.name for other in cut.used], name="property")
        table = pd.DataFrame(found, names, ["statistic", "df", "p", "gain"])
        return table.sort_values("gain", ascending=False)

    def _overview(self) -> Overview:
        flagged = self.table[self.table["flagged"]]
        facts = {
            "flagged": f"{many(len(flagged), 'pair')} of a subject and a property",
            "chance of a false alarm": f"{self.alpha:.0%} over all subjects and properties",
        }
        calls = {
            "criticism.table": "every subject and property, with effects and gains",
            "ml.plots.criticism_map(criticism)": "subjects by properties, as a figure",
            "ml.describe(fit, criticism)": "descriptions of profiles, with what the layout misses",
        }
        columns = ["subject", "property", "kind", "effect", "gain", "p_adjusted"]
        return Overview(facts, calls, {"flagged": flagged[columns]})

    def __repr__(self) -> str:
        first = self._why_none() or f"{_counted(self.candidates)} candidates flagged"
        more = ""
        if self.forms["p"].notna().any():
            more = f", {_counted(self.forms)} used properties flagged"
        if len(self.overdispersion):
            more += f", repeated attempts in {count_flagged(self.overdispersion)}"
        if self.agreement["flagged"].any():
            more += (
                f", {many(int(self.agreement['flagged'].sum()), 'subject')} agreeing with no other"
            )
        return (
            f"<Criticism of {self.fit.layout.name!r}: {first}{more}, at {self.alpha:.0%} over all>"
        )


def _counted(table: pd.DataFrame) -> str:
    """Count the flagged rows and the tested rows."""
    return f"{int(table['flagged'].sum())} of {int(table['p'].notna().sum())}"


def _suggestion(row: pd.Series) -> str:
    """State the gain from adding a candidate, or another form for a property that is used."""
    digits = min(beside(row["gain_se"]), 0)
    gain, error = (f"{round(row[name], digits):.0f}" for name in ("gain", "gain_se"))
    what, how = f"adding a bias on {row['property']}", ""
    if row["kind"] == "used":
        what = f"another form for {row['property']}, which the layout uses,"
        how = (
            "; try another linking function or a slope for it, or give the latent that it is "
            "compared with parameters of its own"
        )
    return (
        f"{what} would gain {gain} +- {error} "
        f"elpd for {row['subject']}: where it is {row['level']}, the success rate is "
        f"{row['observed']:.2f} instead of {row['expected']:.2f}{how}"
    )


_COLUMNS = ["subject", "property", "kind", "level", "observed", "expected", "effect", "low", "high"]
_COLUMNS += ["gain", "gain_se", "statistic", "df", "p", "p_adjusted", "flagged", "remark"]
_ALIKE = "the same on all items that the subject attempted"
_UNDISTINGUISHED = "cannot be told apart from what the layout uses"


def criticise(
    fit: Fit,
    evaluation: Evaluation,
    *,
    candidates: Iterable[str] | None = None,
    by: str | Iterable[str] | None = None,
    testlets: str | None = None,
    subjects: Iterable[object] | None = None,
    alpha: float = 0.05,
    prob: float = 0.9,
    seed: int = 1,
) -> Criticism | PopulationCriticism:
    r"""Find the properties of the items that explain what a layout leaves unexplained.

    For each subject, the layout's forecast of the items it was fitted to is expanded by changes of
    the layout's own elements and by a free effect for every level of every property that it uses.
    The residuals of this expansion are those that no other use of these properties explains. A
    score test compares them with a candidate's levels (its values, or six bins if it has more than
    eight values; missing is a level), and expected gains come from approximate leave-one-out of the
    expansion with and without the candidate. Nothing is sampled again.

    Three further tests need no candidates. If items were attempted several times, a test finds
    whether these attempts are more alike than the layout allows, and estimates the effect on
    intervals; see `overdispersion.Repeated`. Properties that the layout uses are tested in the same
    way as candidates, but without free effects of the others, to find those whose form is wrong.
    The outcomes of each subject are compared with the other subjects', item by item: outcomes that
    agree with no other subject's may have been read with the items in another order; see
    `agreement.agreement`.

    For a joint fit the tests are different. They find subjects and items with unexpected patterns
    of outcomes, items that are easier for some groups of subjects (`by`), and items that have more
    in common than the layout implies (`testlets`). All are score tests of effects that the layout
    does not have, from the draws of the fit; see `population.louis.louis`, and
    `PopulationCriticism` for the tables.

    False alarms: if the layout and its properties are sufficient, the probability that any
    candidate is flagged, over all candidates and subjects together, is at most `alpha` (Holm's
    adjustment). The same holds for the properties that it uses, and for repeated attempts, each
    over all subjects.

    Parameters
    ----------
    fit : Fit
        The fit, with the outcomes to which it was fitted.
    evaluation : Evaluation
        Properties of the items.
    candidates : iterable of str, optional
        Columns of the items. The default is all columns that the layout does not use, except those
        with a different text for nearly every item; if there are none, `Criticism.untried` states
        the reason.
    by : str or iterable of str, optional
        For a joint fit only: columns of the evaluation's subjects, each with few levels or numbers
        (default: all with two to eight levels of at least two subjects each).
    testlets : str, optional
        For a joint fit only: column of the evaluation's items that groups those that belong
        together (default: all pairs of items are tested).
    subjects : iterable, optional
        Subjects (default: all). For a joint fit, the subjects in the table of subjects.
    alpha : float, default 0.05
        Probability of any false alarm, in (0, 1); for a joint fit, in each table.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, including those whose coverage is predicted.
    seed : int
        Seed of the outcomes drawn for the test.

    Returns
    -------
    Criticism or PopulationCriticism
        A ranked table of properties, one of repeated attempts and one of agreement, with methods
        that return suggestions and residuals. For a joint fit, tables of subjects, items, groups
        and pairs, with suggestions.

    Raises
    ------
    DataError
        When `candidates` is empty, a candidate is unknown or used by the layout, or an item of the
        fit is not in the evaluation; when a column of `by` or `testlets` is not there, has missing
        values, or does not group.
    FitError
        When `fit` is something else, a subject is not in the fit, `alpha` or `prob` is out of
        range, the trials of an item depend on each other because of an `Unseen` property, or an
        argument does not apply to this kind of fit.

    References
    ----------
    Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6. The question is that of Burden et al. (2023), section 5.3 and appendix D.4.

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
    <Criticism of 'animal-ai-olympics': 0 of 2 candidates flagged, 0 of 8 used ...>
    """
    refuse_no_fit(fit)
    refuse_no_evaluation(evaluation)
    alpha = options.inside("alpha", alpha, such_as=0.05)
    prob = options.inside("prob", prob, such_as=0.9)
    seed = options.whole("seed", seed)
    places = fit.places(subjects)
    repeated = bool((fit.coded.select(places).trials > 1).any())
    if repeated:
        refuse_unseen(fit.layout, "criticise", "fit items of one trial each", 2)
    if fit.layout.joint:
        if candidates is not None:
            raise FitError(
                f"criticise: the fit of {fit.layout.name!r} is joint, and candidates= applies to "
                "subjects that are fitted separately; omit it, and give columns of the subjects in "
                "by= and of the items in testlets="
            )
        return criticise_population(
            fit,
            evaluation,
            by=by,
            testlet=testlets,
            subjects=subjects,
            alpha=alpha,
            prob=prob,
            seed=seed,
        )
    if by is not None or testlets is not None:
        raise FitError(
            f"criticise: by= and testlets= apply to joint fits, and the subjects of "
            f"{fit.layout.name!r} share nothing; fit a layout with a population, or give "
            "candidates="
        )
    names = candidate_columns(fit, evaluation.items, candidates)
    every = Cut.of(fit, evaluation.items, names)
    rows = list[dict[str, object]]()
    spreads = dict[str, Spread | None]()
    with threadpool_limits(1, user_api="blas"):  # threads do not speed up small matrices
        for place in places:
            leftover = Leftover.of(fit, place)
            who = fit.subjects[place]
            rng = np.random.default_rng(subject_seed(seed, who))
            cut = every.take(leftover.names)
            for kind, parts in (("candidate", cut.candidates), ("used", cut.used)):
                background = Background.of(leftover, cut.used if kind == "candidate" else [], rng)
                found = (_finding(background, part, prob, rng) for part in parts)
                rows += [{"subject": who, "kind": kind, **row} for row in found]
            spreads[who] = leftover.repeated().spread(rng)
    spread = overdispersion(spreads, [element.name for element in fit.elements], prob, alpha)
    alone = _agreement(fit, prob, seed)
    asked = alone["subject"].isin([fit.subjects[place] for place in places])
    table, alone = _ranked(rows, alpha), alone[asked].reset_index(drop=True)
    return Criticism(table, fit, evaluation, alpha, prob, seed, spread, alone)


def _agreement(fit: Fit, prob: float, seed: int) -> pd.DataFrame:
    """Compare the outcomes of all subjects in a fit with each other."""
    rows = None if fit.layout.steps is None else Rows.read(fit.item_names)
    outcomes = outcomes_by_item(*fit.coded.tables, rows)
    return agreement(fit.subjects, outcomes, prob=prob, seed=seed)


def _finding(
    background: Background, part: Property, prob: float, rng: np.random.Generator
) -> dict[str, object]:
    if len(part.levels) == 1:
        return {"property": part.name, "remark": _ALIKE}
    found = explained(background, part)
    if not found.df:
        return {"property": part.name, "remark": _UNDISTINGUISHED}
    at = part.codes == found.level
    one_of_many = 1 - (1 - prob) / len(part.levels)  # the level was chosen for its deviation
    return {
        "property": part.name,
        **deviation(background, at, one_of_many, rng),
        **found._asdict(),
        "level": part.levels[found.level],
        "remark": "",
    }


def _ranked(rows: list[dict[str, object]], alpha: float) -> pd.DataFrame:
    table = pd.DataFrame(rows).reindex(columns=_COLUMNS)
    for kind in table["kind"].unique():
        own = table["kind"] == kind
        table.loc[own, "p_adjusted"] = holm(table.loc[own, "p"].to_numpy(dtype=float))
    table["flagged"] = table["p_adjusted"] <= alpha
    order = {subject: place for place, subject in enumerate(dict.fromkeys(table["subject"]))}
    table["order"] = table["subject"].map(order)
    table = table.sort_values(["order", "flagged", "gain"], ascending=[True, False, False])
    return table.drop(columns="order").reset_index(drop=True)
