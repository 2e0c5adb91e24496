"""Forecasts of many items: seconds and memory, beside PyMC's posterior predictive."""

import tempfile
import time
from pathlib import Path

import battery_cases as batteries
import numpy as np
import processes
import pymc as pm
import xarray as xr
from battery_cases import Study
from lines import Line, at_most, times_faster, values_agree
from processes import MIB

import measurement_layouts as ml

CHAINS, DRAWS = 4, 1000
TRAINING = 200  # items that the profiles come from
MOST = 1536.0  # MiB


def forecasts(quick: bool, seed: int) -> list[Line]:
    """Fifteen subjects, 16,108 items of 18 demands, 4,000 draws.

    The profiles come from a fit to some of the items. PyMC forecasts for one subject, from a tenth
    of the draws and from a hundredth: so the seconds that do not depend on the draws, its
    compilation among them, are told apart from those that do, and only these are scaled.
    """
    study = batteries.demands(*(1_000, 3) if quick else (16_108, 15), seed=seed)
    items, subjects = study.evaluation.items, study.evaluation.subjects
    ours = foreseen(study, seed)
    one = subjects[len(subjects) // 2]
    tenth, hundredth = (_fit(study, DRAWS // part, seed, [one]) for part in (10, 100))
    _predict(study, hundredth, seed)
    short, _ = _predict(study, hundredth, seed)
    longer, predicted = _predict(study, tenth, seed)
    each = (longer - short) / (CHAINS * (DRAWS // 10 - DRAWS // 100))
    theirs = len(subjects) * (short + each * CHAINS * (DRAWS - DRAWS // 100))
    forecast = tenth.forecast(items).data
    mine = np.stack([forecast[name].to_numpy()[0] for name in ("mean", "low", "high")])
    case = f"forecasts, {len(subjects)} subjects x {len(items):,} items x {CHAINS * DRAWS:,} draws"
    return [
        times_faster(
            case,
            "`pm.sample_posterior_predictive`",
            ours=ours["seconds"],
            theirs=theirs,
            least=10,
            answers=values_agree("means and ends of intervals", mine, predicted),
        ),
        at_most(case, "growth of memory", ours["growth"] / MIB, MOST, "MiB"),
    ]


def foreseen(study: Study, seed: int) -> dict[str, float]:
    """Forecast all items in a process of its own: seconds, and bytes of growth."""
    items = len(study.evaluation.items)
    with tempfile.TemporaryDirectory() as folder:
        path = _fit(study, DRAWS, seed).save(Path(folder) / "fit.nc")
        found = processes.run("forecast_demands", path=str(path), items=items, seed=seed)
    return dict(found)


def _fit(study: Study, draws: int, seed: int, subjects: list[str] | None = None) -> ml.Fit:
    some = study.evaluation.select(items=study.evaluation.items.index[:TRAINING])
    return ml.fit(
        study.layout,
        some,
        subjects=subjects,
        draws=draws,
        tune=300,
        chains=CHAINS,
        seed=seed,
        progressbar=False,
    )


def _predict(study: Study, fit: ml.Fit, seed: int) -> tuple[float, np.ndarray]:
    """Forecast by PyMC for one subject: seconds; mean and ends of the 90 % interval by item."""
    (subject,) = fit.subjects
    posterior = fit.posterior.sel(subject=subject, drop=True)
    start = time.perf_counter()
    with ml.to_pymc(study.layout, study.evaluation, subject) as model:
        outcome = model[study.layout.outcome.name]
        _, chance = outcome.owner.op.dist_params(outcome.owner)
        pm.Deterministic("chance", chance, dims="item")
        drawn = pm.sample_posterior_predictive(
            xr.DataTree.from_dict({"posterior": posterior}),
            var_names=["chance"],
            random_seed=seed,
            progressbar=False,
        )
    cells = drawn["posterior_predictive"]["chance"].to_numpy()
    cells = cells.reshape(-1, cells.shape[-1])
    found = np.stack([cells.mean(axis=0), *np.quantile(cells, [0.05, 0.95], axis=0)])
    return time.perf_counter() - start, found
