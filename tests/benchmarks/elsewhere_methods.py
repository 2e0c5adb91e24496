"""Layouts as assessors whose forecasts are kept on disk, and the choice among several."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import xarray as xr

import measurement_layouts as ml
from measurement_layouts.validation import ChosenLayout, FittedLayout
from measurement_layouts.validation.prediction.assessor import point_forecast


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


@dataclass(frozen=True)
class Kept:
    """A layout, or one chosen among several on the training outcomes, as an assessor.

    Parameters
    ----------
    name : str
        Of case and method: what is kept is told apart by it, the training outcomes and the seed.
        Another form of the layout needs another name or folder.
    method : FittedLayout or ChosenLayout
        What to fit.
    folder : Path, optional
        Where forecasts are kept; nowhere by default.
    """

    name: str
    method: FittedLayout | ChosenLayout
    folder: Path | None = None

    def predict(self, training: ml.Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does."""
        return self.forecast(training, items, seed=seed).data["mean"]

    def forecast(
        self, training: ml.Evaluation, items: Sequence[str], *, seed: int
    ) -> ml.Forecast:
        """Forecast success, with the ends of intervals."""
        parts = (self.name, *_content(training), list(items), seed)
        means, *ends = kept(self.folder, parts, lambda: self._told(training, items, seed))
        return point_forecast(means, training.subjects, list(items), ends)

    def _told(
        self, training: ml.Evaluation, items: Sequence[str], seed: int
    ) -> list[np.ndarray]:
        """Fit and forecast: mean, low and high, (subjects, items)."""
        chosen = chosen_of(self.method, training, seed, self.folder, self.name)
        told = chosen.fitted(training, items, seed=seed)[0].data
        told = told.reindex(subject=training.subjects, item=list(items))
        return [told[name].transpose("subject", "item").to_numpy() for name in ENDS]


ENDS = ("mean", "low", "high")


def chosen_of(
    method: FittedLayout | ChosenLayout,
    training: ml.Evaluation,
    seed: int,
    folder: Path | None,
    name: str,
) -> FittedLayout:
    """Take the layout itself, or the best of several on the training outcomes."""
    if isinstance(method, FittedLayout):
        return method
    parts = ("choice", name, *_content(training), seed)
    best = kept(folder, parts, lambda: method.compare(training, seed=seed).index[0])
    length = {"draws": method.draws, "tune": method.tune, "chains": method.chains}
    return FittedLayout(method.layouts[best], **length)


def _content(training: ml.Evaluation) -> tuple[object, ...]:
    """What tells training outcomes apart."""
    return (
        list(training.items.index),
        training.subjects,
        training.successes.to_numpy(),
        training.trials.to_numpy(),
    )
