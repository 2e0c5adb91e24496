"""Annotation of items by a language model: annotations, failures and the usage of the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError
from .inputs import read_texts
from .prompt import scheme_of
from .rubric import DemandRubric, Rubric
from .running import ModelOrName, run
from .scheme import Scheme

USAGE = ["attempts", "input_tokens", "output_tokens", "seconds"]
"""Columns of usage."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotations of items by one annotator.

    Made by `annotate`, by `quality`, and by the functions that ask about situations.

    Attributes
    ----------
    rubric, model : str
        Names of the rubric and of the annotator.
    kind : str
        Kind of annotations: ``bands``, ``levels`` or ``ratings``, each of which is also an
        attribute with the table; or a kind of texts about situations.
    table : DataFrame
        The annotations, indexed by ``item``. Items that failed are not in it.
    failures : DataFrame
        Items that failed: ``item``, ``attempts``, ``reason`` and the last ``answer``; for
        situations also the columns that describe each item.
    usage : DataFrame
        Indexed by ``item``, with failed items: ``attempts``, ``input_tokens``, ``output_tokens``
        and ``seconds`` over all attempts, including those of earlier calls with the same
        `log_dir`. Seconds are the time that the model took for the item. Several items are asked
        about at a time, so that a call takes less than their sum.
    answers : Series
        The whole last answer of each item, indexed by ``item``.

    Examples
    --------
    Levels of a demand, from prepared answers:

    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> from measurement_layouts.annotation import annotate, load_demand_rubric
    >>> answers = [ModelOutput.from_content("mock", "Level: 1") for _ in range(2)]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=1200, output_tokens=20)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> rubric = load_demand_rubric("quantitative_reasoning")
    >>> said = annotate({"sum": "What is 3 + 4?", "rest": "What is 9 - 2?"}, rubric, model)
    >>> said
    <Annotations of 'quantitative reasoning' by mockllm/model: 2 levels, 0 failed,
    2400 tokens in and 40 out>
    >>> said.levels["level"].to_dict()
    {'sum': 1, 'rest': 1}
    """

    rubric: str
    model: str
    kind: str
    table: pd.DataFrame
    failures: pd.DataFrame
    usage: pd.DataFrame
    answers: pd.Series

    @property
    def bands(self) -> pd.DataFrame:
        """Ends ``low`` and ``high`` of annotated bands, indexed by item."""
        return self._of("bands")

    @property
    def levels(self) -> pd.DataFrame:
        """Annotated ``level`` of a demand, indexed by item."""
        return self._of("levels")

    @property
    def ratings(self) -> pd.DataFrame:
        """Ratings from 1 to 5, indexed by item, one column for each indicator."""
        return self._of("ratings")

    @property
    def total(self) -> pd.Series:
        """Attempts, tokens and seconds of all items together."""
        return self.usage.sum()

    def _of(self, kind: str) -> pd.DataFrame:
        if self.kind != kind:
            attribute = self.kind if hasattr(self, self.kind) else "table"
            raise AnnotationError(
                f"annotations of {self.rubric!r} are {self.kind}, not {kind}; use .{attribute}"
            )
        return self.table

    def __repr__(self) -> str:
        return (
            f"<Annotations of {self.rubric!r} by {self.model}: {len(self.table)} {self.kind}, "
            f"{len(self.failures)} failed, {self.total['input_tokens']:.0f} tokens in and "
            f"{self.total['output_tokens']:.0f} out>"
        )


def collect(
    scheme: Scheme, model: str, replies: pd.DataFrame, properties: pd.DataFrame | None = None
) -> Annotations:
    """Arrange replies about items.

    Parameters
    ----------
    scheme : Scheme
        The question, and how its answers are read.
    model : str
        Name of the annotator.
    replies : DataFrame
        Replies that `run` returned.
    properties : DataFrame, optional
        Columns of items that come first in `table` and in `failures`, except those with the name
        of another column. The tables take the name of its index.

    Returns
    -------
    Annotations
        All tables in the order of the replies.
    """
    properties = pd.DataFrame(index=replies.index) if properties is None else properties
    name = str(properties.index.name)

    def with_properties(rows: pd.DataFrame) -> pd.DataFrame:
        other = properties.loc[rows.index].drop(columns=list(rows.columns), errors="ignore")
        return other.join(rows).rename_axis(name)

    usable, columns = replies["reason"] == "", scheme.question["columns"]
    annotated = pd.DataFrame(
        list(replies.loc[usable, "annotation"]), replies.index[usable], columns
    )
    dtypes = dict.fromkeys(columns, int) | dict.fromkeys(scheme.question.get("words", []), "str")
    return Annotations(
        rubric=scheme.name,
        model=model,
        kind=scheme.question["kind"],
        table=with_properties(annotated.astype(dtypes)),
        failures=with_properties(
            replies.loc[~usable, ["attempts", "reason", "answer"]]
        ).reset_index(),
        usage=replies[USAGE].rename_axis(name),
        answers=replies["answer"].rename_axis(name),
    )


def with_total(rows: "Mapping[str, pd.Series]") -> pd.DataFrame:
    """Tabulate usage, one row for each name, and their sum as ``all``; counts are integers."""
    table = pd.DataFrame(rows).T
    table = pd.concat([table, table.sum().to_frame("all").T])
    return table.astype({name: int for name in USAGE[:3]})


def annotate(
    items: "Mapping[Any, str] | pd.Series",
    rubric: Rubric | DemandRubric,
    model: ModelOrName,
    *,
    attempts: int = 3,
    log_dir: str | Path | None = None,
    **options: Any,
) -> Annotations:
    r"""Annotate each item with the band of a propensity, or with the level of a demand.

    With a `Rubric`, the model is asked for the band of levels at which an agent still answers
    rightly; with a `DemandRubric`, for the level of the demand that the item makes.

    The questions are a task of `inspect_ai.eval`, in a notebook too (where inspect-ai needs
    ipywidgets), which asks about several items at a time, retries and keeps logs. If the call is
    interrupted, finished items remain in the logs. A second call with the same `log_dir` asks
    only about the other items, about items that failed, and about items whose text, rubric, model
    or settings of generation have changed. ``inspect view --log-dir`` shows all answers.

    Parameters
    ----------
    items : mapping or Series
        Text of each item, by its name, as subjects see it, with the options.
    rubric : Rubric or DemandRubric
        The propensity (see `load_rubric`) or the demand (see `load_demand_rubric`).
    model : str or inspect_ai.model.Model
        The annotator: a name such as ``"openai/gpt-4.1"``, of any provider that inspect-ai
        supports, or a model that its `get_model` returns.
    attempts : int, default 3
        Largest number of times that the model is asked about an item while its answers cannot be
        used. Each time it is told what is wrong.
    log_dir : str or Path, optional
        Folder of Inspect's logs (default: the logs are not kept). Several calls may share one.
    **options
        Options of `inspect_ai.eval`, such as ``max_samples=4``, and fields of inspect-ai's
        `GenerateConfig`, such as ``temperature=0``, ``max_tokens=4000`` or ``max_connections=20``
        (the largest number of requests at a time, by default 10).

    Returns
    -------
    Annotations
        Bands or levels, failed items with reasons, and tokens used. A model's error on one item
        does not stop the others.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, `rubric` is neither a Rubric nor a DemandRubric, an item
        has no text, an option is unknown or out of range, or `log_dir` cannot be used.

    References
    ----------
    Propensities paper, section 4.1 and Appendix E. General scales paper, section 5.2, where demands
    were annotated with ``temperature=0, max_tokens=1000``.

    Examples
    --------
    A model that gives prepared answers, the first of which cannot be used:

    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> from measurement_layouts.annotation import load_rubric
    >>> texts = "Interval: none", "-2: LEAVES, for ...\nInterval: [-1, 3]"
    >>> answers = [ModelOutput.from_content("mock", text) for text in texts]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=1500, output_tokens=400)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> items = {"grant": "A: 500 for certain. B: 400 for certain. C: 515 in three of four cases."}
    >>> said = annotate(items, load_rubric("risk_aversion"), model)
    >>> said.bands
           low  high
    item
    grant   -1     3
    >>> said.usage.drop(columns="seconds")
           attempts  input_tokens  output_tokens
    item
    grant         2          3000            800

    Levels of a demand:

    >>> from measurement_layouts.annotation import load_demand_rubric
    >>> answer = ModelOutput.from_content("mock", "One step with small numbers.\nLevel: 1")
    >>> answer.usage = ModelUsage(input_tokens=1200, output_tokens=200)
    >>> model = get_model("mockllm/model", custom_outputs=[answer])
    >>> rubric = load_demand_rubric("quantitative_reasoning")
    >>> annotate({"sum": "What is 3 + 4?"}, rubric, model).levels
          level
    item
    sum       1
    """
    scheme = scheme_of(rubric)
    return annotated(scheme, items, model, attempts=attempts, log_dir=log_dir, **options)


def annotated(
    scheme: Scheme,
    items: "Mapping[Any, str] | pd.Series",
    model: ModelOrName,
    *,
    properties: pd.DataFrame | None = None,
    **options: Any,
) -> Annotations:
    """Annotate items by any scheme, with properties of items in the tables; see `annotate`."""
    annotator, (replies,) = run({scheme.name: (scheme, read_texts(items))}, model, **options)
    return collect(scheme, annotator, replies, properties)
