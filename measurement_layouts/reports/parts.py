"""What a report is made of: sections of texts, lists, tables and pictures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, eq=False)
class Table:
    """A table of texts; its first column names the rows.

    Attributes
    ----------
    caption : str
        What the table shows.
    head : list of str
        Names of the columns.
    rows : list of list of str
        Cells, by row.
    links : mapping of str to str
        Anchors to which names of rows lead.
    """

    caption: str
    head: list[str]
    rows: list[list[str]]
    links: Mapping[str, str] = field(default_factory=dict)

    def filled(self) -> "Table":
        """Leave out columns without a text."""
        kept = [place for place in range(len(self.head)) if any(row[place] for row in self.rows)]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, head=[self.head[place] for place in kept], rows=rows)


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture: its caption, what draws it as SVG, and of a diagram its text in Mermaid."""

    caption: str
    drawn: Callable[[], str]
    mermaid: str = ""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Attributes
    ----------
    title : str
        Heading.
    parts : list
        Paragraphs (str), lists of sentences (list of str), terms with values (dict), tables,
        pictures and sections.
    anchor : str
        Identifier of the section in a page; empty for a section without links to it.
    folded : bool
        Whether a page shows the heading only, until it is clicked.
    """

    title: str
    parts: "list[Part]"
    anchor: str = ""
    folded: bool = False


type Part = str | list[str] | dict[str, str] | Table | Picture | Section
"""What a section contains."""
