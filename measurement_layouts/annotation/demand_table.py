"""Tables of demands: levels of items by several rubrics, with the columns that layouts read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError
from ..common.given import kind_of
from .annotations import Annotations, collect
from .answer import read_percentage
from .inputs import read_texts, with_total
from .prompt import scheme_of
from .rubric import DEMAND_RUBRICS, DemandRubric, load_demand_rubric
from .running import Batch, ModelOrName, run
from .scheme import Scheme

UNGUESSABILITY = "unguessability"
"""Column with the percentage of guesses that go wrong."""

_PAGE = """\
# Unguessability

How often somebody goes wrong who cannot answer the item and guesses, or follows the most obvious \
cue in it: 0 % where the right answer cannot be missed, 50 % where two answers are equally likely, \
100 % where no guess would ever hit it, as in an open question with countless possible answers.

# What to do

At the end there is an item.

1. Name the answers that somebody would consider who cannot work the item out, and cues that \
single one of them out.
2. Say how likely such a guess is right.
3. Close with one line of this form, where N is a whole number from 0 to 100, the per cent of \
guesses that go wrong, and write nothing after it:
   {form}

# The item

<item>
{item}
</item>

Now go through the three steps. The last line is `{form}`."""

_AGAIN = """\
This answer cannot be used: {reason}. Close with one line of the form `{form}`, where N is a whole \
number from 0 to 100."""

_GUESSED = Scheme(
    name=UNGUESSABILITY,
    kind="percentages",
    columns=(UNGUESSABILITY,),
    system="You annotate test items. You judge how far one can guess them; you do not answer them.",
    page=_PAGE,
    form="Unguessability: N",
    correction=_AGAIN,
    read=lambda _, answer: {UNGUESSABILITY: read_percentage(answer, "Unguessability")},
)

"""A scheme, texts of items by name, and the name of the file that stores the annotations."""


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
        return with_total({name: said.total for name, said in self.annotations.items()})

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
        Names in ``DEMAND_RUBRICS``, files, or rubrics, each with a code. A rubric may extend
        another one with the same code: it begins at the level where the other ends, for example
        from 5 to 10. The model is then asked by the second rubric only about items of that level,
        and its answer replaces the level.
    options : mapping or Series, optional
        Number of answer options of items; items that are not in it have no options.

    Returns
    -------
    DemandTable
        The table, missing annotations with reasons, and usage.

    Raises
    ------
    AnnotationError
        As in `annotate`; and when no rubric is given, a rubric has no code, two rubrics of one code
        do not follow each other, or a number of options is not a whole number of at least 2.

    References
    ----------
    General scales paper, Table 1 and section 5.2; section 4 on scales that are extended.

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
    known = _options(options, texts)
    chains = _chains(rubrics)
    said: dict[str, Annotations] = {}

    def ask(batches: Mapping[str, Batch]) -> None:
        annotator, replies = run(batches, model, **model_options)
        for column, of_column in zip(batches, replies, strict=True):
            new = collect(batches[column][0], annotator, of_column)
            said[column] = _extended(said[column], new) if column in said else new

    ask(_first_questions(texts, known, chains))
    for number in range(1, max(map(len, chains.values()))):
        further: dict[str, Batch] = {}
        for code, chain in chains.items():
            levels = said[f"demand[{code}]"].levels["level"]
            if number < len(chain):
                lowest = chain[number].levels[0].level
                some = {item: texts[item] for item in levels.index[levels == lowest]}
                further[f"demand[{code}]"] = (scheme_of(chain[number]), some)
        ask({column: batch for column, batch in further.items() if batch[1]})
    return DemandTable(_table(texts, said, known), said, _failures(said))


def _chains(rubrics: Iterable[str | Path | DemandRubric]) -> dict[str, list[DemandRubric]]:
    """Load rubrics by code; each further rubric of a code begins where the one before ends."""
    found: dict[str, list[DemandRubric]] = {}
    for given in rubrics:
        rubric = given if isinstance(given, DemandRubric) else load_demand_rubric(given)
        if not rubric.code:
            raise AnnotationError(
                f"rubric {rubric.name!r} has no code; give it one, for the column demand[code]"
            )
        found.setdefault(rubric.code, []).append(rubric)
    if not found:
        raise AnnotationError("no rubrics; give at least one")
    for code, chain in found.items():
        chain.sort(key=lambda rubric: rubric.levels[0].level)
        for lower, upper in pairwise(chain):
            if upper.levels[0].level != lower.levels[-1].level:
                raise AnnotationError(
                    f"rubrics {lower.name!r} and {upper.name!r} both have the code {code!r}, and "
                    f"the second does not begin at level {lower.levels[-1].level}, where the first "
                    "ends; give each a code of its own"
                )
    return found


def _first_questions(
    texts: dict[str, str], known: Mapping[str, int], chains: Mapping[str, list[DemandRubric]]
) -> dict[str, Batch]:
    """Return what is asked of all items: each code's first rubric, and unknown unguessabilities."""
    asked: dict[str, Batch] = {
        f"demand[{code}]": (scheme_of(chain[0]), texts) for code, chain in chains.items()
    }
    if unknown := {item: text for item, text in texts.items() if item not in known}:
        asked[UNGUESSABILITY] = (_GUESSED, unknown)
    return asked


def _extended(said: Annotations, further: Annotations) -> Annotations:
    """Replace the highest level of items by their level on the rubric that extends the first."""
    before = said.table.drop(index=[*further.failures["item"]])
    return replace(
        said,
        table=before.assign(
            level=further.table["level"].combine_first(before["level"]).astype(int)
        ),
        failures=pd.concat([said.failures, further.failures], ignore_index=True),
        usage=said.usage.add(further.usage, fill_value=0).astype(said.usage.dtypes),
        answers=further.answers.combine_first(said.answers).loc[said.answers.index],
    )


def _options(options: object, texts: Mapping[str, str]) -> dict[str, int]:
    """Read numbers of options, by item; missing ones are left out."""
    if options is None:
        return {}
    if not isinstance(options, Mapping | pd.Series):
        raise AnnotationError(
            f"options: this is {kind_of(options)}; give a mapping or a Series from items "
            "to their number of answer options"
        )
    found = {str(item): count for item, count in options.items() if pd.notna(count)}
    for item, count in found.items():
        if item not in texts:
            raise AnnotationError(f"options: there is no item {item!r}; give names of given items")
        if isinstance(count, bool) or count != int(count) or count < 2:
            raise AnnotationError(
                f"options: item {item!r} has {count!r}; give a whole number of at least 2, or "
                "leave out an item without options"
            )
    return {item: int(count) for item, count in found.items()}


def _table(
    texts: Mapping[str, str], said: Mapping[str, Annotations], known: Mapping[str, int]
) -> pd.DataFrame:
    """Arrange annotated and computed columns in a table of the items that have all of them."""
    table = pd.DataFrame(index=pd.Index([*texts], name="item", dtype="str"))
    for column, annotations in said.items():
        table[column] = annotations.table.iloc[:, 0].reindex(table.index)
    computed = pd.Series(
        {item: 100 * (1 - 1 / count) for item, count in known.items()}, dtype=float
    )
    computed = computed.reindex(table.index)
    asked = table.get(UNGUESSABILITY, computed)
    table[UNGUESSABILITY] = computed.fillna(asked.astype(float))
    whole_rows = table.dropna()
    return whole_rows.astype({column: int for column in said if column != UNGUESSABILITY})


def _failures(said: Mapping[str, Annotations]) -> pd.DataFrame:
    """List the annotations that are missing, with their columns."""
    parts = [found.failures.assign(column=column) for column, found in said.items()]
    table = pd.concat(parts, ignore_index=True)
    return table[["item", "column", "attempts", "reason", "answer"]]
