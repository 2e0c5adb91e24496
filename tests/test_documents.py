"""The documents say what the code does."""

import ast
import importlib.util
import re
from pathlib import Path

import matplotlib as mpl
import pytest
from helpers import PACKAGE

ROOT = Path(__file__).resolve().parent.parent


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_module_says_what_it_is():
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 50
    silent = [path for path in files if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_the_architecture_is_short_and_names_files_that_are_there():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    assert len(text.encode()) <= 7_000
    rows = re.findall(r"^\| [^|]+\? \| `([\w/]+)` \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) > 15
    for package, files in rows:
        for file in re.findall(r"`([\w/]+\.py|\w+/)`", files):
            assert (PACKAGE / package / file).exists(), f"{package}/{file}"
    prose = re.sub(r"^\| [^|]+\? \|.*$", "", text, flags=re.MULTILINE)
    for file in re.findall(r"`(\w+(?:/\w+)+\.(?:py|sh|md))`", prose):
        assert any((folder / file).exists() for folder in (ROOT, PACKAGE, PACKAGE / "inference")), (
            file
        )


def test_continuous_integration_uses_the_commands_of_the_readme():
    commands = re.findall(r"^bash (scripts/\S+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands == ["scripts/run.sh", "scripts/test.sh"]
    run = (ROOT / ".ci" / "run").read_text()
    assert all(f"\nbash {command}" in run for command in commands)


def test_links_and_pictures_of_the_documents_exist():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/[A-Z]*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            there = target.startswith("https://") or (page.parent / target).exists()
            assert there, f"{page.name}: {target}"


@pytest.mark.parametrize(
    "page", ["README.md", "docs/tutorial.md", "notebooks/01-first-layout.ipynb"]
)
def test_first_layouts_use_the_outcomes_once(page):
    assert "mean_failure" not in (ROOT / page).read_text()


@pytest.mark.slow
def test_the_readmes_example_gives_its_pictures(tmp_path):
    mpl.use("Agg")
    load("readme").main(tmp_path)
    names = {"packages.svg", "layout.png", "profiles.png", "report.png"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert all(path.stat().st_size > 20_000 for path in tmp_path.glob("*.png"))


def test_the_picture_of_the_packages_is_todays(tmp_path):
    load("readme").packages().render(outfile=tmp_path / "packages.svg", cleanup=True)
    now, stored = (
        (folder / "packages.svg").read_text() for folder in (tmp_path, ROOT / "docs/images")
    )
    titles = [re.findall(r"<title>(.+?)</title>", picture) for picture in (now, stored)]
    assert len(titles[0]) > 20
    assert titles[0] == titles[1]


COMMAND = re.compile(r"\b(python benchmarks/\w+\.py|measurement-layouts [a-z]+|pytest tests/)")
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")
RULE = re.compile(r"^\|?(\s*:?-{3,}:?\s*\|?)+$")


def tables_without_command(text):
    """Headings of the sections with a table of decimal numbers that name no command."""
    found = []
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        tables = [
            block
            for block in section.split("\n\n")
            if any("|" in line and RULE.match(line) for line in block.splitlines())
        ]
        if any(map(NUMBER.search, tables)) and not COMMAND.search(section):
            found.append(section.splitlines()[0])
    return found


@pytest.mark.parametrize(
    "page",
    [
        path
        for pages in ("studies.md", "project/speed.md", "studies/*.md")
        for path in sorted((ROOT / "docs").glob(pages))
    ],
    ids=lambda path: path.stem,
)
def test_tables_of_numbers_stand_beside_the_command_that_prints_them(page):
    assert tables_without_command(page.read_text()) == []


def test_every_promise_links_to_tests_that_are_there():
    text = (ROOT / "docs" / "PROMISES.md").read_text()
    assert len(text.encode()) <= 8_000
    rows = [row for row in text.splitlines() if row.startswith("| ") and "---" not in row]
    promises = [row for row in rows if row != "| promise | test |"]
    assert len(promises) > 30
    for promise in promises:
        tests = re.findall(r"\[(test_\w+)\]\(\.\./(tests/[\w/]+\.py)\)", promise)
        assert tests, promise
        for name, file in tests:
            assert f"def {name}(" in (ROOT / file).read_text(), f"{file} has no {name}"
