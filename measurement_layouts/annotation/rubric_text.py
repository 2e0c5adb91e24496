"""Reader of rubrics of demands in plain text: a title, a definition, a part for each level."""

import re
from pathlib import Path
from typing import Any

from ..common.errors import AnnotationError

_LEVEL = re.compile(
    r"^[\s#>*_-]*level\s+(\d+)\s*\+?[*_]*(?:\s*[:.)]|\s[–—-]\s|\s*\([^)]*\)[*_]*\s*:?|\s*$)", re.I
)
_NAMED = re.compile(r"^(?:none|(?:very )?(?:low|high)|intermediate)\s*(?:[.:;][*_]*\s*|$)", re.I)
_EXAMPLES = re.compile(r"^[\s#>*_-]*examples?[*_\s]*(?::[*_]*\s*(.*)|$)", re.I)
_BOUNDARY = re.compile(r"^[\s#>*_-]*(?:boundary|beyond level \d+)[*_]*\s*:[*_]*\s*(.*)$", re.I)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+(.*)$")
_CODE = re.compile(r"^(.*\S)\s*[(\[](\w+)[)\]]$")
_TITLE = 80  # largest number of characters of a first line that is a title


def read_rubric_text(path: Path) -> dict[str, Any]:
    """Read a rubric from a text file, into the fields that a TOML file has.

    Raises
    ------
    AnnotationError
        When the file is not text in UTF-8, has no level, or has a level twice.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise AnnotationError(f"{path} is not text in UTF-8: {error}") from error
    head: list[str] = []
    levels: dict[str, list[str]] = {}
    part = head
    for line in lines:
        begins = _LEVEL.match(line)
        if begins:
            if begins[1] in levels:
                raise AnnotationError(f"{path}: level {begins[1]} occurs twice; give it once")
            part = levels[begins[1]] = [line[begins.end() :]]
        else:
            part.append(line)
    if not levels:
        raise AnnotationError(
            f"{path}: no line begins a level; write 'Level 0:' and its description, then the next"
        )
    return {
        **_head(head, path.stem),
        "levels": {key: _level(lines) for key, lines in levels.items()},
    }


def _head(lines: list[str], stem: str) -> dict[str, str]:
    """Read the title, the code in brackets, and the definition; the file's name is the default."""
    said = [line.strip() for line in lines]
    first = next((place for place, line in enumerate(said) if line), len(said))
    line = said[first] if first < len(said) else ""
    title = line.strip("#*_ :") if line.startswith("#") or _is_title(line) else ""
    code = _CODE.match(title)
    return {
        "name": (code[1] if code else title).strip("*_ ") or stem,
        "code": code[2] if code else stem,
        "definition": _joined(said[first + 1 :] if title else said),
    }


def _is_title(line: str) -> bool:
    return 0 < len(line) <= _TITLE and line[-1] not in ".!?"


def _level(lines: list[str]) -> dict[str, Any]:
    """Read a level's description, boundary and examples."""
    marked = any(_EXAMPLES.match(line) for line in lines)
    description: list[str] = []
    boundary: list[str] = []
    examples: list[list[str]] = []
    part, inside = description, not marked
    for line in lines:
        begins, edge, bullet = _EXAMPLES.match(line), _BOUNDARY.match(line), _BULLET.match(line)
        if edge:
            part = boundary
            part.append(edge[1])
        elif begins:
            inside = True
            examples.append([begins[1] or ""])
            part = examples[-1]
        elif bullet and inside:
            examples.append([bullet[1]])
            part = examples[-1]
        else:
            part.append(line)
    texts = [text for text in map(_joined, examples) if text]
    found: dict[str, Any] = {"description": _NAMED.sub("", _joined(description))}
    found |= {"boundary": _joined(boundary)} if boundary else {}
    return found | ({"examples": texts} if texts else {})


def _joined(lines: list[str]) -> str:
    """Join lines; empty lines still separate paragraphs."""
    return "\n".join(line.rstrip() for line in lines).strip("*_ \n")
