"""The commands ``check`` and ``draw``: a layout before a fit."""

import sys
from pathlib import Path

from ..common.progress import waiting
from ..scenarios import NAMES, get
from . import options


def check(layout: options.Layout, /, *, data: options.Data, seed: options.Seed = 1) -> int:
    """Check a layout against data before sampling: how much the data inform each latent."""
    with waiting("checking the layout", show=True):
        from ..validation.checking.check import check as check_layout
        from ..validation.checking.result import in_words
        from .layout_file import load_layout
        from .printing import say, width_of
        from .tables import read_evaluation

        declared = load_layout(layout)
        result = check_layout(declared, read_evaluation(declared, data), seed=seed)
    say(in_words(result, width_of(sys.stdout)))
    return 1 if result.problems else 0


def draw(layout: str, /, *, out: Path = Path(), overwrite: options.Overwrite = False) -> None:
    """Draw your own layout, or a scenario's layouts, into files.

    Parameters
    ----------
    layout
        Python file, which is executed, and the layout in it (see `fit --help`); or a scenario, such
        as animal-ai-olympics (see `run --help`)
    out
        file ending in .svg, .png, .pdf or .mmd (Mermaid), or folder for SVG files
    """
    from ..common.files import write_text
    from ..linking.errors import LayoutError
    from .layout_file import load_layout, split

    if layout in NAMES:
        layouts = [make() for make in get(layout).every_layout().values()]
        drawings = {out / f"{declared.name}.svg": declared for declared in layouts}
    else:
        file, name = split(layout)
        if file.suffix != ".py":
            known = ", ".join(NAMES)
            raise LayoutError(f"{layout!r} is neither LAYOUT.py:name nor one of {known}")
        path = out / f"{name or file.stem}.svg" if out.is_dir() else out
        drawings = {path: load_layout(layout)}
    options.refuse_existing(drawings, overwrite)
    for path, declared in drawings.items():
        options.make_writable(path.parent)
        if path.suffix == ".mmd":
            write_text(path, f"{declared.to_mermaid()}\n")
        else:
            declared.draw(path)
        print(path)
