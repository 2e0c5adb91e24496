"""The command ``draw``: diagrams of a layout in a file, or of a scenario's layouts."""

import argparse
from pathlib import Path

from .. import scenarios
from ..common.files import write_text
from ..layouts import Layout
from ..linking import LayoutError
from . import arguments
from .layout_file import is_layout_file, load_layout, short_name

_PICTURES = (".svg", ".png", ".pdf")


def add(commands: arguments.Commands) -> None:
    """Add the command."""
    parser = arguments.add_command(
        commands,
        "draw",
        _draw,
        "Draw your own layout, or a scenario's layouts, into files.",
        example="draw layout.py:layout --out layout.svg",
    )
    parser.add_argument(
        "what",
        metavar="LAYOUT.py:name|SCENARIO",
        help="Python file, which is executed, and the layout in it (see `fit --help`); or one of "
        f"the scenarios {', '.join(scenarios.NAMES)}",
    )
    arguments.takes_path(
        parser,
        "--out",
        "PATH",
        "file ending in .svg, .png, .pdf or .mmd (Mermaid), or folder for "
        "SVG files (default: the current folder)",
        default=Path(),
    )
    arguments.takes_overwrite(parser)


def _draw(chosen: argparse.Namespace) -> int:
    drawings = _drawings(chosen.what, chosen.out)
    for path in drawings:
        if path.suffix not in (".mmd", *_PICTURES):
            raise LayoutError(
                f"cannot draw into {str(path)!r}; end it in {', '.join(_PICTURES)} or .mmd"
            )
    arguments.refuse_existing(drawings, chosen.overwrite)
    for path, layout in drawings.items():
        arguments.make_writable(path.parent)
        if path.suffix == ".mmd":
            write_text(path, f"{layout.to_mermaid()}\n")
        else:
            layout.draw(path)
        print(path)
    return 0


def _drawings(what: str, out: Path) -> dict[Path, Layout]:
    """Find the file of each layout."""
    if what in scenarios.NAMES:
        layouts = [make() for make in scenarios.get(what).every_layout().values()]
        return {out / f"{layout.name}.svg": layout for layout in layouts}
    if not is_layout_file(what):
        raise LayoutError(
            f"{what!r} is neither a file (LAYOUT.py:name) nor a scenario; the scenarios are "
            f"{', '.join(scenarios.NAMES)}"
        )
    layout = load_layout(what)
    return {out / f"{short_name(what)}.svg" if out.is_dir() else out: layout}
