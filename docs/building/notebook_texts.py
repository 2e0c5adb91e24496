"""Notebooks as the site shows them: each picture has a text that states what one sees.

Figures have it in the metadata of their cell; diagrams of layouts get it from their nodes.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

_TITLE = re.compile(r"<!-- Title: (.*?) Pages: 1 -->")
_NODE = re.compile(r'class="node">\s*<title>([^/<]+)</title>')  # joints and the legend have a slash


def described(notebook: Path) -> str:
    """Return a notebook with the texts of its diagrams."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        drawn = [
            "".join(output["data"]["image/svg+xml"])
            for output in cell.get("outputs", [])
            if "image/svg+xml" in output.get("data", {})
        ]
        if drawn and not seen(cell):
            cell["metadata"]["mystnb"] = {"image": {"alt": _diagram_seen(drawn[0])}}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def seen(cell: dict[str, Any]) -> str:
    """Return what one sees on the pictures of a cell, empty where that is not stated."""
    text: str = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
    return text


def _diagram_seen(svg: str) -> str:
    """State which nodes a diagram has."""
    title, nodes = _TITLE.search(svg), map(html.unescape, _NODE.findall(svg))
    name = html.unescape(title[1]) if title is not None else "unnamed"
    return f"Diagram of the layout {name} with the nodes {', '.join(nodes)}"
