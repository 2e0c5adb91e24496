"""A user's layout: a Python file, and a name in it."""

import contextlib
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

from ..linking.errors import LayoutError

if TYPE_CHECKING:
    from ..layouts import Layout


def load_layout(text: str) -> "Layout":
    """Execute a Python file and return a layout from it.

    While it is executed, modules beside the file can be imported, and what it prints goes to
    standard error.

    Parameters
    ----------
    text : str
        ``FILE.py:name``, the name being that of a `Layout` or of a function without arguments that
        returns one; ``FILE.py`` where a single variable holds a layout.

    Returns
    -------
    Layout
        The layout.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    LayoutError
        When the file raises anything but Ctrl-C (its line is named), or holds no such layout.

    Examples
    --------
    >>> import tempfile
    >>> code = '''
    ... import measurement_layouts as ml
    ... coin = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "coin.py")
    ...     _ = path.write_text(code)
    ...     load_layout(f"{path}:coin")
    <Layout 'coin': p, heads>
    """
    from ..layouts import Layout

    path, name = split(text)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; give a Python file, as LAYOUT.py:name")
    with _on_one_line(path):
        values = runpy.run_path(str(path))
        if callable(values.get(name)):
            values[name] = values[name]()
    layouts = {key: value for key, value in values.items() if isinstance(value, Layout)}
    if not name and len({id(layout) for layout in layouts.values()}) == 1:
        return next(iter(layouts.values()))
    if name in layouts:
        return layouts[name]
    known = [key for key, value in values.items() if isinstance(value, Layout | FunctionType)]
    named = f"has no layout {name!r}" if name else f"holds {len(layouts)} layouts"
    raise LayoutError(
        f"{path} {named}; name a variable or a function without arguments that returns one, as "
        f"{path}:name; it has {', '.join(known) or 'neither'}"
    )


def split(text: str) -> tuple[Path, str]:
    """Split FILE.py:name at the last colon, unless it is that of a drive."""
    path, colon, name = text.rpartition(":")
    return (Path(path), name) if colon and name.isidentifier() else (Path(text), "")


@contextlib.contextmanager
def _on_one_line(path: Path) -> Iterator[None]:
    """Permit imports from the file's folder; write the place of any error on one line."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, LayoutError) else f"{type(error).__name__}: "
        raise LayoutError(f"{_where(path, error)}: {kind}{error}") from error
    finally:
        sys.path.remove(folder)


def _where(path: Path, error: BaseException) -> str:
    """Find the innermost line that raised an error, in the file or its folder."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).resolve().parent == path.resolve().parent:
            return f"{frame.filename}, line {frame.lineno}"
    return str(path)
