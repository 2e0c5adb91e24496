"""Fits of every kind that a version writes as golden files, and what is read from them."""

import json
import zipfile

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers.public_interface import interface
from measurement_layouts import scenarios
from measurement_layouts.linking import (
    arrays,
    linking_function,
    logistic,
    mean_failure,
    mixture,
    product,
)

SAMPLING = {"draws": 40, "tune": 200, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}
DAY = (2026, 1, 1, 0, 0, 0)  # of every file in a zip: the same store gives the same bytes


@linking_function(range=(0, 1), same_unit=("ability", "demand"))
def survival(ability, demand, pace=1.0):
    """Own linking function: an exponential survival curve."""
    return arrays.exp(-pace * arrays.maximum(demand - ability, 0.0))


def _hidden():
    seconds = ml.MetaFeature("seconds", low=0, high=10, unit="s")
    return ml.Capability("memory", low=0, high=10, unit="s"), seconds


def plain():
    memory, seconds = _hidden()
    able = ml.Derived("keeps", logistic(memory - seconds))
    return ml.Layout(
        "plain", ml.Success("found", mixture(able, by=ml.Noise("noise"), toward=mean_failure))
    )


def single():
    memory, seconds = _hidden()
    return ml.Layout("single", ml.Success("found", logistic(memory - seconds)))


def labelled():
    labels = ("far", "small")
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    ability = ml.Capability("ability", low=0, high=5, labels=labels)
    return ml.Layout(
        "labelled", ml.Success("done", product(logistic(ability - demand), over="dimension"))
    )


def own():
    memory, seconds = _hidden()
    return ml.Layout("own", ml.Success("found", survival(memory, seconds, pace=0.5)))


def steps():
    memory, seconds = _hidden()
    able = ml.Derived("keeps", logistic(memory - seconds))
    graded = ml.Graded("path", able, grades=("lost", "detour", "direct"), gap=1.5)
    return ml.Layout("steps", graded, ml.Score("credit", able, precision=2.5, places=4))


def unseen():
    measured = ml.MetaFeature("measured", low=-4, high=4)
    yes, no = (ml.MetaFeature(name, low=0, high=20) for name in ("for", "against"))
    hard = ml.Unseen("hard", measured, 1.5, positive=yes, negative=no, noise=ml.Noise("noise"))
    return ml.Layout("unseen", ml.Success("ok", logistic(ml.Slope("slope") * hard)))


def _items(layout):
    """Twelve items for any of these layouts."""
    spread = np.linspace(0.5, 9.5, 12)
    columns = {
        "seconds": spread,
        "demand[far]": spread / 2,
        "demand[small]": spread[::-1] / 2,
        "measured": spread / 2 - 2.5,
        "for": np.resize([0, 3, 6], 12),
        "against": np.resize([6, 3, 0], 12),
    }
    used = [name for name in columns if any(name.split("[")[0] == of for of in layout.nodes)]
    return pd.DataFrame({name: columns[name] for name in used}, map("item-{}".format, range(12)))


def _profiles(layout):
    """Three subjects across the prior: low, middling and high in everything."""
    columns = {}
    for latent in layout.latents:
        for label in latent.labels or (None,):
            high = latent.range.high if np.isfinite(latent.range.high) else 2
            name = latent.name if label is None else f"{latent.name}[{label}]"
            columns[name] = np.array([0.2, 0.5, 0.8]) * high
    return pd.DataFrame(columns, ["Ann", "Bob", "Zoë"])


def evaluation(layout):
    return ml.simulate(layout, _items(layout), _profiles(layout), seed=1, trials=3)


FITS = {
    "plain": (plain, {}),
    "grid": (single, {"method": "grid"}),
    "labelled": (labelled, {}),
    "own-function": (own, {}),
    "steps": (steps, {}),
    "unseen": (unseen, {}),
}
FUNCTIONS = {"own-function": [survival]}


def read(fit):
    """What is read from a fit: profiles, diagnostics, and forecasts of its own items."""
    names = ["mean", "sd", "low", "high", "shrinkage"]
    return {
        "fingerprint": fit.layout.fingerprint,
        "subjects": fit.subjects,
        "statuses": fit.diagnostics()["status"].tolist(),
        "profiles": fit.profiles()[names].to_numpy().tolist(),
        "forecasts": fit.forecast(_items(fit.layout)).data["mean"].to_numpy().tolist(),
    }


def write(folder):
    """Write this version's golden files into a new folder."""
    folder.mkdir(parents=True)
    expected = {}
    for name, (make, options) in FITS.items():
        layout = make()
        fit = ml.fit(layout, evaluation(layout), **SAMPLING | options)
        fit.save(folder / f"{name}.nc")
        expected[name] = read(fit)
    store = folder / "store"
    fit = ml.fit(plain(), evaluation(plain()), **SAMPLING, store=store)
    expected["store"] = read(fit)
    pack(store, folder / "store.zip")
    layouts = {
        f"{study}, {title}": make()
        for study in scenarios.NAMES
        for title, make in scenarios.get(study).layouts.items()
    }
    written = {name: layout.to_dict() for name, layout in layouts.items()}
    (folder / "layouts.json").write_text(_text(written))
    expected["layouts"] = {name: layout.fingerprint for name, layout in layouts.items()}
    (folder / "expected.json").write_text(_text(expected))
    (folder / "interface.json").write_text(_text(interface()))


def scenario_functions():
    """Linking functions that the scenarios' layouts bring with them."""
    found = []
    for study in scenarios.NAMES:
        for make in scenarios.get(study).layouts.values():
            found += [one for one in make().functions if one not in found]
    return found


def pack(folder, path):
    """Put a folder into one zip file, and take it away."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                entry = zipfile.ZipInfo(str(file.relative_to(folder)), DAY)
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
                file.unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir()
    folder.rmdir()


def _text(data):
    return json.dumps(data, indent=None, separators=(",", ":")) + "\n"
