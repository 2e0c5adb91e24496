"""What a layout misses: a table, suggestions in words, and residuals on demand."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...common.digits import beside
from ...common.errors import DataError
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from .background import Background, interplay
from .cut import Cut
from .leftover import Leftover
from .overdispersion import count_flagged, overdispersion, told
from .residuals import residual_table


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
            See `residuals.residual_table`.

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
