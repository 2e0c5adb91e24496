"""Models' choices as an evaluation: what a layout of dispositions is fitted to."""

import pandas as pd

from ..data import Evaluation
from ..errors import DataError
from .judgments import SituationalJudgments
from .pulls import expected_rates, fit_pulls
from .votes import effective_votes


def choices(judgments: SituationalJudgments) -> Evaluation:
    """Lay models' choices out: subjects are models, items scenarios, successes trait-positive ones.

    Parameters
    ----------
    judgments : SituationalJudgments
        With samples of at least one model.

    Returns
    -------
    Evaluation
        Trials are the decided samples, 0 where a pair was dropped. Columns of the items:
        ``votesFor`` and ``votesAgainst`` (people's votes for and against the action that manifests
        the trait, as `effective_votes` counts them), ``commonPull`` and ``pullSpread`` (mean and
        standard deviation of people's log-odds over the scenarios of the trait, from `fit_pulls`),
        ``pullSpreadError`` (relative error of the latter, over all traits), ``peoplesRate``
        (posterior mean of the rate at which people choose it), ``trait[...]`` (1 for the
        scenario's trait, 0 for the others), ``statement``.

    Raises
    ------
    DataError
        When there are no samples, or votes do not tell how people's choices differ.

    Notes
    -----
    The votes are people's, and enter every model's fit alike: what they leave open about a scenario
    is averaged over for each model by itself.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=2, models=["sim-01"])
    >>> evaluation = choices(study.judgments)
    >>> evaluation.subjects, int(evaluation.trials.to_numpy().max())
    (['sim-01'], 20)
    """
    if not len(judgments.samples):
        raise DataError(
            "the judgments hold no samples of a model; give samples= to "
            "SituationalJudgments.from_long"
        )
    people, models = judgments.human_rates(), judgments.model_rates()
    votes = effective_votes(people)
    pulls = fit_pulls(votes, people["trait"])
    items = pd.DataFrame(
        {
            "votesFor": votes["positive"],
            "votesAgainst": votes["negative"],
            "commonPull": people["trait"].map(pulls["mean"]),
            "pullSpread": people["trait"].map(pulls["spread"]),
        }
    )
    items["peoplesRate"] = expected_rates(*items.to_numpy(dtype=float).T)
    items["pullSpreadError"] = float((pulls["spread_error"] ** 2).sum() ** 0.5 / len(pulls))
    for trait in judgments.traits:
        items[f"trait[{trait}]"] = (people["trait"] == trait).astype(float)
    items["statement"] = people["statement"]

    def wide(counts: "pd.Series[int]") -> pd.DataFrame:
        table = counts.unstack("scenario", fill_value=0)
        return table.reindex(index=judgments.models, columns=items.index, fill_value=0)

    return Evaluation(
        items, wide(models["positive"]), wide(models["positive"] + models["negative"])
    )
