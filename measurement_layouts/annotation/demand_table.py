"""Tables of demands: levels of items by several rubrics, with the columns that layouts read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError
from ..common.given import refuse_other
from .annotate import Annotations, collect, with_total
from .answer import read_number
from .inputs import read_texts
from .prompt import scheme_of
from .rubric import DEMAND_RUBRICS, DemandRubric, load_demand_rubric
from .running import Batch, ModelOrName, run
from .scheme import Scheme, question

UNGUESSABILITY = "unguessability"
"""Column with the percentage of guesses that go wrong."""

_SCHEME = Scheme(
    question("unguessability"),
    read=lambda _, answer: {
        UNGUESSABILITY: read_number(answer, "Unguessability", 0, 100, r"\s*%\s*$")
    },
)


@dataclass(frozen=True, eq=False)
class DemandTable:
    """Annotations of items by several rubrics, by one annotator.

    Made by `annotate_demands`.

    Attributes
    ----------
    table : DataFrame
        Levels, indexed by ``item``: ``demand[code]`` for each rubric, in the order given, and
        ``unguessability`` in per cent. Items that lack one of them are left out, so that the table
        can be the items of an `Evaluation`.
    annotations : dict of str to Annotations
        Annotations by each rubric, by column, including items that lack another column.
    failures : DataFrame
        Missing annotations: ``item``, ``column``, ``attempts``, ``reason`` and the last ``answer``.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answers = [ModelOutput.from_content("mock", "Level: 1")]
    >>> answers[0].usage = ModelUsage(input_tokens=900, output_tokens=5)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> annotate_demands({"sum": "What is 3 + 4?"}, model, ["volume"], options={"sum": 4})
    <DemandTable: 1 items by 2 columns; 0 annotations are missing>
    """

    table: pd.DataFrame
    annotations: dict[str, Annotations]
    failures: pd.DataFrame

    @property
    def usage(self) -> pd.DataFrame:
        """Attempts, tokens and seconds of each column, and of ``all``."""
        return with_total({name: column.total for name, column in self.annotations.items()})

    def __repr__(self) -> str:
        return (
            f"<DemandTable: {len(self.table)} items by {len(self.table.columns)} columns; "
            f"{len(self.failures)} annotations are missing>"
        )


def annotate_demands(
    items: "Mapping[Any, str] | pd.Series",
    model: ModelOrName,
    rubrics: Iterable[str | Path | DemandRubric] = DEMAND_RUBRICS,
    *,
    options: "Mapping[Any, int] | pd.Series | None" = None,
    **model_options: Any,
) -> DemandTable:
    r"""Annotate the demands of items by several rubrics, and their unguessability.

    The model is asked about every item once for each rubric. The unguessability of an item with
    k answer options, which are taken to be equally tempting, is computed:

    .. math:: u = 100 \, (1 - 1 / k)

    For items without options, the model is asked for it.

    To compare models or runs, call this function once for each, and give the annotations of one
    column to `agreement` or `delphi`.

    Parameters
    ----------
    items, model, **model_options
        As in `annotate`.
    rubrics : iterable of str, Path or DemandRubric, default all 18
        Names in ``DEMAND_RUBRICS``, files, or rubrics, each with a code of its own.
    options : mapping or Series, optional
        Number of answer options of items; items that are not in it have no options.

    Returns
    -------
    DemandTable
        The table, missing annotations with reasons, and usage.

    Raises
    ------
    AnnotationError
        As in `annotate`; and when no rubric is given, a rubric has no code, two rubrics have the
        same code, or a number of options is not a whole number of at least 2.

    References
    ----------
    General scales paper, Table 1 and section 5.2.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> def reply(messages, tools, choice, config):
    ...     output = ModelOutput.from_content("mock", "Two steps.\nLevel: 2")
    ...     output.usage = ModelUsage(input_tokens=900, output_tokens=20)
    ...     return output
    >>> model = get_model("mockllm/model", custom_outputs=reply)
    >>> items = {"sum": "What is 3 + 4? (A) 6 (B) 7 (C) 8 (D) 9"}
    >>> rubrics = ["logical_reasoning", "quantitative_reasoning"]
    >>> said = annotate_demands(items, model, rubrics, options={"sum": 4})
    >>> said.table
          demand[QLl]  demand[QLq]  unguessability
    item
    sum             2            2            75.0
    """
    texts = read_texts(items)
    counts = _option_counts(options, texts)
    batches: dict[str, Batch] = {
        f"demand[{code}]": (scheme_of(rubric), texts) for code, rubric in _by_code(rubrics).items()
    }
    if unknown := {item: text for item, text in texts.items() if item not in counts}:
        batches[UNGUESSABILITY] = (_SCHEME, unknown)
    annotator, replies = run(batches, model, **model_options)
    annotations = {
        column: collect(scheme, annotator, of_column)
        for (column, (scheme, _)), of_column in zip(batches.items(), replies, strict=True)
    }
    columns = {column: one.table.iloc[:, 0] for column, one in annotations.items()}
    table = pd.DataFrame(columns, pd.Index([*texts], name="item", dtype="str"))
    computed = 100 * (1 - 1 / counts).reindex(table.index)
    table[UNGUESSABILITY] = computed.fillna(table.get(UNGUESSABILITY, computed))
    failures = pd.concat([one.failures.assign(column=name) for name, one in annotations.items()])
    return DemandTable(
        table.dropna().astype({column: int for column in table if column != UNGUESSABILITY}),
        annotations,
        failures[["item", "column", "attempts", "reason", "answer"]].reset_index(drop=True),
    )


def _by_code(rubrics: Iterable[str | Path | DemandRubric]) -> dict[str, DemandRubric]:
    by_code: dict[str, DemandRubric] = {}
    for source in rubrics:
        rubric = source if isinstance(source, DemandRubric) else load_demand_rubric(source)
        if not rubric.code or rubric.code in by_code:
            raise AnnotationError(
                f"rubric {rubric.name!r} has the code {rubric.code!r}; give it one of its own, for "
                "the column demand[code]"
            )
        by_code[rubric.code] = rubric
    if not by_code:
        raise AnnotationError("no rubrics; give at least one")
    return by_code


def _option_counts(options: object, texts: Mapping[str, str]) -> "pd.Series[float]":
    """Read the numbers of answer options of the items that have them."""
    options = {} if options is None else options
    remedy = "give a mapping or a Series from items to their number of answer options"
    refuse_other("options", options, Mapping | pd.Series, "either", remedy, AnnotationError)
    counts = pd.Series(options, dtype=float).dropna().rename(str)
    wrong = ~counts.index.isin(texts) | (counts % 1 != 0) | (counts < 2)
    if wrong.any():
        item, count = next(iter(counts[wrong].items()))
        raise AnnotationError(
            f"options: item {item!r} has {count:g}; give whole numbers of at least 2, by names of "
            "items that have a text, and leave out items without options"
        )
    return counts
