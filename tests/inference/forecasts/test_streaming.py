"""Forecasts stream: within a bound of memory, one subject's draws at a time, the same every way."""

import functools
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from xarray import Variable
from xarray.backends import BackendArray
from xarray.core.indexing import LazilyIndexedArray

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.linking import generalised_mean, logistic, mean_failure, mixture

LABELS = tuple("abcdef")
MIB = 2**20


@pytest.fixture(scope="module")
def layout():
    demand = ml.MetaFeature("demand", low=0, high=5, labels=LABELS)
    ability = ml.Capability("ability", low=0, high=5, labels=LABELS)
    cope = ml.Derived("cope", logistic(ability - demand))
    mean = generalised_mean(cope, power=0, over="dimension")
    return ml.Layout(
        "six", ml.Success("ok", mixture(mean, by=ml.Noise("noise"), toward=mean_failure))
    )


def designed(layout, items, draws, levels=None, subjects=3):
    """Craft a fit, and items of a few levels or of values all different."""
    rng = np.random.default_rng(7)
    values = rng.uniform(0, 5, (items, 6)) if levels is None else rng.choice(levels, (items, 6))
    table = pd.DataFrame(
        values,
        index=[f"item-{number}" for number in range(items)],
        columns=[f"demand[{label}]" for label in LABELS],
    )
    outcomes = pd.DataFrame(np.eye(subjects, 5), columns=table.index[:5]).rename("s{}".format)
    posterior = {
        "ability": rng.uniform(0, 5, (subjects, 2, draws // 2, 6)),
        "noise": rng.uniform(0, 1, (subjects, 2, draws // 2)),
    }
    evaluation = ml.Evaluation.from_wide(outcomes, table.iloc[:5])
    return small_layouts.crafted(layout, evaluation, posterior), table


@pytest.mark.parametrize("levels", [None, (0.0, 1.0, 2.5)])
@pytest.mark.parametrize(("memory", "threads"), [(0.01, 1), (0.2, 3), (3, 2)])
def test_neither_memory_nor_threads_change_a_digit(layout, monkeypatch, levels, memory, threads):
    fit, items = designed(layout, 60, 86, levels)
    everything, draws = fit.forecast(items).data, fit.derive("cope", items).to_numpy()
    monkeypatch.setattr(joblib, "cpu_count", lambda: threads)
    assert fit.forecast(items, memory_mib=memory).data.identical(everything)
    assert (fit.derive("cope", items, memory_mib=memory).to_numpy() == draws).all()


@pytest.mark.parametrize("memory_mib", [0, -1, float("inf"), float("nan"), "256", True, None])
def test_bounds_that_are_none(layout, memory_mib):
    fit, items = designed(layout, 5, 8)
    for call in (fit.forecast, functools.partial(fit.derive, "ok")):
        with pytest.raises(FitError, match=r"memory_mib=.*; give a positive number of MiB"):
            call(items, memory_mib=memory_mib)


def growth(fit, items, memory_mib):
    """Most memory allocated at once during a forecast, and pass@8 of it, in bytes."""
    tracemalloc.start()
    try:
        fit.forecast(items, memory_mib=memory_mib).pass_at(8)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_stays_within_the_bound(layout, monkeypatch):
    """Written out, the draws take 4.6 MiB per array of items, and 27 MiB per array of labels."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    fit, items = designed(layout, 600, 1000)
    fit.forecast(items.iloc[:2]).pass_at(8)  # imports
    assert growth(fit, items, memory_mib=4) < 4 * MIB
    assert growth(fit, items, memory_mib=64) > 4 * MIB  # twin that must fail


class Watched(BackendArray):
    """An array on disk, so to speak, that notes what is read of it."""

    def __init__(self, array, reads):
        self.array, self.shape, self.dtype, self.reads = array, array.shape, array.dtype, reads

    def __getitem__(self, key):
        found = self.array[key.tuple]
        self.reads.append(found.shape)
        return found


@pytest.mark.slow
def test_one_subjects_draws_are_read_at_a_time(layout):
    fit, items = designed(layout, 200, 40, subjects=5)
    wanted, reads = fit.forecast(items).data, []
    for name in ("ability", "noise"):
        known = fit.data["posterior"][name]
        lazy = LazilyIndexedArray(Watched(known.to_numpy(), reads))
        fit.data["posterior"][name] = Variable(known.dims, lazy)
    assert fit.forecast(items, memory_mib=0.1).data.identical(wanted)
    assert set(reads) == {(2, 20, 6), (2, 20)}


# --- means and intervals of rows -----------------------------------------------------------------
