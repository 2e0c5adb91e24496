"""Criticise a layout: which properties of the items explain what it leaves over."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ...common import options
from ...common.digits import beside
from ...common.errors import DataError
from ...common.seeds import subject_seed
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.model.unseen import refuse_unseen
from ...layouts.elements import elements
from .background import Background, Leftover, deviation, explained, interplay, residual_table
from .expansion import holm
from .overdispersion import Spread, count_flagged, overdispersion, told
from .properties import Cut, Property, candidate_columns


@dataclass(frozen=True, eq=False)
class Criticism:
    """What a layout misses, subject by subject.

    Made by `criticise`.

    Attributes
    ----------
    table : DataFrame
        One row per subject and candidate; a subject's flagged candidates first, then by gain.

        - ``level``: the level whose success deviates most from what the layout, with any form for
          its own properties, expects; ``observed`` and ``expected`` are those success rates on its
          items, ``effect`` their difference, ``low`` and ``high`` the ends of its interval.
        - ``gain``, ``gain_se``: expected gain in leave-one-out elpd (nats) from effects of the
          candidate's levels, beyond any form for the layout's own properties.
        - ``statistic``, ``df``, ``p``, ``p_adjusted``: the test that the candidate explains
          nothing, alone and adjusted for all candidates and subjects.
        - ``flagged``: whether ``p_adjusted`` is at most `alpha`.
        - ``remark``: why there is no test, where there is none.
    forms : DataFrame
        The same columns for the properties that the layout uses: whether another form for one would
        explain more than the layout does. Adjusted apart from the candidates.
    fit : Fit
        What was criticised.
    evaluation : Evaluation
        Where the properties are.
    alpha : float
        Chance of any false alarm, over all candidates and subjects.
    prob : float
        Mass of the intervals.
    seed : int
        Of the outcomes drawn.
    overdispersion : DataFrame
        One row per subject with at least two items that it attempted several times, and one of all
        together where these are several; adjusted apart from the candidates. Columns as in
        `overdispersion.overdispersion`.

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
    forms: pd.DataFrame
    fit: Fit
    evaluation: Evaluation
    alpha: float
    prob: float
    seed: int
    overdispersion: pd.DataFrame = field(
        default_factory=lambda: overdispersion({}, [], prob=0.9, alpha=0.05)
    )

    def flagged(self) -> pd.DataFrame:
        """Keep the rows of `table` that are alarms."""
        return self.table[self.table["flagged"]].reset_index(drop=True)

    def first(self) -> pd.Series:
        """Name each subject's first flagged candidate, by subject; missing where there is none."""
        found = self.flagged().drop_duplicates("subject").set_index("subject")["property"]
        return found.reindex(list(dict.fromkeys(self.table["subject"])))

    def suggestions(self) -> list[str]:
        """Say in words what adding each flagged candidate would gain, and where attempts are alike.

        Returns
        -------
        list of str
            In the order of `table`; at the end what `overdispersion` says, if anything.
        """
        return [
            *(_suggestion(row) for _, row in self.flagged().iterrows()),
            *told(self.overdispersion, self.prob, self.fit.layout),
        ]

    def residuals(self, subject: object, *properties: str) -> pd.DataFrame:
        """Compare success with the layout's posterior predictive distribution, by level.

        Parameters
        ----------
        subject : object
            Whose.
        *properties : str
            A property, or several in combination: a candidate and a property of the layout, say.

        Returns
        -------
        DataFrame
            See `background.residual_table`.

        Raises
        ------
        DataError
            When no property is named, or one is unknown.
        FitError
            When the subject is not in the fit.
        """
        if not properties:
            raise DataError("no property was named; name one or several columns of the items")
        (row,) = self.fit.places([subject])
        leftover = Leftover.of(self.fit, row)
        cut = Cut.of(self.fit, self.evaluation.items, properties).take(leftover.names)
        return residual_table(leftover, cut.candidates, self.prob, np.random.default_rng(self.seed))

    def interplay(self, subject: object, candidate: str) -> pd.DataFrame:
        """Ask with which of the layout's properties an effect of a candidate varies.

        Parameters
        ----------
        subject : object
            Whose.
        candidate : str
            A property.

        Returns
        -------
        DataFrame
            Indexed by the layout's property, the strongest first: ``statistic``, ``df``, ``p``
            (not adjusted) and ``gain`` of products of levels, beyond those of both properties.
        """
        (row,) = self.fit.places([subject])
        leftover = Leftover.of(self.fit, row)
        cut = Cut.of(self.fit, self.evaluation.items, [candidate]).take(leftover.names)
        (main,) = cut.candidates
        rng = np.random.default_rng(self.seed)
        background = Background.of(leftover, [*cut.used, main], rng)
        rows = {}
        for other in cut.used:
            values = interplay(main, other)
            found = background.explained(values, values)
            rows[other.name] = {
                name: getattr(found, name) for name in ("statistic", "df", "p", "gain")
            }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("property")
        return table.sort_values("gain", ascending=False)

    def __repr__(self) -> str:
        tested = int(self.table["p"].notna().sum())
        alike = ""
        if len(self.overdispersion):
            alike = f", repeated attempts in {count_flagged(self.overdispersion)}"
        return (
            f"<Criticism of {self.fit.layout.name!r}: {len(self.flagged())} of {tested} candidates "
            f"flagged{alike}, at {self.alpha:.0%} over all>"
        )


def _suggestion(row: pd.Series) -> str:
    digits = min(beside(row["gain_se"]), 0)
    gain, error = (f"{round(row[name], digits):.0f}" for name in ("gain", "gain_se"))
    return (
        f"adding a bias on {row['property']} would gain {gain} +- {error} "
        f"elpd for {row['subject']}: where it is {row['level']}, the success rate is "
        f"{row['observed']:.2f} instead of {row['expected']:.2f}"
    )


_COLUMNS = ["subject", "property", "level", "observed", "expected", "effect", "low", "high"]
_COLUMNS += ["gain", "gain_se", "statistic", "df", "p", "p_adjusted", "flagged", "remark"]
_ALIKE = "the same on all items that the subject attempted"
_UNDISTINGUISHED = "cannot be told apart from what the layout uses"


def criticise(
    fit: Fit,
    evaluation: Evaluation,
    *,
    candidates: Iterable[str] | None = None,
    subjects: Iterable[object] | None = None,
    alpha: float = 0.05,
    prob: float = 0.9,
    seed: int = 1,
) -> Criticism:
    r"""Ask which properties of the items explain what a layout leaves over.

    For each subject, the layout's forecast of the items it was fitted on is expanded by what the
    layout's own elements can still do and by a free effect for every level of every property that
    it uses. What that leaves is what no other use of those properties explains. A candidate's
    levels (values, or six bins of a property with more than eight; missing is a level) are held
    against it by a score test, and expected gains come from approximate leave-one-out of the
    expansion with and without them. Nothing is sampled again.

    Where items were attempted several times, it also asks whether these attempts are more alike
    than the layout allows, what that says of the items, and what it does to intervals; see
    `overdispersion.Repeated`. This needs no candidates.

    False alarms: where the layout and its properties suffice, the chance that any candidate is
    flagged, over all candidates and subjects together, is at most `alpha` (Holm's adjustment). So
    is the chance that repeated attempts are, over all subjects.

    Parameters
    ----------
    fit : Fit
        Posteriors; the outcomes are those it was made on.
    evaluation : Evaluation
        Properties of those items.
    candidates : iterable of str, optional
        Columns of the items; by default all that the layout does not use and that are not a text of
        their own for nearly every item. There may be none where items were attempted several
        times.
    subjects : iterable, optional
        Whose outcomes; everybody's by default.
    alpha : float, default 0.05
        Chance of any false alarm, in (0, 1).
    prob : float, default 0.9
        Mass of the equal-tailed intervals, also of those whose coverage is forecast.
    seed : int
        Of the outcomes drawn for the test.

    Returns
    -------
    Criticism
        A table of candidates, ranked, one of repeated attempts, suggestions in words, and residuals
        on demand.

    Raises
    ------
    DataError
        When there is no candidate, a candidate is unknown or used by the layout, or an item of the
        fit is not in the evaluation.
    FitError
        When a subject is not in the fit, `alpha` or `prob` is out of range, or the trials of an
        item depend on each other, as those of an item with something unseen do.

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
    <Criticism of 'animal-ai-olympics': 0 of 2 candidates flagged, at 5% over all>
    """
    alpha = options.inside("alpha", alpha, such_as=0.05)
    prob = options.inside("prob", prob, such_as=0.9)
    seed = options.whole("seed", seed)
    places = fit.places(subjects)
    repeated = bool((fit.observed["trials"].to_numpy()[places] > 1).any())
    if repeated:
        refuse_unseen(fit.layout, "criticise", "fit items of one trial each")
    names = candidate_columns(fit, evaluation.items, candidates, may_lack=repeated)
    every = Cut.of(fit, evaluation.items, names)
    rows, forms = list[dict[str, object]](), list[dict[str, object]]()
    spreads = dict[str, Spread | None]()
    with threadpool_limits(1, user_api="blas"):  # small matrices: threads would wait, not work
        for place in places:
            leftover = Leftover.of(fit, place)
            who = fit.subjects[place]
            rng = np.random.default_rng(subject_seed(seed, who))
            cut = every.take(leftover.names)
            for told, used, parts in ((rows, cut.used, cut.candidates), (forms, [], cut.used)):
                background = Background.of(leftover, used, rng)
                found = (_finding(background, part, prob, rng) for part in parts)
                told += [{"subject": who, **row} for row in found]
            spreads[who] = leftover.repeated().spread(rng)
    spread = overdispersion(
        spreads, [element.name for element in elements(fit.layout)], prob, alpha
    )
    return Criticism(
        _ranked(rows, alpha), _ranked(forms, alpha), fit, evaluation, alpha, prob, seed, spread
    )


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
    table["p_adjusted"] = holm(table["p"].to_numpy(dtype=float))
    table["flagged"] = table["p_adjusted"] <= alpha
    order = {subject: place for place, subject in enumerate(dict.fromkeys(table["subject"]))}
    table["order"] = table["subject"].map(order)
    table = table.sort_values(["order", "flagged", "gain"], ascending=[True, False, False])
    return table.drop(columns="order").reset_index(drop=True)
