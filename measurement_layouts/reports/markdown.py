"""A report in Markdown: its sections without figures, diagrams in Mermaid."""

from collections.abc import Iterator

from ..common.markdown import escaped, table
from .contents import Contents
from .parts import Part, Picture, Section, Table
from .sections import sections


def as_markdown(contents: Contents) -> str:
    """Write the report in GitHub's Markdown."""
    first, *others = sections(contents)
    texts = [*_section(first, 1), *(text for one in others for text in _section(one, 2))]
    return "\n\n".join(texts) + "\n"


def _section(section: Section, level: int) -> Iterator[str]:
    """Write a section with its heading, unless it has figures only."""
    texts: list[str] = []
    for part in section.parts:
        texts += _section(part, level + 1) if isinstance(part, Section) else [_text(part)]
    if any(texts):
        yield f"{'#' * min(level, 6)} {escaped(section.title)}"
        yield from filter(None, texts)


def _text(part: Part) -> str:
    """Write anything but a section; empty for a figure."""
    if isinstance(part, str):
        return escaped(part)
    if isinstance(part, list):
        return "\n".join(f"- {escaped(sentence)}" for sentence in part)
    if isinstance(part, dict):
        return "\n".join(f"- **{escaped(name)}**: {escaped(text)}" for name, text in part.items())
    if isinstance(part, Table):
        shown = part.filled()
        rows = (map(escaped, row) for row in shown.rows)
        return f"{escaped(part.caption)}\n\n{table(list(map(escaped, shown.head)), rows)}"
    if isinstance(part, Picture) and part.mermaid:
        return f"```mermaid\n{part.mermaid.strip()}\n```"
    return ""
