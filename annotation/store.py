"""A store of annotations: one file of JSON lines, each item written as soon as it is done."""

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from ..common.errors import AnnotationError
from .scheme import Reply

_KIND = {"file": "annotations of measurement-layouts", "version": 1}


class Store:
    """Annotations in a file; opened with ``with``, by one process at a time.

    The first line says what the annotations are of, each further one holds one item. A line that
    was being written when a process died is dropped.

    Parameters
    ----------
    path : str or Path
        The file; made when it is not there.
    about : mapping of str to anything that JSON can hold
        Whose annotations these are: rubric, prompt, model and settings.

    Attributes
    ----------
    known : dict of (str, str) to Reply
        By item and digest of its text, the last reply.

    Raises
    ------
    AnnotationError
        On entering: when the file is something else, belongs to other annotations, is damaged, in
        use, or cannot be written.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.known: dict[tuple[str, str], Reply] = {}
        self._about = {**_KIND, **json.loads(json.dumps(about))}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                opening.enter_context(FileLock(f"{self.path}.lock", timeout=0, thread_local=False))
                self._file: BinaryIO = opening.enter_context(self.path.open("a+b"))
                self._read()
            except Timeout as error:
                raise AnnotationError(
                    f"{self.path} is in use; wait until that is done, or give another store"
                ) from error
            except OSError as error:
                raise AnnotationError(
                    f"cannot use {self.path}: {error.strerror}; give another store"
                ) from error
            self._open = opening.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def add(self, reply: Reply) -> None:
        """Write a reply, through to the disk.

        Parameters
        ----------
        reply : Reply
            What came of an item.

        Raises
        ------
        AnnotationError
            When it cannot be written.
        """
        try:
            self._write(asdict(reply))
        except OSError as error:
            raise AnnotationError(
                f"could not write into {self.path}: {error.strerror}; what was written before is "
                "safe: make room, and call again with this store"
            ) from error
        self.known[reply.item, reply.digest] = reply

    def _write(self, said: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(said).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> None:
        self._file.seek(0)
        *lines, rest = self._file.read().split(b"\n")
        if not lines:
            if rest and not json.dumps(self._about).encode().startswith(rest):
                raise self._foreign()
            self._file.truncate(0)
            self._write(self._about)
            return
        self._check(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            try:
                reply = Reply(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise AnnotationError(
                    f"{self.path}, line {number}, is damaged; delete the line and call again, "
                    "which asks about its item anew"
                ) from error
            self.known[reply.item, reply.digest] = reply
        if rest:
            self._file.truncate(sum(len(line) + 1 for line in lines))

    def _check(self, line: bytes) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("file") != _KIND["file"]:
            raise self._foreign()
        for name in {**found, **self._about}:
            have, want = found.get(name), self._about.get(name)
            if have != want:
                raise AnnotationError(
                    f"{self.path} holds other annotations: their {name} is {have!r}, now it is "
                    f"{want!r}; give another store, or ask as then"
                )

    def _foreign(self) -> AnnotationError:
        return AnnotationError(
            f"{self.path} is there already and holds no annotations; give another file"
        )
