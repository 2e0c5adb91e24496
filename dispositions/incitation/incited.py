"""What models chose under each incitation, how it was read, and what was dropped."""

from dataclasses import dataclass

import pandas as pd

from ...annotation.resampling import check_resampling, share
from ...common.messages import many
from ...evaluations.evaluation import Evaluation
from .conditions import ALL, JUDGING


@dataclass(frozen=True, eq=False)
class Incited:
    r"""What models chose that were incited to levels of a propensity.

    Made by `incite`.

    Attributes
    ----------
    propensity : str
        Its name.
    items : DataFrame
        Indexed by ``item``: ``low`` and ``high``, the ends of the band, and other properties.
    conditions : DataFrame
        Indexed by ``subject``, a model under one prompt: ``model``, ``incited`` (the level; NaN
        without a prompt) and the ``prompt``.
    answers : DataFrame
        One row for each subject and item: ``subject``, ``item``, ``attempts``, the last
        ``response``, the option read by ``rules`` and by the ``judge`` (empty where it was not
        asked or gave no usable reply), the option ``chosen``, ``by`` whom it was read, the
        ``outcome`` (1 or 0 for the right option or another one, missing where the answer is
        dropped) and the ``reason`` of dropping it.
    usage : DataFrame
        One row for each model, the judge and ``all``: ``attempts``, ``input_tokens``,
        ``output_tokens``, ``seconds`` and, with prices, ``cost``; earlier runs with the same store
        included.

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
        """The outcomes that were kept: conditions as subjects, items with their bands."""
        table = self.answers.pivot(index="subject", columns="item", values="outcome")
        outcomes = table.reindex(index=self.conditions.index, columns=self.items.index)
        return Evaluation.from_wide(
            outcomes.astype(float),
            self.items,
            subjects=self.conditions[["model", "incited"]],
        )

    @property
    def counts(self) -> pd.DataFrame:
        """Answers of each subject, and of all: what became of them.

        ``items`` are ``kept`` (``by_rules`` or ``by_judge``) or ``dropped``; of either kind,
        ``asked_again`` were asked for more than once.
        """
        flags = pd.DataFrame(
            {
                "items": 1,
                "kept": self.answers["outcome"].notna().astype(int),
                "by_rules": (self.answers["by"] == "rules").astype(int),
                "by_judge": (self.answers["by"] == JUDGING).astype(int),
                "dropped": self.answers["outcome"].isna().astype(int),
                "asked_again": (self.answers["attempts"] > 1).astype(int),
            }
        )
        sums = flags.groupby(self.answers["subject"], sort=False).sum()
        return pd.concat([sums, sums.sum().to_frame(ALL).T]).rename_axis("subject")

    @property
    def dropped(self) -> pd.DataFrame:
        """Answers that no outcome was read from, and why.

        They are not missing at random: a model that declines to answer may do so because of its
        leaning.
        """
        columns = ["subject", "item", "attempts", "reason", "response"]
        lost = self.answers["outcome"].isna()
        return self.answers.loc[lost, columns].reset_index(drop=True)

    def agreement(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Say how often rules and judge read the same option, of the answers that both read.

        Those are the share of answers read by rules that `incite` gave to the judge as well. A
        judge that finds no single option there disagrees.

        Parameters
        ----------
        prob : float, default 0.9
            Of Wilson's intervals.

        Returns
        -------
        DataFrame
            One row for each subject and ``all``: answers ``compared``, of them ``agreed``, their
            share as ``estimate``, ``low`` and ``high`` (NaN where none was compared).

        Raises
        ------
        AnnotationError
            When `prob` is out of range.
        """
        check_resampling(prob)
        both = self.answers["rules"].ne("") & self.answers["judge"].ne("")
        same = both & self.answers["rules"].eq(self.answers["judge"])
        flags = pd.DataFrame({"compared": both, "agreed": same}).astype(int)
        sums = flags.groupby(self.answers["subject"], sort=False).sum()
        table = pd.concat([sums, sums.sum().to_frame(ALL).T]).rename_axis("subject")
        pairs = zip(table["agreed"].tolist(), table["compared"].tolist(), strict=True)
        shares = [share(agreed, compared, prob) for agreed, compared in pairs]
        return table.join(pd.DataFrame(shares, table.index, ["estimate", "low", "high"]))

    def __repr__(self) -> str:
        (counts,) = self.counts.loc[[ALL]].to_dict("records")
        return (
            f"<Incited {self.propensity!r}: {many(len(self.conditions), 'subject')} by "
            f"{many(len(self.items), 'item')}, {many(counts['kept'], 'answer')} kept "
            f"({counts['by_rules']} by rules, {counts['by_judge']} by the judge), "
            f"{counts['dropped']} dropped, {counts['asked_again']} asked again>"
        )
