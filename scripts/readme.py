"""Run the README's example and write its two pictures."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def example() -> str:
    """Return the first Python block of the README."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    if found is None:
        raise LookupError("README.md has no Python block")
    return found.group(1)


def main(images: Path = ROOT / "images") -> None:
    """Execute the example; draw its layout and its figure."""
    names: dict[str, object] = {}
    exec(example(), names)
    names["layout"].draw(images / "layout.png")  # type: ignore[attr-defined]
    names["axes"].figure.savefig(images / "capabilities.png", dpi=130)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
