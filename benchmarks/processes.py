"""What has to be measured in a process of its own: cold starts, and memory.

`run` starts one and calls a function of this file there; what the function returns comes back as
JSON. Memory is the operating system's count of resident pages, as Linux gives it.
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CACHE = "MEASUREMENT_LAYOUTS_CACHE"
MIB = 2**20


def run(name: str, *, environment: Mapping[str, str] | None = None, **arguments: Any) -> Any:
    """Call a function of this file in a fresh process.

    Parameters
    ----------
    name : str
        Of the function.
    environment : mapping, optional
        Variables to set there.
    **arguments
        Of the function, as JSON can hold them.

    Returns
    -------
    object
        What the function returned. Where that is a dictionary with `uncounted` seconds, it gains
        `wall`: the seconds from the process's start to its end, less those.

    Raises
    ------
    RuntimeError
        When the process fails, with what it wrote.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, __file__, name, json.dumps(arguments), str(answer)]
        start = time.perf_counter()
        done = subprocess.run(
            command, env=os.environ | (environment or {}), capture_output=True, text=True
        )
        wall = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"{name} failed in its own process:\n{done.stderr}")
        found = json.loads(answer.read_text())
    if isinstance(found, dict) and "uncounted" in found:
        found["wall"] = wall - found["uncounted"]
    return found


def caches(folder: str) -> dict[str, str]:
    """Name the variables that put every cache of compiled code into a folder."""
    flags = [os.environ.get("PYTENSOR_FLAGS"), f"base_compiledir={folder}/pytensor"]
    return {
        CACHE: f"{folder}/measurement_layouts",
        "NUMBA_CACHE_DIR": f"{folder}/numba",
        "PYTENSOR_FLAGS": ",".join(filter(None, flags)),
    }


def fit_everybody(watched: list[str], seed: int) -> dict[str, Any]:
    """Fit the 68 Animal-AI agents; summarise some, which does not count."""
    import battery_cases as batteries

    import measurement_layouts as ml

    study = batteries.animal_ai(seed)
    fit = _fit(ml, study.layout, study.evaluation, seed)
    start = time.perf_counter()
    from rivals import moments

    found = {name: moments(fit.layout, fit.posterior.sel(subject=name)) for name in watched}
    return {"moments": found, "uncounted": time.perf_counter() - start}


def loop_over(subjects: list[str], seed: int) -> dict[str, Any]:
    """Sample some Animal-AI agents by `pm.sample`."""
    import battery_cases as batteries
    from rivals import pm_sample

    loop = pm_sample(batteries.animal_ai(seed), subjects, seed)
    return {"seconds": list(loop.seconds.values()), "moments": loop.moments, "uncounted": 0.0}


def fit_copies(count: int, rounds: int, seed: int) -> dict[str, Any]:
    """Fit copies of ten Animal-AI agents into a store, the layout compiled before.

    Returns the median of the rounds' seconds, by how many bytes the memory grew at most, and the
    first ten copies' posterior means.
    """
    import battery_cases as batteries

    import measurement_layouts as ml

    study = batteries.animal_ai(seed)
    evaluation = batteries.copies(study, count)
    _fit(ml, study.layout, evaluation.select(subjects=evaluation.subjects[:1]), seed)
    seconds, growth = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            before, start = forget_peak(), time.perf_counter()
            fit = _fit(ml, study.layout, evaluation, seed, store=Path(folder) / "fits")
            seconds.append(time.perf_counter() - start)
            growth.append(peak() - before)
            first = fit.posterior.sel(subject=evaluation.subjects[:10])
            means = [first[latent.name].mean(("chain", "draw")) for latent in study.layout.latents]
            means = [mean.to_numpy().tolist() for mean in means]
    return {"seconds": statistics.median(seconds), "growth": max(growth), "means": means}


def forecast_demands(path: str, items: int, seed: int) -> dict[str, Any]:
    """Forecast the demands battery from a saved fit: seconds, and bytes of growth at most.

    The growth is also that of chances of success in eight attempts.
    """
    import battery_cases as batteries

    import measurement_layouts as ml

    fit = ml.load(path, layout=batteries.demands_layout())
    battery = batteries.demands(items, seed=seed).evaluation.items
    before, start = forget_peak(), time.perf_counter()
    forecast = fit.forecast(battery)
    seconds = time.perf_counter() - start
    forecast.pass_at(8)
    return {"seconds": seconds, "growth": peak() - before}


def digests(
    seed: int,
    names: list[str] | None = None,
    n_jobs: int = 2,
    joint: bool = False,
    store: str | None = None,
    bytes_of_a_file: int | None = None,
) -> dict[str, str]:
    """Fit some Animal-AI agents, or a small cohort jointly; a hash of each latent's draws.

    `bytes_of_a_file` limits what can be written, as a full disk does.
    """
    import hashlib
    import resource

    import battery_cases as batteries
    import population_rows

    import measurement_layouts as ml

    if joint:
        layout, evaluation = population_rows.two_abilities(), population_rows.simulated(12, 8, seed)
    else:
        layout, evaluation, _ = batteries.animal_ai(seed)
        names = evaluation.subjects[:8] if names is None else names
        evaluation = evaluation.select(subjects=names)
    if bytes_of_a_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, bytes_of_a_file))
    kept = {} if store is None else {"store": Path(store)}
    fit = _fit(ml, layout, evaluation, seed, n_jobs=n_jobs, **kept)
    subjects = [None] if joint else fit.subjects
    return {
        f"{latent.name} {subject}": hashlib.sha256(
            (draws if subject is None else draws.sel(subject=subject)).to_numpy().tobytes()
        ).hexdigest()
        for latent in layout.latents
        for draws in [fit.posterior[latent.name]]
        for subject in subjects
    }


def forget_peak() -> int:
    """Let the count of the largest memory start anew; return the bytes resident now."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """Most bytes resident since `forget_peak`."""
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def _fit(ml: Any, layout: Any, evaluation: Any, seed: int, **more: Any) -> Any:
    from battery_cases import OPTIONS

    return ml.fit(layout, evaluation, seed=seed, reruns=0, progressbar=False, **OPTIONS, **more)


if __name__ == "__main__":
    _name, _arguments, _answer = sys.argv[1:]
    Path(_answer).write_text(json.dumps(globals()[_name](**json.loads(_arguments))))
