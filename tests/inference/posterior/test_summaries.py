"""Summaries are those of NumPy and ArviZ element by element, computed once, and kept unharmed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats.base import array_stats
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts.inference.posterior import summaries

SUBJECTS, CHAINS, DRAWS = 7, 3, 101


@pytest.fixture
def fit(rng):
    """Draws of every kind: independent, slow, far apart, tied, alike."""
    draws = rng.uniform(0, 1, (SUBJECTS, CHAINS, DRAWS))
    draws[1] = np.clip(0.5 + 0.02 * np.cumsum(rng.normal(size=(CHAINS, DRAWS)), axis=1), 0, 1)
    draws[2] = 0.05 * draws[2] + [[0.1], [0.1], [0.8]]
    draws[3] = draws[3].round(1)
    draws[4] = 0.5
    draws[5] = draws[5] ** 6
    who = [f"s{number}" for number in range(SUBJECTS)]
    outcomes = pd.DataFrame(rng.integers(0, 2, (SUBJECTS, 5)), who, list("abcde"))
    evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=list("abcde")))
    return small_layouts.crafted(small_layouts.coin(), evaluation, {"p": draws})


@pytest.fixture
def computed(monkeypatch):
    """Say of how many subjects draws are summarised, each time."""
    real, found = summaries.summarise, []

    def counted(draws, prior, prob):
        found.append(len(draws))
        return real(draws, prior, prob)

    monkeypatch.setattr(summaries, "summarise", counted)
    return found


@pytest.mark.parametrize("prob", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("size", [1, 2**19])
def test_they_are_what_others_compute_one_by_one(fit, monkeypatch, prob, size):
    monkeypatch.setattr(summaries, "_BLOCK", size)
    table = fit.profiles(prob=prob).set_index("subject")
    for who in fit.subjects:
        own, row = fit.posterior["p"].sel(subject=who).to_numpy(), table.loc[who]
        ends = np.quantile(own, [(1 - prob) / 2, (1 + prob) / 2])
        assert [row["low"], row["high"]] == pytest.approx(ends, rel=1e-14)
        assert row["mean"] == pytest.approx(own.mean(), rel=1e-14)
        assert row["sd"] == pytest.approx(own.std(ddof=1), rel=1e-13, abs=1e-15)
        for name, ends in (("bulk", {}), ("tail", {"prob": (0.05, 0.95)})):
            (theirs,) = array_stats.ess(own[None], method=name, **ends)
            assert row[f"ess_{name}"] == pytest.approx(theirs, rel=1e-9)
        with np.errstate(invalid="ignore"):  # of chains that do not move
            (theirs,) = array_stats.rhat(own[None])
        assert row["rhat"] == pytest.approx(theirs, rel=1e-9, nan_ok=True)


def test_another_fit_keeps_its_own(fit):
    """The twin: draws that differ are summarised anew."""
    before = fit.profiles()["mean"]
    groups = {name: fit.data[name].to_dataset() for name in fit.data.children}
    moved = groups | {"posterior": groups["posterior"] / 2}
    other = replace(fit, data=xr.DataTree.from_dict(moved))
    assert other.profiles()["mean"].to_numpy() == pytest.approx(before.to_numpy() / 2)
