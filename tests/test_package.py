"""What is built to be installed: complete, described and small."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGED = SETTINGS["tool"]["setuptools"]
BUILT = "import setuptools.build_meta as build; build.build_wheel({!r})"


def folder_of(package):
    """The folder of a package's files."""
    places = PACKAGED["package-dir"]
    top = max((name for name in places if f"{package}.".startswith(f"{name}.")), key=len)
    return ROOT.joinpath(places[top], *package.removeprefix(top).split(".")[1:])


def left_out(data):
    """Files of the packages that neither are code nor are named as their data."""
    taken = {
        path
        for package, patterns in data.items()
        for place in (PACKAGED["packages"] if package == "*" else [package])
        for pattern in patterns
        for path in folder_of(place).glob(pattern)
    }
    return sorted(
        str(path.relative_to(ROOT))
        for root in {folder_of(package) for package in PACKAGED["packages"]}
        for path in root.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and path not in taken
    )


def test_every_file_of_the_packages_is_installed():
    assert left_out(PACKAGED["package-data"]) == []
    fewer = {**PACKAGED["package-data"], "measurement_layouts.evaluations": []}
    assert left_out(fewer) == ["evaluations/mental-addition.csv"]


def test_the_citation_has_the_version_and_the_licence():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {SETTINGS['project']['version']}" in lines
    assert f"license: {SETTINGS['project']['license']}" in lines


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    for root in {folder_of(package).relative_to(ROOT).parts[0] for package in PACKAGED["packages"]}:
        shutil.copytree(ROOT / root, tree / root, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-c", BUILT.format(str(out))]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (made,) = out.glob("*.whl")
    return made


@pytest.mark.slow
def test_the_wheel_is_code_and_described(wheel):
    """Code alone: no data, pictures or notebooks, which would make it larger at once."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.compress_size for entry in archive.infolist()}
        assert max(sizes.values()) <= 40e3
        assert not [name for name in sizes if name.endswith((".png", ".ipynb", ".nc"))]
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        described = Parser().parsestr(archive.read(name).decode())
    assert described["License-Expression"] == "Apache-2.0"
    assert described["Description-Content-Type"] == "text/markdown"
    assert len(described["Keywords"].split(",")) >= 5
    assert len(described.get_all("Classifier")) >= 10


@pytest.mark.slow
def test_the_wheel_works_away_from_the_repository(wheel, tmp_path):
    """Python finds the library only where it is unpacked: sample and command are there."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = """
import sys
sys.path.insert(0, sys.argv[1])
sys.meta_path = [each for each in sys.meta_path if "editable" not in repr(each).lower()]
import measurement_layouts as ml
assert ml.__file__.startswith(sys.argv[1]), ml.__file__
assert len(ml.evaluations.mental_addition().subjects) == 3
from measurement_layouts.command import main
main(["scenarios"])
"""
    command = [sys.executable, "-c", code, str(tmp_path / "site")]
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "animal-ai-olympics" in done.stdout
