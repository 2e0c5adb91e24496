"""Assessors whose forecasts are kept on disk."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import xarray as xr

import measurement_layouts as ml
from measurement_layouts.inference.forecasts.elsewhere import Trust
from measurement_layouts.validation import ChosenLayout, FittedLayout
from measurement_layouts.validation.prediction.assessor import (
    Assessor,
    point_forecast,
    predicted,
)

TOLD = ("low", "high")
FITS = 8


def kept(folder: Path | None, parts: Sequence[Any], make: Callable[[], Any]) -> Any:
    """Read what was made of the same parts before, or make it and keep it."""
    if folder is None:
        return make()
    path = folder / f"{joblib.hash(parts)}.joblib"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        own = path.with_suffix(f".{os.getpid()}")
        joblib.dump(make(), own)
        own.replace(path)
    return joblib.load(path)


def content(training: ml.Evaluation) -> tuple[Any, ...]:
    """What training outcomes are told apart by."""
    counts = training.successes.to_numpy(), training.trials.to_numpy()
    return training.subjects, list(training.items.index), *counts


@dataclass(frozen=True)
class Remembered(FittedLayout):
    """A layout whose last fits are kept in memory, for forecasts that differ in trust only.

    Parameters
    ----------
    fits : dict of str to Fit
        The fits by their training outcomes, which several assessors may share.
    """

    fits: dict[str, ml.Fit] = field(default_factory=dict, compare=False, repr=False)

    def fit(self, training: ml.Evaluation, *, seed: int) -> ml.Fit:
        """Fit the layout, or return the fit of the same outcomes."""
        key = joblib.hash((self.layout.name, *content(training), seed))
        if key not in self.fits:
            while len(self.fits) >= FITS:
                del self.fits[next(iter(self.fits))]
            self.fits[key] = super().fit(training, seed=seed)
        return self.fits[key]


@dataclass(frozen=True)
class RememberedChoice(ChosenLayout):
    """The best of several layouts, chosen once for the same outcomes; its fits are remembered.

    Parameters
    ----------
    trust, fits
        As in `Remembered`.
    best_of : dict of str to str
        The best layouts by their training outcomes, which several assessors may share.
    """

    trust: Trust = None
    fits: dict[str, ml.Fit] = field(default_factory=dict, compare=False, repr=False)
    best_of: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def best(self, training: ml.Evaluation, *, seed: int) -> Remembered:
        """Compare the layouts, or return the best one of the same outcomes."""
        key = joblib.hash((*content(training), seed))
        if key not in self.best_of:
            self.best_of[key] = str(self.compare(training, seed=seed).index[0])
            print(f"chosen on {training.trials.to_numpy().sum():,.0f} trials: {self.best_of[key]}")
        own = {"draws": self.draws, "tune": self.tune, "chains": self.chains}
        layout = self.layouts[self.best_of[key]]
        return Remembered(layout, trust=self.trust, fits=self.fits, **own)


@dataclass(frozen=True)
class Kept:
    """An assessor whose forecasts are kept.

    Parameters
    ----------
    name : str
        Of case and method: what is kept is told apart by it, the training outcomes and the seed.
        Another form of the method needs another name or folder.
    method : Assessor
        What forecasts.
    folder : Path, optional
        Where forecasts are kept; nowhere by default.
    """

    name: str
    method: Assessor
    folder: Path | None = None

    def predict(self, training: ml.Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does."""
        return self.forecast(training, items, seed=seed).data["mean"]

    def forecast(self, training: ml.Evaluation, items: Sequence[str], *, seed: int) -> ml.Forecast:
        """Forecast success, with the ends of intervals where the method tells them."""
        parts = (self.name, *content(training), seed)

        def made() -> list[np.ndarray]:
            means, told, _ = predicted(self.name, self.method, training, items, seed)
            if told is None:
                return [means.to_numpy()]
            own = told.data.reindex(subject=training.subjects, item=list(items))
            ends = [own[name].transpose("subject", "item").to_numpy() for name in TOLD]
            return [means.to_numpy(), *ends]

        means, *ends = kept(self.folder, (*parts, list(items)), made)
        return point_forecast(means, training.subjects, list(items), ends)
