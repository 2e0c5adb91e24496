"""Profiles and a report of thousands of subjects, made without sampling them all."""

import tempfile
import time
from pathlib import Path

import battery_cases as batteries
import numpy as np
import xarray as xr
from processes import MIB

import measurement_layouts as ml

SUBJECTS = 3_000
SAMPLED = 30
"""Subjects whose draws are repeated; as many have a section of the report of their own."""


def many(count: int, seed: int) -> ml.Fit:
    """Fit a few Animal-AI agents, and repeat their draws under names of their own."""
    study = batteries.animal_ai(seed)
    evaluation = study.evaluation.select(subjects=study.evaluation.subjects[:SAMPLED])
    fit = ml.fit(study.layout, evaluation, seed=seed, reruns=0, progressbar=False)
    places, groups = np.resize(np.arange(SAMPLED), count), {}
    for name, group in fit.data.children.items():
        data = group.to_dataset()
        if "subject" in data.dims:
            names = [f"copy-{number:05d}" for number in range(count)]
            data = data.isel(subject=places).assign_coords(subject=names)
        groups[name] = data
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = fit.data.attrs
    return ml.Fit(fit.layout, tree, {})


def report_and_profiles(seed: int) -> list[float]:
    """Write the page, and profiles with diagnostics: seconds, MiB of the page, and seconds."""
    fit = many(SUBJECTS, seed)
    start = time.perf_counter()
    fit.profiles()
    fit.diagnostics()
    profiles = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        page = ml.report(fit, Path(folder) / "report.html", detailed=fit.subjects[:SAMPLED])
        return [time.perf_counter() - start, page.stat().st_size / MIB, profiles]
