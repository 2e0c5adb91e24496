"""Display of results: a few lines in a terminal, a collapsible part in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_ROWS = 12  # of a table, in a notebook
_STYLE = "border:1px solid #8886;border-radius:4px;padding:.4em .8em;display:inline-block"
_CELL = "text-align:left;padding:.1em 1em .1em 0;vertical-align:top"


@dataclass(frozen=True)
class Overview:
    """Short description of a result.

    Attributes
    ----------
    facts : mapping of str to str
        Sizes and states by name.
    calls : mapping of str to str
        Next calls, and descriptions of their results.
    tables : mapping of str to DataFrame, optional
        Tables whose first rows a notebook shows; they are folded if there are several.
    """

    facts: Mapping[str, str]
    calls: Mapping[str, str]
    tables: Mapping[str, "pd.DataFrame"] = field(default_factory=dict)


class Shown(ABC):
    """Result with an overview: ``print`` writes it as lines, a notebook as a collapsible part.

    The first line is the ``repr`` of the result.

    Examples
    --------
    >>> class Coin(Shown):
    ...     def __repr__(self):
    ...         return "<Coin: 2 sides>"
    ...     def _overview(self):
    ...         return Overview({"sides": "2"}, {"coin.toss()": "an outcome"})
    >>> print(Coin())
    <Coin: 2 sides>
      sides  2
    next:
      coin.toss()  an outcome
    >>> Coin()._repr_html_().count("<details")
    1
    """

    @abstractmethod
    def _overview(self) -> Overview:
        """Summarise the result."""

    def __str__(self) -> str:
        overview = self._overview()
        return "\n".join([repr(self), *_lines(overview.facts), "next:", *_lines(overview.calls)])

    def _repr_html_(self) -> str:
        overview = self._overview()
        title = escape(repr(self).removeprefix("<").removesuffix(">"))
        calls = {f"<code>{escape(call)}</code>": what for call, what in overview.calls.items()}
        sections = [
            _rows({escape(name): what for name, what in overview.facts.items()}),
            *(
                _folded(escape(name), table, unfolded=len(overview.tables) == 1)
                for name, table in overview.tables.items()
                if len(table)
            ),
            f"<p style='margin:.5em 0 .1em'>Next:</p>{_rows(calls)}",
        ]
        return (
            f"<div class='tex2jax_ignore mathjax_ignore' style='{_STYLE}'><details open>"
            f"<summary><b>{title}</b></summary>{''.join(sections)}</details></div>"
        )


def _lines(texts: Mapping[str, str]) -> list[str]:
    """Write one line for each text, with the texts aligned."""
    width = max(map(len, texts), default=0)
    return [f"  {name:<{width}}  {text}" for name, text in texts.items()]


def _rows(texts: Mapping[str, str]) -> str:
    """Write a table of two columns; the first one must be escaped already."""
    rows = (
        f"<tr><td style='{_CELL}'>{name}</td><td style='{_CELL}'>{escape(text)}</td></tr>"
        for name, text in texts.items()
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _folded(title: str, table: "pd.DataFrame", *, unfolded: bool) -> str:
    """Write the first rows of a table that can be folded; pandas escapes its texts."""
    more = f", the first {_ROWS} of {len(table)} rows" if len(table) > _ROWS else ""
    state = " open" * unfolded
    return (
        f"<details{state}><summary>{title}{more}</summary>{table.head(_ROWS).to_html()}</details>"
    )
