"""Make the pictures of the gallery: run the examples, draw every scenario's layouts.

A picture is made again when the package or its example has changed.
"""

import hashlib
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import examples

DOCS = Path(__file__).resolve().parent.parent
PICTURES = DOCS / "gallery" / "pictures"
PACKAGES = sorted(path.parent for path in DOCS.parent.glob("*/__init__.py"))


def code_digest() -> str:
    """Return a hash of the package's files."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def draw_theme(name: str) -> None:
    """Run one theme's cells, each on a copy of what its set-up made."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    theme = examples.read(name)
    made: dict[str, object] = {"__name__": name}
    exec(compile(theme.setup, f"{name}.py", "exec"), made)
    for cell, code in theme.cells.items():
        names = dict(made)
        exec(compile(code, f"{name}.py, {cell}", "exec"), names)
        figure = np.ravel(names["axes"])[0].figure
        figure.savefig(PICTURES / f"{cell}.png", dpi=110, bbox_inches="tight", facecolor="white")
        plt.close("all")


def draw_layouts() -> None:
    """Draw every layout of every scenario."""
    from measurement_layouts import scenarios

    for scenario in map(scenarios.get, scenarios.NAMES):
        for name, layout in scenario.every_layout().items():
            layout().draw(PICTURES / f"{layout_picture(scenario.name, name)}.svg")


def layout_picture(scenario: str, layout: str) -> str:
    """Return the name of a layout's picture."""
    plain = "".join(letter if letter.isalnum() else " " for letter in layout)
    return "-".join([scenario, *plain.split()])


def main() -> None:
    """Make what is missing or out of date."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    package = code_digest()
    stale: dict[str, str] = {}
    for name in (*examples.THEMES, examples.LINKING, "layouts"):
        path = examples.FOLDER / f"{name}.py"
        example = path.read_text(encoding="utf-8") if path.exists() else ""
        digest = hashlib.sha256((package + example).encode()).hexdigest()
        stamp = PICTURES / f".{name}"
        if not stamp.exists() or stamp.read_text() != digest:
            stale[name] = digest
    hands = min(len(stale), os.cpu_count() or 1) or 1
    with ProcessPoolExecutor(hands, mp_context=get_context("spawn")) as pool:
        jobs = {
            name: pool.submit(draw_layouts) if name == "layouts" else pool.submit(draw_theme, name)
            for name in stale
        }
        for name, job in jobs.items():
            job.result()
            (PICTURES / f".{name}").write_text(stale[name])


if __name__ == "__main__":
    main()
