"""What incited models answered: outcomes by condition, counts, and agreement with the judge."""

from dataclasses import dataclass

import pandas as pd

from ...common.errors import AnnotationError
from ...common.messages import many
from ...common.options import inside
from ...common.proportions import rates, wilson
from ...evaluations.evaluation import Evaluation
from .conditions import ALL, JUDGE


@dataclass(frozen=True, eq=False)
class Incited:
    r"""Choices of models that were incited to levels of a propensity.

    Made by `incite`.

    Attributes
    ----------
    propensity : str
        Name of the propensity.
    items : DataFrame
        Items, indexed by ``item``: ``low`` and ``high``, the ends of the band, and other
        properties.
    conditions : DataFrame
        Conditions, indexed by ``subject``, a model with one prompt: ``model``, ``incited`` (the
        level; NaN without a prompt) and the ``prompt``.
    answers : DataFrame
        One row for each subject and item: ``subject``, ``item``, ``attempts``, the last
        ``response``, the option read by ``rules`` and by the ``judge`` (empty if it was not asked
        or gave no usable reply), the option ``chosen``, ``by`` (whether rules or the judge read
        it), the ``outcome`` (1 for the right option, 0 for another one, missing if the answer was
        dropped) and the ``reason`` for which it was dropped.
    usage : DataFrame
        One row for each model, the judge and ``all``: ``attempts``, ``input_tokens``,
        ``output_tokens`` and ``seconds``, including earlier calls with the same `log_dir`.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> from measurement_layouts.dispositions import incite
    >>> answer = ModelOutput.from_content("mock", "It is the sure one.\nAnswer: A")
    >>> answer.usage = ModelUsage(input_tokens=90, output_tokens=12)
    >>> model = get_model("mockllm/model", custom_outputs=[answer])
    >>> columns = ["question", "A", "B", "right", "low", "high"]
    >>> items = pd.DataFrame([["Which?", "9 surely", "a coin for 20", "B", -3, 0]], ["i"], columns)
    >>> said = incite(items, "risk_aversion", {"mock": model}, levels=[2])
    >>> said
    <Incited 'risk aversion': 1 subject by 1 item, 1 answer kept (1 by rules, 0 by the judge), 0
    dropped, 0 asked again>
    >>> said.evaluation
    <Evaluation: 1 subject, 1 item, 1 trial, properties low, high, of subjects model, incited>
    """

    propensity: str
    items: pd.DataFrame
    conditions: pd.DataFrame
    answers: pd.DataFrame
    usage: pd.DataFrame

    @property
    def evaluation(self) -> Evaluation:
        """Outcomes by condition, which are the subjects; answers that nobody could read have none.

        The items have their bands, and the subjects the columns ``model`` and ``incited``.
        """
        outcomes = self.answers[["subject", "item", "outcome", "reason"]]
        return Evaluation.from_long(
            outcomes.rename(columns={"reason": "ungraded"}),
            self.items,
            subjects=self.conditions[["model", "incited"]],
        )

    @property
    def counts(self) -> pd.DataFrame:
        """Numbers of answers of each subject, and of ``all``, that were kept or dropped.

        Of the ``items``, some are ``kept`` (read ``by_rules`` or ``by_judge``) and the others
        ``dropped``; among both, ``asked_again`` needed more than one attempt.
        """
        answers = self.answers
        return self._summed(
            items=answers["item"].notna(),
            kept=answers["outcome"].notna(),
            by_rules=answers["by"] == "rules",
            by_judge=answers["by"] == JUDGE,
            dropped=answers["outcome"].isna(),
            asked_again=answers["attempts"] > 1,
        )

    def _summed(self, **flags: "pd.Series[bool]") -> pd.DataFrame:
        sums = pd.DataFrame(flags).astype(int).groupby(self.answers["subject"], sort=False).sum()
        return pd.concat([sums, sums.sum().to_frame(ALL).T]).rename_axis("subject")

    @property
    def dropped(self) -> pd.DataFrame:
        """Answers without an outcome, with reasons.

        They are not missing at random: a model that declines to answer may do so because of its
        propensity.
        """
        columns = ["subject", "item", "attempts", "reason", "response"]
        return self.answers.loc[self.answers["outcome"].isna(), columns].reset_index(drop=True)

    def agreement(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Compute how often rules and judge read the same option, in answers that both read.

        These are the share of answers read by rules that `incite` also gave to the judge. It counts
        as a disagreement if the judge finds no single option.

        Parameters
        ----------
        prob : float, default 0.9
            Confidence of Wilson's intervals.

        Returns
        -------
        DataFrame
            One row for each subject and ``all``: the number of answers ``compared``, the number of
            them that ``agreed``, and their share as ``estimate``, ``low`` and ``high`` (NaN if no
            answer was compared).

        Raises
        ------
        AnnotationError
            When `prob` is out of range.
        """
        prob = inside("prob", prob, 0.9, AnnotationError)
        rules, judge = self.answers["rules"], self.answers["judge"]
        compared = rules.ne("") & judge.ne("")
        table = self._summed(compared=compared, agreed=compared & rules.eq(judge))
        table["estimate"] = rates(table["agreed"].to_numpy(), table["compared"].to_numpy())
        count = table["compared"].where(table["compared"] > 0).to_numpy()
        table["low"], table["high"] = wilson(table["estimate"].to_numpy(), count, prob)
        return table

    def __repr__(self) -> str:
        counts = self.counts.loc[ALL].astype(int).to_dict()
        return (
            f"<Incited {self.propensity!r}: {many(len(self.conditions), 'subject')} by "
            f"{many(len(self.items), 'item')}, {many(counts['kept'], 'answer')} kept "
            f"({counts['by_rules']} by rules, {counts['by_judge']} by the judge), "
            f"{counts['dropped']} dropped, {counts['asked_again']} asked again>"
        )
