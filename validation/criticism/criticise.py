"""Criticise a layout: which properties of the items explain what it leaves over."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ...common import options
from ...common.seeds import subject_seed
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.model.unseen import refuse_unseen
from ...layouts.elements import elements
from .background import Background, explained
from .chance import holm
from .criticism import Criticism
from .cut import Cut, candidate_columns
from .leftover import Leftover
from .overdispersion import Spread, overdispersion
from .properties import Property
from .residuals import deviation

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
