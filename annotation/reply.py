"""What came of asking about one item."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Reply:
    """The band of one item, or why there is none.

    Attributes
    ----------
    item : str
        Whose.
    digest : str
        Of the item's text, so that a changed text is asked about anew.
    low, high : int or None
        The band; None where there is none.
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
    low: int | None = None
    high: int | None = None
    reason: str = ""
    answer: str = ""
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def good(self) -> bool:
        """Whether there is a band."""
        return not self.reason


def text_digest(text: str) -> str:
    """Hash an item's text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
