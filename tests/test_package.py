"""What is built to be installed: complete, described and small."""

import os
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
BUILT = "import setuptools.build_meta as build; build.build_{}({!r})"
LINKS = ("inference", "layouts", "linking", "scenarios")
from_git = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an archive has no links")


@from_git
@pytest.mark.parametrize("name", LINKS)
def test_the_links_of_the_root_lead_into_the_package(name):
    assert (ROOT / name).readlink() == Path("measurement_layouts", name)
    assert (ROOT / name / "__init__.py").is_file()


def test_the_citation_has_the_version_and_the_licence():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {SETTINGS['project']['version']}" in lines
    assert f"license: {SETTINGS['project']['license']}" in lines


def test_every_dependency_is_pinned_at_a_version_that_the_project_allows():
    lines = (ROOT / "constraints.txt").read_text().splitlines()[1:]
    pins = {canonicalize_name(pin.name): pin for pin in map(Requirement, lines)}
    extras = SETTINGS["project"]["optional-dependencies"]
    for text in SETTINGS["project"]["dependencies"] + extras["test"] + extras["docs"]:
        needed = Requirement(text)
        (pinned,) = pins[canonicalize_name(needed.name)].specifier
        assert pinned.operator == "==", text
        assert pinned.version in needed.specifier, text


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of what is committed."""
    tree = tmp_path_factory.mktemp("clone") / "tree"
    subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True, capture_output=True)
    return tree


def build(kind, tree, out):
    """The file that setuptools builds."""
    command = [sys.executable, "-c", BUILT.format(kind, str(out))]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (made,) = out.iterdir()
    return made


def committed(tree, *folders):
    """Paths of all files that git keeps, the links left out."""
    command = ["git", "ls-files", "-z", *folders]
    paths = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    return sorted({*paths.split("\0")} - {"", *LINKS})


@pytest.fixture(scope="module")
def wheel(clone, tmp_path_factory):
    return build("wheel", clone, tmp_path_factory.mktemp("wheel"))


@from_git
@pytest.mark.slow
def test_a_wheel_has_every_file_of_the_package_once(wheel, clone):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert sorted(names) == committed(clone, "measurement_layouts")


@from_git
@pytest.mark.slow
def test_an_sdist_has_every_file_once(clone, tmp_path):
    with tarfile.open(build("sdist", clone, tmp_path)) as archive:
        names = [item.name.partition("/")[2] for item in archive if not item.isdir()]
    made = {name for name in names if name.startswith("measurement_layouts.egg-info/")}
    assert len(set(names)) == len(names)
    assert sorted({*names} - made - {"PKG-INFO", "setup.cfg"}) == committed(clone)


@from_git
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


@from_git
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
main(["run", "--help"])
"""
    command = [sys.executable, "-c", code, str(tmp_path / "site")]
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "animal-ai-olympics" in done.stdout


def test_an_old_python_is_named(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    with pytest.raises(SystemExit, match=r"needs Python 3\.12 or newer"):
        runpy.run_path(str(ROOT / "setup.py"))
