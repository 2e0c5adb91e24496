"""Refusal of arguments that are not a layout, not several of them, or not an evaluation."""

from collections.abc import Mapping

from ..common.errors import DataError
from ..common.given import refuse_other
from ..common.messages import many
from ..layouts import Layout
from ..linking import LayoutError
from .evaluation import Evaluation
from .logs.imported import Imported


def refuse_no_layout(layout: object) -> None:
    """Refuse what is given as a layout and is something else.

    Raises
    ------
    LayoutError
        When it is not a `Layout`; the message states what to give instead.

    Examples
    --------
    >>> refuse_no_layout("layout.py")
    Traceback (most recent call last):
        ...
    measurement_layouts.linking.errors.LayoutError: layout: this is a str, not a Layout; ...
    """
    remedy = "make one as Layout('name', outcome)"
    if isinstance(layout, Evaluation | Imported):
        remedy = "the layout is the first argument"
    elif isinstance(getattr(layout, "layout", None), Layout):
        remedy = "give its attribute layout"
    refuse_other("layout", layout, Layout, "a Layout", remedy, LayoutError)


def refuse_few_layouts(layouts: Mapping[str, object]) -> None:
    """Refuse what is given as several layouts by name and is something else.

    Raises
    ------
    DataError
        When it is no mapping, a value is not a `Layout`, or there are fewer than two.

    Examples
    --------
    >>> refuse_few_layouts({"line": "layout.py"})
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: layouts['line']: this is a str, not a Layout; ...
    """
    remedy = "give at least two layouts by name, as in {'line': layout, 'kink': other}"
    refuse_other("layouts", layouts, Mapping, "a mapping", remedy)
    for name, layout in layouts.items():
        refuse_other(f"layouts[{name!r}]", layout, Layout, "a Layout", remedy)
    if len(layouts) < 2:
        raise DataError(f"there are {many(len(layouts), 'layout')} to choose from; {remedy}")


def refuse_no_evaluation(evaluation: object) -> None:
    """Refuse what is given as an evaluation and is something else.

    Raises
    ------
    DataError
        When it is not an `Evaluation`; the message states how to make one.

    Examples
    --------
    >>> refuse_no_evaluation("answers.csv")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: evaluation: this is a str, not an Evaluation; ...
    """
    remedy = (
        "read a table as evaluations.read_table(table).evaluation(), or make one as "
        "Evaluation.from_wide(outcomes, items)"
    )
    if isinstance(evaluation, Imported):
        remedy = "call its evaluation()"
    refuse_other("evaluation", evaluation, Evaluation, "an Evaluation", remedy)
