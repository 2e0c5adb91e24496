"""A store of annotations: a file of JSON lines to which each item is written when it is done."""

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
    """Annotations in a file, which one process at a time opens with ``with``.

    The first line describes the rubric, prompt, model and settings of the annotations; each
    further line is one reply. An incomplete last line, which remains if a process ends while it
    writes, is removed.

    Parameters
    ----------
    path : str or Path
        Path of the file, which is made if it does not exist.
    about : mapping of str to anything that JSON can represent
        Rubric, prompt, model and settings of the annotations.

    Attributes
    ----------
    known : dict of (str, str) to Reply
        Last reply, by item and hash of its text.

    Raises
    ------
    AnnotationError
        When the file is opened and is not a store, belongs to other annotations, is damaged, is
        in use, or cannot be written.
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
                    f"{self.path} is in use; wait until the other call is done, or give "
                    f"another store"
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
        """Write a reply to the disk.

        Parameters
        ----------
        reply : Reply
            Reply about an item.

        Raises
        ------
        AnnotationError
            When it cannot be written.
        """
        try:
            self._write(asdict(reply))
        except OSError as error:
            raise AnnotationError(
                f"cannot write to {self.path}: {error.strerror}; earlier annotations are "
                f"safe: make "
                "room, and call again with this store"
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
                    f"{self.path}, line {number}, is damaged; delete the line and call again, so "
                    "that the model is asked about its item again"
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
                    f"{self.path} contains other annotations: their {name} is {have!r}, now it is "
                    f"{want!r}; give another store, or the same {name}"
                )

    def _foreign(self) -> AnnotationError:
        return AnnotationError(f"{self.path} exists and contains no annotations; give another file")
