"""A fit on the disk: a folder that ``fit`` wrote, a file or a store."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.errors import FitError
from ..linking import LayoutError
from .arguments import refuse_existing
from .layout_file import load_layout
from .saying import say

if TYPE_CHECKING:
    from ..inference.fit import Fit


class FitFolder:
    """Folder that the command ``fit`` writes, and the files in it.

    The store is there while a fit is unfinished, and goes once everything else is written.

    Parameters
    ----------
    path : Path
        The folder.

    Attributes
    ----------
    fit, store : Path
        The finished fit, and what is finished of an unfinished one.
    items : Path
        The items with all their properties, those too that the layout does not use.
    subjects : Path
        The subjects with their properties.
    profiles, diagnostics : Path
        Tables.
    population, effects : Path
        Tables of what subjects share, and of what items have of their own.
    diagram : Path
        The layout, drawn.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fit, self.store = path / "fit.nc", path / "store"
        self.items, self.subjects = path / "fitted_items.csv", path / "fitted_subjects.csv"
        self.profiles, self.diagnostics = path / "profiles.csv", path / "diagnostics.csv"
        self.population, self.effects = path / "population.csv", path / "item_effects.csv"
        self.diagram = path / "layout.svg"

    def refuse_used(self) -> None:
        """Refuse a folder that has a file with the name of one of a fit.

        Raises
        ------
        FileExistsError
            Naming the first.
        """
        tables = (self.items, self.subjects, self.profiles, self.diagnostics)
        shared = (self.population, self.effects)
        refuse_existing((self.fit, *tables, *shared, self.diagram))


def open_fit(path: Path, layouts: Sequence[str] = ()) -> "Fit":
    """Open a fit, with a warning if it is not finished.

    Parameters
    ----------
    path : Path
        A folder that ``fit`` wrote, a .nc file, or a store.
    layouts : sequence of str
        ``LAYOUT.py:name`` of layouts with linking functions of one's own.

    Returns
    -------
    Fit
        Of an unfinished one, what is there.

    Raises
    ------
    FitError
        When there is none, it is damaged, or a linking function of it is in none of the layouts.
    """
    from ..common.errors import FitError
    from ..inference.fit import load

    functions = [function for text in layouts for function in load_layout(text).functions]
    place = _place(path)
    try:
        found = load(place, functions=functions)
    except FitError as error:
        if not isinstance(error.__cause__, LayoutError):
            raise
        raise FitError(f"{error}; here: --layout LAYOUT.py:name of its layout") from error
    if place == FitFolder(path).store:
        done = f"{path} is not finished: {found!r}"
        say(f"{done}; the same `fit` command continues it", error=True)
    return found


def _place(path: Path) -> Path:
    """Find the file or store to read."""
    folder = FitFolder(path)
    if not path.is_dir() or (path / "head.nc").exists():
        return path
    for place in (folder.fit, folder.store):
        if place.exists():
            return place
    raise FitError(
        f"{path} has no fit, neither {folder.fit.name} nor a store; give a folder that "
        "`measurement-layouts fit` wrote, a .nc file or a store"
    )
