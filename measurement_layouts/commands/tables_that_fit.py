"""Tables for the terminal that show as many whole columns as fit."""

from collections.abc import Collection, Sequence

from rich.cells import cell_len
from rich.table import Table

from ..common.messages import visible

_EDGES = 3  # columns of the terminal between two cells
_LONG = 20  # least width of a cell with long text


class Fitting:
    """A table whose columns are shown whole or left out.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    long : collection of str
        Columns of text that may be broken into lines, such as names of subjects.
    """

    def __init__(self, header: Sequence[str], *, long: Collection[str] = ()) -> None:
        self._header = list(header)
        self._long = set(long)
        self._rows = list[tuple[str, ...]]()
        self._shown = list(range(len(self._header)))

    def add(self, *cells: str) -> None:
        """Add a row, one cell for each column."""
        self._rows.append(cells)

    def fit(self, width: int, *, needed: Collection[str]) -> list[str]:
        """Choose the columns to show: the needed ones, then others in order while they fit.

        Parameters
        ----------
        width : int
            Columns of the terminal.
        needed : collection of str
            Columns that are shown in any case.

        Returns
        -------
        list of str
            Names of the columns that are left out.
        """
        sizes = [self._size(place) + _EDGES for place in range(len(self._header))]
        chosen = {place for place, name in enumerate(self._header) if name in needed}
        used = 1 + sum(sizes[place] for place in chosen)
        for place, size in enumerate(sizes):
            if place not in chosen:
                if used + size > width:
                    break
                chosen.add(place)
                used += size
        self._shown = sorted(chosen)
        return [name for place, name in enumerate(self._header) if place not in chosen]

    def shows(self, mark: str) -> bool:
        """Whether a shown number ends with a mark, alone or among others."""
        numbers = [place for place in self._shown if self._header[place] not in self._long]
        return any(mark in row[place] for row in self._rows for place in numbers)

    def table(self, title: str, caption: str = "") -> Table:
        """Make the table of the chosen columns.

        Parameters
        ----------
        title : str
            Text above the table.
        caption : str
            Text below the table.

        Returns
        -------
        Table
            Table for a console of the width that the columns were chosen for.
        """
        made = Table(title=title, caption=caption or None)
        for place in self._shown:
            name = self._header[place]
            made.add_column(name, no_wrap=name not in self._long, overflow="fold")
        for row in self._rows:
            made.add_row(*(row[place] for place in self._shown))
        return made

    def _size(self, place: int) -> int:
        name = self._header[place]
        cells = [name, *(row[place] for row in self._rows)]
        widest = max(cell_len(visible(cell)) for cell in cells)
        return min(widest, max(_LONG, cell_len(name))) if name in self._long else widest
