"""The documents say what the code does."""

import importlib.util
import re
import tomllib
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).resolve().parent.parent


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_lists_every_module():
    assert load("map").page() == (ROOT / "ARCHITECTURE.md").read_text()


def test_every_module_says_what_it_is():
    rows = re.findall(r"^\| `(.+?\.py)` \| (.*) \|$", load("map").module_map(), re.MULTILINE)
    assert len(rows) > 50
    assert [path for path, about in rows if not about] == []


def test_continuous_integration_uses_the_commands_of_the_readme():
    commands = re.findall(r"^bash (scripts/\S+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands == ["scripts/run.sh", "scripts/test.sh"]
    run = (ROOT / ".ci" / "run").read_text()
    assert all(f"\nbash {command}" in run for command in commands)


def test_links_and_pictures_of_the_documents_exist():
    for page in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert target.startswith("https://") or (ROOT / target).exists(), (
                f"{page.name}: {target}"
            )


@pytest.mark.parametrize(
    "page", ["README.md", "docs/tutorial.md", "notebooks/01-first-layout.ipynb"]
)
def test_first_layouts_use_the_outcomes_once(page):
    assert "mean_failure" not in (ROOT / page).read_text()


@pytest.mark.slow
def test_the_readmes_example_gives_its_pictures(tmp_path):
    mpl.use("Agg")
    load("readme").main(tmp_path)
    pictures = {
        "layout",
        "capabilities",
        "criticism",
        "propensities",
        "general-scales",
        "dispositions",
    }
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.png" for name in pictures}
    assert all(path.stat().st_size > 20_000 for path in tmp_path.iterdir())


def test_every_folder_of_code_is_packaged():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = [
        inside.parent.relative_to(ROOT).parts
        for package in ROOT.glob("*/__init__.py")
        for inside in package.parent.rglob("__init__.py")
    ]
    door = "measurement_layouts"
    expected = {".".join(parts if parts[0] == door else (door, *parts)) for parts in folders}
    assert set(settings["packages"]) == expected
