"""Texts and tables in Markdown."""

import re
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#|~$&!])")


def escaped(text: object) -> str:
    r"""Escape a text, so that it is shown unchanged, on one line.

    Examples
    --------
    >>> escaped("<b>a|b</b>")
    '\\<b\\>a\\|b\\</b\\>'
    """
    return _SIGNS.sub(r"\\\1", " ".join(str(text).split()))


def table(head: Sequence[object], rows: Iterable[Iterable[object]], numbers: int = 0) -> str:
    """Write a table of cells that are Markdown; the last columns may be aligned as numbers.

    Examples
    --------
    >>> print(table(["item", "answers"], [["**a**", 12]], numbers=1))
    | item | answers |
    | --- | ---: |
    | **a** | 12 |
    """
    texts = len(head) - numbers
    lines = [head, ["---"] * texts + ["---:"] * numbers, *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
