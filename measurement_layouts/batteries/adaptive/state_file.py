"""File of an adaptive test: what it was begun with, its answers, and its items in flight."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from ...common.errors import FitError
from ...common.files import whole

_FORMAT = 3
_KIND = "adaptive test"
_PATIENCE = 60  # seconds that a call waits for another one on the same file


class StateFile:
    """File of one test, which is written completely at every change, or not at all.

    It has three lines: what the test was begun with, which does not change, and its answers and
    items in flight, both in JSON; and a digest of these two. A new state is written beside the
    file, reaches the disk, and then replaces it. A file that something else has changed is not
    replaced.

    Parameters
    ----------
    begun : dict of str to object
        Layout, bank and options.
    path : Path or None
        Place of the file; nothing is written without one.
    """

    def __init__(self, begun: Mapping[str, Any], path: Path | None) -> None:
        self.begun, self.path = begun, path
        self._first = json.dumps({"format": _FORMAT, "kind": _KIND, **begun}).encode()
        self._ours: tuple[bytes, ...] = ()  # contents that the file may have because of this test

    def write(self, state: Mapping[str, Any]) -> None:
        """Replace the file by one with another state.

        Raises
        ------
        FitError
            When the file cannot be written, or was changed by something else.
        """
        if self.path is None:
            return
        content, place = self._content(state), str(self.path)
        with _locked(self.path):
            if self.path.exists() and self.path.read_bytes() not in self._ours:
                raise FitError(
                    f"{place} was changed by another process or test, so nothing was recorded; "
                    f"continue from it by AdaptiveTest.load({place!r})"
                    if self._ours
                    else f"{place} exists already; continue it by AdaptiveTest.load({place!r}), or "
                    "give another path"
                )
            self._ours = (*self._ours, content)  # an interrupt leaves the old content or the new
            with whole(self.path) as beside, beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._ours = (content,)

    @classmethod
    def read(cls, path: Path) -> tuple["StateFile", dict[str, Any]]:
        """Read a file, which further calls of `write` replace, and its state.

        Raises
        ------
        FitError
            When there is no such file, it is no test, or it has another format.
        """
        remedy = "give a file that AdaptiveTest wrote, or begin one with path="
        try:
            content = path.read_bytes()
            first, *others = content.splitlines()
            begun = json.loads(first)
            if begun.pop("kind") != _KIND:
                raise ValueError("it is of another kind")
            written = int(begun.pop("format"))
            if written != _FORMAT:
                raise FitError(
                    f"{path} has format {written}, and this version of measurement-layouts reads "
                    f"format {_FORMAT}; read it with the version that wrote it, or begin again"
                )
            file, state = cls(begun, path), json.loads(others[0])
            if file._content(state) != content:
                raise ValueError("it does not match its digest")
        except OSError as error:
            raise FitError(f"cannot read {path}: {error.strerror}; {remedy}") from error
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            raise FitError(f"{path} is no adaptive test, or damaged ({error}); {remedy}") from error
        file._ours = (content,)
        return file, state

    def _content(self, state: Mapping[str, Any]) -> bytes:
        """Write the three lines."""
        lines = b"%s\n%s\n" % (self._first, json.dumps(state).encode())
        return lines + f"{hashlib.blake2b(lines, digest_size=16).hexdigest()}\n".encode()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes and threads from using the file of a test.

    Raises
    ------
    FitError
        When another one uses it for a minute, or it cannot be used.
    """
    try:
        with FileLock(f"{path}.lock", timeout=_PATIENCE, is_singleton=True):
            yield
    except Timeout as error:
        raise FitError(
            f"another call works on {path}; wait until it is done, then run this again"
        ) from error
    except OSError as error:
        raise FitError(f"cannot write {path}: {error.strerror}; make room or restore it") from error


def write_table(table: pd.DataFrame) -> dict[str, Any]:
    """Write a table as plain lists; cells that JSON does not have are texts."""
    written = table.astype(object).where(table.notna(), None).to_dict("split")
    kept: dict[str, Any] = json.loads(json.dumps(written, default=str))
    return kept


def read_table(written: Mapping[str, Any]) -> pd.DataFrame:
    """Read what `write_table` wrote."""
    return pd.DataFrame(**written)
