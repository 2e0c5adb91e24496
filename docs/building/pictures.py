"""Make the pictures: run the gallery's examples and the pages' code, draw every scenario's layouts.

A picture is made again when the package or its example has changed.
"""

import contextlib
import doctest
import hashlib
import io
import os
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import examples

DOCS = Path(__file__).resolve().parent.parent
PICTURES = DOCS / "gallery" / "pictures"
EXTRA = DOCS / "_extra"  # what is published beside the pages
OF_PAGE = re.compile(r"gallery/pictures/(page-[\w-]+\.png)")
OF_PAGE_OR_CODE = re.compile(r"```pycon\n(.*?)```|" + OF_PAGE.pattern, re.DOTALL)
PACKAGE = DOCS.parent / "measurement_layouts"


def code_digest() -> str:
    """Return a hash of the package's files."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
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


def page_pictures() -> dict[str, Path]:
    """Return the pages that show a figure of their own code, by name."""
    pages = (path for folder in (".", "how-to") for path in sorted(DOCS.glob(f"{folder}/*.md")))
    return {path.stem: path for path in pages if OF_PAGE.search(path.read_text(encoding="utf-8"))}


def draw_page(name: str) -> None:
    """Make the figures of a page."""
    run_page(name)


def run_page(name: str) -> dict[str, object]:
    """Run a page's code, and return its names.

    Where the page shows a figure of its own, what ``axes`` is there is saved.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    text = page_pictures()[name].read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": name}
    for code, picture in OF_PAGE_OR_CODE.findall(text):
        if picture:
            figure = np.ravel(names["axes"])[0].figure
            figure.savefig(PICTURES / picture, dpi=110, bbox_inches="tight", facecolor="white")
            plt.close("all")
        for example in doctest.DocTestParser().get_examples(code):
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(example.source, f"{name}.md", "single"), names)
            except Exception:
                if example.exc_msg is None:
                    raise
    return names


def draw_tutorial(name: str) -> None:
    """Draw the figures of the tutorial, and publish its report as the sample."""
    import measurement_layouts as ml

    names = run_page(name)
    EXTRA.mkdir(exist_ok=True)
    ml.report(
        names["fit"],
        EXTRA / "sample-report.html",
        evaluation=names["evaluation"],
        forecast=names["forecast"],
        title="A sample report: mental addition",
        overwrite=True,
    )


def draw_layouts(_: str) -> None:
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
    pages = page_pictures()
    for name in (*examples.THEMES, examples.LINKING, "layouts", *pages):
        path = pages.get(name, examples.FOLDER / f"{name}.py")
        example = path.read_text(encoding="utf-8") if path.exists() else ""
        digest = hashlib.sha256((package + example).encode()).hexdigest()
        stamp = PICTURES / f".{name}"
        if not stamp.exists() or stamp.read_text() != digest:
            stale[name] = digest
    makers = {"layouts": draw_layouts, **dict.fromkeys(pages, draw_page), "tutorial": draw_tutorial}
    hands = min(len(stale), os.cpu_count() or 1) or 1
    with ProcessPoolExecutor(hands, mp_context=get_context("spawn")) as pool:
        jobs = {name: pool.submit(makers.get(name, draw_theme), name) for name in stale}
        for name, job in jobs.items():
            job.result()
            (PICTURES / f".{name}").write_text(stale[name])


if __name__ == "__main__":
    main()
