"""What came of asking about one item."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


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
    """

    item: str
    digest: str
    said: Mapping[str, int | str] = field(default_factory=dict)
    reason: str = ""
    answer: str = ""
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def good(self) -> bool:
        """Whether there is an annotation."""
        return not self.reason


def text_digest(text: str) -> str:
    """Hash an item's text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
