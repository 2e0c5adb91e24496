"""A scheme of annotation: what an annotator is asked, and how the answer is read."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """What the machinery of asking needs to know about one kind of annotation.

    Parameters
    ----------
    name : str
        Of the rubric.
    kind : str
        What is annotated: ``bands``, ``levels``, ``ratings``, ``situations``, ...
    columns : tuple of str
        Of the table of annotations.
    system : str
        What the annotator is told first; nothing when it is empty.
    prompt : function of str
        From an item's text to the question.
    again : function of str
        From what is wrong with an answer to what is said then.
    read : function of (str, str)
        From an item's text and an answer to what that says for each column; an AnnotationError says
        what is wrong with it.
    words : tuple of str, default none
        The columns that hold text; the others hold whole numbers.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    system: str
    prompt: Callable[[str], str]
    again: Callable[[str], str]
    read: Callable[[str, str], Mapping[str, int | str]]
    words: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 digits, other ones when a word changes of what an annotator is told on any item."""
        said = json.dumps([self.system, self.prompt(""), self.again("")])
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()
