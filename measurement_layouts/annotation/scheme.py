"""A scheme of annotation: its question, how answers are read, and replies about items."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

USAGE = ("attempts", "input_tokens", "output_tokens", "seconds")
"""Columns of usage."""


@dataclass(frozen=True)
class Scheme:
    """One kind of annotation: its question, and how answers are read.

    Parameters
    ----------
    name : str
        Name of the rubric.
    kind : str
        Kind of annotations: ``bands``, ``levels``, ``ratings``, ``situations``, ...
    columns : tuple of str
        Columns of the table of annotations.
    system : str
        System message to the annotator; none is sent if it is empty.
    page : str
        Template of the question; ``{item}`` is replaced by an item's text.
    correction : str
        Template of the reply to an answer that cannot be used; ``{reason}`` is replaced by the
        reason.
    read : function of (str, str)
        Function from an item's text and an answer to a value for each column. It raises an
        AnnotationError with the reason if the answer cannot be used.
    form : str, default empty
        Form of the answer, which replaces ``{form}`` in both templates.
    fields : mapping of str to object, default none
        Values that replace other names in braces in both templates.
    words : tuple of str, default none
        Columns of text; the others are columns of whole numbers.
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
        """Write the reply to an answer that cannot be used, given the reason."""
        return self.correction.format(reason=reason, form=self.form, **self.fields)

    @property
    def fingerprint(self) -> str:
        """Hash of 16 digits of all texts that an annotator is told about any item."""
        texts = json.dumps([self.system, self.prompt(""), self.again("")])
        return hashlib.blake2b(texts.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Reply:
    """The annotation of one item, or why there is none.

    Attributes
    ----------
    item : str
        Name of the item.
    annotation : mapping of str to int or str
        The annotation, by column: ``low`` and ``high``, or ``level``, ...; empty if there is none.
    reason : str
        Reason why there is no annotation; else empty.
    answer : str
        Last answer of the model; empty if it gave none.
    attempts : int
        Number of attempts.
    input_tokens, output_tokens : int
        Tokens of all attempts; those in a provider's cache count as input.
    seconds : float
        Time that the model took, over all attempts.
    """

    item: str
    annotation: Mapping[str, int | str] = field(default_factory=dict)
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

    @classmethod
    def from_samples(cls, item: str, samples: Sequence["EvalSample"]) -> Self:
        """Read the annotation from the samples of Inspect's logs about one item, oldest first."""
        good = next((sample for sample in samples if sample.error is None), None)
        last = good or samples[-1]
        usage = [counts for sample in samples for counts in sample.model_usage.values()]
        return cls(
            item=item,
            annotation=last.metadata["annotation"] if good else {},
            reason="" if good else _reason(last),
            answer=last.output.completion,
            attempts=sum(sample.metadata.get("attempts", 0) for sample in samples),
            input_tokens=sum(
                counts.input_tokens
                + (counts.input_tokens_cache_read or 0)
                + (counts.input_tokens_cache_write or 0)
                for counts in usage
            ),
            output_tokens=sum(counts.output_tokens for counts in usage),
            seconds=round(sum(sample.working_time or 0 for sample in samples), 3),
        )


def _reason(sample: "EvalSample") -> str:
    """Say why a sample has no annotation: what was read, or the beginning of the model's error."""
    if "reason" in sample.metadata:
        return str(sample.metadata["reason"])
    error = " ".join(sample.error.message.split()) if sample.error else ""
    return f"the model failed: {error if len(error) <= 300 else error[:300] + '...'}"


def spent(replies: Collection[Reply]) -> dict[str, Any]:
    """Sum the attempts, tokens and seconds of replies."""
    return {name: sum(getattr(reply, name) for reply in replies) for name in USAGE}
