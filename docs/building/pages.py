"""Write pages made from code: gallery, scenarios, command, levels, formulas, files, one text."""

import ast
import importlib
import re
import shutil
import textwrap
from pathlib import Path
from types import ModuleType

import examples
import export
import formulas
import pictures

from measurement_layouts.common.markdown import table

DOCS = Path(__file__).resolve().parent.parent


def gallery() -> dict[str, str]:
    """Return the gallery's pages by file name: an index, and a page per picture."""
    index = [
        "# Gallery",
        "",
        "Every plot, grouped by the question that it answers, and every layout of the scenarios.",
        "The page of a picture has the code that draws it.",
        "",
    ]
    pages: dict[str, str] = {}
    for name in examples.THEMES:
        theme = examples.read(name)
        question, _, about = theme.about.partition("?")
        index += [f"## {question}?", "", about.strip(), ""]
        index += _grid(
            {
                cell: (f"pictures/{cell}.png", theme.seen[cell], cell, _summary(cell))
                for cell in theme.cells
            }
        )
        pages |= {f"{cell}.md": _plot_page(theme, cell) for cell in theme.cells}
    index += ["## What do layouts look like?", ""]
    index += ["The layouts of the [scenarios](../reference/scenarios).", ""]
    drawn = {}
    for key, scenario, layout, make in layouts():
        seen = diagram_seen(make())
        drawn[key] = (f"pictures/{key}.svg", seen, f"{scenario.name}: {layout}", scenario.title)
        pages[f"{key}.md"] = _layout_page(key, scenario, layout, seen)
    index += _grid(drawn)
    return {**pages, "index.md": "\n".join([*index, _hidden([name[:-3] for name in pages])])}


def layouts() -> list[tuple[str, object, str, object]]:
    """Return a key for every layout of every scenario, with the two and the layout's maker."""
    from measurement_layouts import scenarios

    return [
        (pictures.layout_picture(scenario.name, name), scenario, name, make)
        for scenario in map(scenarios.get, scenarios.NAMES)
        for name, make in scenario.every_layout().items()
    ]


def diagram_seen(layout: object) -> str:
    """State what one sees on the diagram of a layout: its nodes by kind."""
    kinds: dict[str, list[str]] = {}
    for name, node in layout.nodes.items():  # type: ignore[attr-defined]
        kinds.setdefault(node.kind, []).append(name)
    parts = [f"{kind} {', '.join(names)}" for kind, names in kinds.items()]
    return f"Diagram of the layout {layout.name}: {'; '.join(parts)}."  # type: ignore[attr-defined]


def scenarios_page() -> str:
    """Return the reference of the scenarios."""
    from measurement_layouts import scenarios

    out = ["Scenarios", "=========", "", _SCENARIOS, ""]
    for scenario in map(scenarios.get, scenarios.NAMES):
        room = f"measurement_layouts.scenarios.{scenario.name.replace('-', '_')}"
        module = importlib.import_module(room)
        names = [name for name in public_names(module) if callable(getattr(module, name))]
        out += [scenario.name, "-" * len(scenario.name), ""]
        out += [f"{scenario.title}. *Source:* {scenario.source}.", ""]
        out += [f".. code-block:: text\n\n   $ measurement-layouts run {scenario.name}", ""]
        drawn = [(key, name) for key, other, name, _ in layouts() if other is scenario]
        out += [
            "Layouts: " + ", ".join(f":doc:`{n} </gallery/{key}>`" for key, n in drawn) + ".",
            "",
        ]
        out += [f".. currentmodule:: {room}", "", ".. autosummary::", "   :toctree: generated/", ""]
        out += [f"   {name}" for name in names] + [""]
    return "\n".join(out)


def public_names(module: ModuleType) -> list[str]:
    """Return ``__all__``, or, without one, the names without underscore that a module defines."""
    own = [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", "") == module.__name__
    ]
    return list(getattr(module, "__all__", own))


def command_page() -> str:
    """Return the reference of the command, from its functions."""
    from measurement_layouts.command import application

    app = application()
    text = re.sub(r"^(measurement-layouts .*) -m \w+", r"\1", app.generate_docs(), flags=re.M)
    return f"{text}\n{app.help_epilogue}\n"  # without the module that builds the pages


def levels_page() -> str:
    """Return the properties that separate neighbouring levels of demands, rubric by rubric."""
    from measurement_layouts.annotation import DEMAND_RUBRICS, load_demand_rubric

    out = [
        "# What separates the levels",
        "",
        f"The package has {len(DEMAND_RUBRICS)} rubrics of demands. Each row states a property",
        "that items of the upper level have and items of the lower level do not have. Whether an",
        "item has the property is a question of yes or no.",
        "{py:obj}`~measurement_layouts.annotation.load_demand_rubric` reads the whole rubric,",
        "with descriptions and examples. The rubrics were tested with prepared answers, not with",
        "a real model.",
        "",
    ]
    for name in DEMAND_RUBRICS:
        rubric = load_demand_rubric(name)
        out += [f"## {rubric.name} ({rubric.code})", "", f"`{name}`", ""]
        rows = (
            (f"{row.lower}, {row.upper}", row.property) for row in rubric.boundaries().itertuples()
        )
        out += [table(["levels", "property of the upper level"], rows), ""]
    return "\n".join(out)


def files_page() -> str:
    """Return the list of the package's files, each with the first line of its docstring."""
    out = ["# Files", "", "Every file of the package, with the first line of its docstring.", ""]
    folders: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(formulas.PACKAGE.rglob("*.py")):
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        file = path.relative_to(formulas.PACKAGE)
        folder = formulas.PACKAGE.name if len(file.parts) == 1 else file.parts[0]
        folders.setdefault(folder, []).append((f"`{file.as_posix()}`", about.split("\n")[0]))
    for folder in sorted(folders):
        out += [f"## `{folder}`", "", table(["file", "description"], folders[folder]), ""]
    return "\n".join(out)


def main() -> None:
    """Write all pages, and remove those of earlier builds."""
    shutil.rmtree(DOCS / "reference" / "generated", ignore_errors=True)
    made = gallery()
    (DOCS / "gallery").mkdir(exist_ok=True)
    made |= {
        f"{cell}.py": theme.code(cell) + "\n"
        for theme in map(examples.read, examples.THEMES)
        for cell in theme.cells
    }
    for path in (DOCS / "gallery").glob("*.*"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        _write(DOCS / "gallery" / name, text)
    _write(DOCS / "reference" / "scenarios.rst", scenarios_page())
    _write(DOCS / "reference" / "command.md", command_page())
    _write(DOCS / "reference" / "demand-levels.md", levels_page())
    _write(DOCS / "methods" / "formulas.rst", formulas.page())
    _write(DOCS / "project" / "files.md", files_page())
    pictures.EXTRA.mkdir(exist_ok=True)
    _write(pictures.EXTRA / "llms.txt", export.text())


def _plot_page(theme: examples.Theme, cell: str) -> str:
    about = _summary(cell)
    return "\n".join(
        [
            f"# {cell}",
            "",
            f"{about} See {{py:obj}}`measurement_layouts.plots.{cell}`.",
            "",
            f"```{{image}} pictures/{cell}.png\n:alt: {theme.seen[cell]}\n:align: center\n```",
            "",
            f"{{download}}`Download the code <{cell}.py>`",
            "",
            f"```python\n{theme.code(cell)}\n```",
        ]
    )


def _layout_page(key: str, scenario: object, layout: str, seen: str) -> str:
    name, title = scenario.name, scenario.title  # type: ignore[attr-defined]
    code = f"""
        from measurement_layouts import scenarios

        layout = scenarios.get("{name}").every_layout()["{layout}"]()
        layout.draw("layout.svg")
        """
    return "\n".join(
        [
            f"# {name}: {layout}",
            "",
            f"{title}.",
            "",
            f"```{{image}} pictures/{key}.svg\n:alt: {seen}\n:align: center\n```",
            "",
            f"```python\n{textwrap.dedent(code).strip()}\n```",
        ]
    )


def _summary(plot: str) -> str:
    """Return the first line of a plot's card, without importing it."""
    for path in sorted((formulas.PACKAGE / "plots").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == plot:
                return (ast.get_docstring(node) or "").split("\n")[0]
    raise LookupError(f"plots has no function {plot}")


def _grid(cards: dict[str, tuple[str, str, str, str]]) -> list[str]:
    out = ["::::{grid} 1 1 2 2", ":gutter: 3", ""]
    for page, (picture, seen, title, about) in cards.items():
        out += [
            f":::{{grid-item-card}} {title}",
            f":link: {page}",
            ":link-type: doc",
            f":img-top: {picture}",
            f":img-alt: {seen}",
            ":class-card: gallery",
            "",
            about,
            ":::",
        ]
    return [*out, "::::", ""]


def _hidden(pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```", ""])


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


_SCENARIOS = """Published studies that are ready to run, each with layouts, data, a simulator, and a
comparison of published and obtained figures. ``measurement_layouts.scenarios.get(name)`` returns a
scenario, and ``measurement_layouts.scenarios.reproduce(name)`` the comparison of its figures."""


if __name__ == "__main__":
    main()
