"""A scheme of annotation: what is asked, how answers are read, and what came of an item."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scheme:
    """One kind of annotation: its questions, and how answers are read.

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
    page : str
        The question, with ``{item}`` in the place of an item's text.
    correction : str
        What is said to an answer that cannot be used, with ``{reason}`` in the place of why.
    read : function of (str, str)
        From an item's text and an answer to what that says for each column; an AnnotationError says
        what is wrong with it.
    form : str, default empty
        Of the answer: what stands in the place of ``{form}`` in both.
    fields : mapping of str to object, default none
        What stands in the place of other names in braces in both.
    words : tuple of str, default none
        The columns that hold text; the others hold whole numbers.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    system: str
    page: str
    correction: str
    read: Callable[[str, str], Mapping[str, int | str]]
    form: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    def prompt(self, item: str) -> str:
        """Write the question about an item, given its text."""
        return self.page.format(item=item, form=self.form, **self.fields)

    def again(self, reason: str) -> str:
        """Say what is wrong with an answer, and ask once more."""
        return self.correction.format(reason=reason, form=self.form, **self.fields)

    @property
    def fingerprint(self) -> str:
        """16 digits, other ones when a word changes of what an annotator is told on any item."""
        said = json.dumps([self.system, self.prompt(""), self.again("")])
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Reply:
    """The annotation of one item, or why there is none.

    Attributes
    ----------
    item : str
        Whose.
    digest : str
        Of the item's text, so that a changed text is asked about anew.
    said : mapping of str to int or str
        The annotation, by column: ``low`` and ``high``, or ``level``, ...; empty where there is
        none.
    reason : str
        Why there is none; else empty.
    answer : str
        The model's last answer; empty if it gave none.
    attempts : int
        How often the model was asked.
    input_tokens, output_tokens : int
        Of all attempts.
    seconds : float
        That the model took, in all attempts.
    """

    item: str
    digest: str
    said: Mapping[str, int | str] = field(default_factory=dict)
    reason: str = ""
    answer: str = ""
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether there is an annotation."""
        return not self.reason


def text_digest(text: str) -> str:
    """Hash an item's text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
