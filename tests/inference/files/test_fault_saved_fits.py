"""Saved fits that are cut short anywhere: refused with one message, and never a wrong fit."""

import re
import shutil
import subprocess
import sys

import pytest
import xarray as xr
from helpers.fault_cases import OPTIONS, cohort, exactly, layout

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.files import trees

CUT = """
import sys, warnings
from pathlib import Path
from measurement_layouts import FitError, load

warnings.simplefilter("error")
content, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
size = len(content)
lengths = {*range(0, size, size // 300), *range(600), *range(size - 600, size)}
refused, said = 0, set()
for length in sorted(lengths):
    path.write_bytes(content[:length])
    try:
        load(path)
    except FitError as error:
        refused += 1
        said.add(str(error))
print(refused, len(lengths))
for message in said:
    print(message)
"""


@pytest.fixture(scope="module")
def fit():
    return ml.fit(layout, cohort(3), **OPTIONS | {"draws": 20})


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("stores") / "store"
    return ml.fit(layout, cohort(3), store=place, **OPTIONS | {"draws": 20}), place


@pytest.mark.slow
def test_a_fit_cut_short(fit, tmp_path):
    """In a process of its own: a crash of the library that reads would end this one."""
    path = tmp_path / "cut.nc"
    command = [sys.executable, "-c", CUT, str(fit.save(tmp_path / "fit.nc")), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    counts, *said = done.stdout.splitlines()
    refused, tried = map(int, counts.split())
    assert refused == tried > 1200
    message = re.compile(
        rf"{re.escape(str(path))} cannot be read \(\w+: .+\); it is damaged or not a saved fit: "
        "restore a copy, or fit again"
    )
    assert all(message.fullmatch(line) for line in said), said


@pytest.mark.parametrize("number", [0, 7])
def test_a_store_of_another_version(store, tmp_path, number):
    copy = shutil.copytree(store[1], tmp_path / "copy")
    with xr.open_datatree(copy / "head.nc") as tree:
        head = tree.load()
    head.attrs |= {"format": number, "measurement_layouts": "9.9"}
    trees.write_tree(copy / "head.nc", head, list(head.children))
    message = (
        f"{copy / 'head.nc'} has format {number}, and this version of measurement-layouts reads "
        "format 4; read it with version 9.9, or fit again into another store"
    )
    with exactly(FitError, message):
        ml.load(copy)
    with exactly(FitError, message):
        ml.fit(layout, cohort(3), store=copy, **OPTIONS | {"draws": 20})
