"""How far a judge agrees with people who read the same responses."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...inference.errors import AnnotationError
from ..inputs import whole
from ..resampling import check_resampling, resampled
from .frames import SAMPLE, read_columns
from .judging import judged_material, read_responses
from .proportions import share

_KEYS = list(SAMPLE)


def label_sheet(
    scenarios: pd.DataFrame, judged: pd.DataFrame, *, size: int = 100, seed: int = 1
) -> pd.DataFrame:
    """Draw responses at random for people to label as the judge did.

    Parameters
    ----------
    scenarios : DataFrame
        Indexed by scenario: ``user_message``, ``agree_action`` and ``oppose_action``.
    judged : DataFrame
        The `table` of `judge_responses`.
    size : int, default 100
        Responses to draw; all where there are fewer.
    seed : int, default 1
        Of the draw.

    Returns
    -------
    DataFrame
        What the judge saw, ``user_message``, ``response``, ``action_1`` and ``action_2``; then
        ``model``, ``scenario`` and ``sample``, by which `judge_agreement` finds them again: keep
        them out of people's sight. What the judge said is not there. People add ``answer``: 1 or 2
        for that action, 0 for neither.

    Raises
    ------
    AnnotationError
        When a frame is not as it should be.

    References
    ----------
    Dispositions paper, section 3.4: 100 responses.

    Examples
    --------
    >>> scenarios = pd.DataFrame(
    ...     {"user_message": "Do I go?", "agree_action": "Go", "oppose_action": "Stay"}, index=["s"]
    ... )
    >>> judged = pd.DataFrame(
    ...     {"model": "m", "scenario": "s", "sample": [1, 2], "response": ["Go!", "Stay."]}
    ... )
    >>> label_sheet(scenarios, judged, size=1)[["response", "action_1", "action_2"]]
      response action_1 action_2
    0      Go!     Stay       Go
    """
    responses = read_responses(judged, scenarios)
    order = np.random.default_rng(seed).permutation(len(responses))[: whole("size", size)]
    drawn = responses.iloc[order]
    return judged_material(drawn, scenarios).join(drawn[_KEYS]).reset_index(drop=True)


def judge_agreement(
    judged: pd.DataFrame,
    labels: pd.DataFrame,
    *,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    r"""Hold a judge's answers against people's labels.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}

    `p_o` is the share of responses with the same answer, `p_e` the share that chance would give
    with these frequencies of the three answers.

    Parameters
    ----------
    judged : DataFrame
        The `table` of `judge_responses`: ``model``, ``scenario``, ``sample`` and ``answer``.
    labels : DataFrame
        The same columns, as people filled a `label_sheet` in.
    prob : float, default 0.9
        Of the intervals: Wilson's of the share; of kappa, percentiles of estimates over responses
        drawn anew, with replacement.
    resamples : int, default 1000
        How often responses are drawn.
    seed : int, default 1
        Of the draws.

    Returns
    -------
    DataFrame
        Indexed by ``measure``, ``right`` and ``kappa``: ``estimate``, ``low``, ``high``, the number
        of ``responses``, and the ``reason`` where something is not defined.

    Raises
    ------
    AnnotationError
        When an answer is none of 0, 1 and 2, a response is labelled twice or was not judged, or an
        option is out of range.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20, 37-46. Dispositions paper, section
    3.4: its judge was right on all of 100.

    Examples
    --------
    >>> keys = {"model": "m", "scenario": "s", "sample": range(6)}
    >>> judged = pd.DataFrame({**keys, "answer": [1, 1, 2, 2, 2, 0]})
    >>> labels = pd.DataFrame({**keys, "answer": [1, 1, 2, 2, 1, 0]})
    >>> judge_agreement(judged, labels)[["estimate", "low", "high"]].round(2)
             estimate   low  high
    measure
    right        0.83  0.50  0.96
    kappa        0.74  ...
    """
    check_resampling(prob, resamples)
    known, labelled = _answers(judged, "judged"), _answers(labels, "labels")
    unknown = labelled.index.difference(known.index)
    if len(unknown):
        raise AnnotationError(f"labels: {_named(unknown[0])} was not judged; drop the label")
    said = np.column_stack([known[labelled.index], labelled])
    right = share(int((said[:, 0] == said[:, 1]).sum()), len(said), prob)
    *kappa, reason = resampled(_kappa, said, prob, resamples, np.random.default_rng(seed))
    if np.isnan(kappa[0]):
        reason = "all answers are alike, so that chance would agree as well"
    rows = {"right": (*right, len(said), ""), "kappa": (*kappa, len(said), reason)}
    columns = ["estimate", "low", "high", "responses", "reason"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename_axis("measure")


def _answers(table: pd.DataFrame, what: str) -> "pd.Series[int]":
    """Read one answer for each response."""
    found = read_columns(table, what, [*_KEYS, "answer"])
    found["scenario"] = found["scenario"].astype(str)
    answers = found.set_index(_KEYS)["answer"]
    wrong = answers[~answers.isin([0, 1, 2])]
    if len(wrong):
        raise AnnotationError(
            f"{what}: {_named(wrong.index[0])} has the answer {wrong.iloc[0]}; give 0, 1 or 2"
        )
    if not answers.index.is_unique:
        twice = answers.index[answers.index.duplicated()][0]
        raise AnnotationError(f"{what}: {_named(twice)} is there twice; give one answer")
    if not len(answers):
        raise AnnotationError(f"{what}: there is no answer; give at least one")
    return answers.astype(int)


def _named(place: Sequence[object]) -> str:
    model, scenario, sample = place
    return f"sample {sample} of {model!r} on {scenario!r}"


def _kappa(said: np.ndarray) -> float:
    """Cohen's kappa of two columns of answers; not defined where all are alike."""
    shares = [(said[:, :1] == [0, 1, 2]).mean(axis=0), (said[:, 1:] == [0, 1, 2]).mean(axis=0)]
    expected = float(shares[0] @ shares[1])
    observed = float((said[:, 0] == said[:, 1]).mean())
    return (observed - expected) / (1 - expected) if expected < 1 else np.nan
