"""A user's layout: a Python file, and a name in it."""

import contextlib
import inspect
import io
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TextIO

from ..common.messages import many, some
from ..layouts import Layout
from ..linking import LayoutError

_MODULE = "_layout_file"


def load_layout(text: str) -> Layout:
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
        When the file raises anything but Ctrl-C (its line is named), closes what the command prints
        to, or holds no such layout.

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
    path, name = _split(text)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; give a Python file, as LAYOUT.py:name")
    with _on_one_line(path):
        values = _execute(path)
    layouts = {found: value for found, value in values.items() if isinstance(value, Layout)}
    if not name:
        return _only(path, values, layouts)
    if name not in values:
        raise LayoutError(f"{path} has no {name!r}; {_choice(path, values, layouts)}")
    value = values[name]
    if not isinstance(value, Layout) and callable(value):
        with _on_one_line(path):
            value = value()
    if not isinstance(value, Layout):
        raise LayoutError(
            f"{path}:{name} is or returns a {type(value).__name__}, no Layout; "
            f"{_choice(path, values, layouts)}"
        )
    return value


def is_layout_file(text: str) -> bool:
    """Whether a text has the form ``FILE.py:name`` or ``FILE.py``."""
    return _split(text)[0].suffix == ".py"


def short_name(text: str) -> str:
    """Return the name of the layout of ``FILE.py:name``, or the name of the file."""
    path, name = _split(text)
    return name or path.stem


def _split(text: str) -> tuple[Path, str]:
    """Split at the last colon, unless it is that of a drive."""
    path, colon, name = text.rpartition(":")
    return (Path(path), name) if colon and name.isidentifier() else (Path(text), "")


def _execute(path: Path) -> dict[str, object]:
    """Run the file as a module that cannot be imported afterwards."""
    module = ModuleType(_MODULE)
    module.__file__ = str(path)
    sys.modules[_MODULE] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    finally:
        sys.modules.pop(_MODULE, None)
    return vars(module)


@contextlib.contextmanager
def _on_one_line(path: Path) -> Iterator[None]:
    """Permit imports from the file's folder; write the place of any error on one line."""
    beside = str(path.resolve().parent)
    sys.path.insert(0, beside)
    try:
        with _streams_lent():
            yield
    except BaseException as error:
        if type(error) is KeyboardInterrupt:  # Ctrl-C
            raise
        kind = "" if isinstance(error, LayoutError) else f"{type(error).__name__}: "
        raise LayoutError(f"{_where(path, error)}: {kind}{_told(error)}") from error
    finally:
        with contextlib.suppress(ValueError):  # the file may have taken it out
            sys.path.remove(beside)


@contextlib.contextmanager
def _streams_lent() -> Iterator[None]:
    """Redirect output of the file to standard error, which the file must not close."""
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = _Lent(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
    if not all(map(_is_open, streams)):
        raise LayoutError(
            "it closes standard output or standard error, which the command writes to; remove that "
            "from the file"
        )


class _Lent:
    """A stream that cannot be closed."""

    def __init__(self, stream: object) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Do nothing."""


def _is_open(stream: TextIO) -> bool:
    """Whether a stream can be written to, or is None."""
    if stream is None or stream.closed:
        return stream is None
    try:
        os.fstat(stream.fileno())
    except io.UnsupportedOperation:  # in memory
        return True
    except OSError:
        return False
    return True


def _told(error: BaseException) -> str:
    """Write the message of an error, if it has a readable one."""
    try:
        return str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:
        return "its message cannot be read"


def _where(path: Path, error: BaseException) -> str:
    """Find the innermost line that raised an error, in the file or its folder."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    beside = path.resolve().parent
    for frame in reversed(frames):
        if Path(frame.filename).resolve().parent == beside:
            return f"{frame.filename}, line {frame.lineno}"
    return str(path)


def _only(path: Path, values: dict[str, object], layouts: dict[str, Layout]) -> Layout:
    different = {id(layout): layout for layout in layouts.values()}
    if len(different) != 1:
        raise LayoutError(
            f"{path} holds {many(len(different), 'layout')}; {_choice(path, values, layouts)}"
        )
    return next(iter(different.values()))


def _choice(path: Path, values: dict[str, object], layouts: dict[str, Layout]) -> str:
    """Write the names that can be chosen."""
    names = [*layouts, *(name for name, value in values.items() if _may_make(value))]
    if not names:
        return "add one, as a variable or a function without arguments that returns it"
    return f"name one of {some(names)}, as {path}:{names[0]}"


def _may_make(value: object) -> bool:
    own = isinstance(value, FunctionType) and value.__module__ == _MODULE
    return own and not inspect.signature(value).parameters  # type: ignore[arg-type]
