"""A question to a language model: its texts, which are a file, and how answers are read."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .rubric import read_toml


def question(file: str, **changes: object) -> dict[str, Any]:
    """Read a question, one of the package's files, with changes of its fields.

    Examples
    --------
    >>> question("grading")["columns"]
    ['score']
    """
    return read_toml(Path(__file__).parent / "questions" / f"{file}.toml") | changes


@dataclass(frozen=True)
class Scheme:
    """One kind of annotation: its question, and how answers are read.

    Parameters
    ----------
    question : mapping of str to object
        Fields of the question, such as those of a file: ``name`` (of the rubric), ``kind`` (of the
        annotations: ``bands``, ``levels``, ``ratings``, ``situations``, ...), ``columns`` (of the
        table of annotations), optionally ``words`` (the columns of text; the others have whole
        numbers), ``system`` (the system message; none is sent if it is empty), ``page`` (template
        of the question, with ``{item}`` for an item's text), ``again`` (template of the reply to
        an answer that cannot be used, with ``{reason}``), and ``form`` (form of the answer, for
        ``{form}`` in both templates).
    read : function of (str, str)
        Function from an item's text and an answer to a value for each column. It raises an
        AnnotationError with the reason if the answer cannot be used.
    fields : mapping of str to object, default none
        Values of other names in braces in both templates.
    """

    question: Mapping[str, Any]
    read: Callable[[str, str], Mapping[str, int | str]]
    fields: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the rubric."""
        return str(self.question["name"])

    def prompt(self, item: str) -> str:
        """Write the question about an item, given its text."""
        return self._filled("page", item=item)

    def again(self, reason: str) -> str:
        """Write the reply to an answer that cannot be used, given the reason."""
        return self._filled("again", reason=reason)

    @property
    def fingerprint(self) -> str:
        """Hash of 16 digits of all texts that an annotator is told about any item."""
        texts = json.dumps([self.question["system"], self.prompt(""), self.again("")])
        return hashlib.blake2b(texts.encode(), digest_size=8).hexdigest()

    def _filled(self, template: str, **values: str) -> str:
        text: str = self.question[template]
        return text.format(form=self.question["form"], **values, **self.fields)
