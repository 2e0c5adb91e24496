"""What a fit is: every subject's posterior, and the questions one asks of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ..layouts import Layout
from ..linking import LinkingFunction
from .data import Evaluation
from .errors import FitError
from .features import Features
from .prior import draw_prior
from .sampling import Draws, SamplingOptions
from .wording import some

if TYPE_CHECKING:
    from .forecasting import Forecast

OUTCOMES = ("successes", "trials")


@dataclass(frozen=True, eq=False)
class Fit:
    """Posteriors of all subjects under one layout.

    Made by `fit` and `load`.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    data : xarray.DataTree
        Groups ``posterior`` and ``sample_stats`` (subject, chain, draw, labels), ``prior``,
        ``observed_data`` (successes and trials; subject, item) and ``constant_data`` (meta-features
        per item, constants per subject). ArviZ reads it.
    failures : dict of str to str
        Subjects whose sampling failed, and why.
    """

    layout: Layout
    data: xr.DataTree
    failures: Mapping[str, str]

    @property
    def subjects(self) -> list[str]:
        """Names of the fitted subjects."""
        return [str(name) for name in self.posterior["subject"].to_numpy()]

    @property
    def posterior(self) -> xr.Dataset:
        """Draws of every profile element."""
        return self.data["posterior"].to_dataset()

    @cached_property
    def prior(self) -> dict[str, np.ndarray]:
        """Draws of every profile element before the data, first axis draws."""
        group = self.data["prior"]
        return {latent.name: group[latent.name].to_numpy()[0] for latent in self.layout.latents}

    @property
    def observed(self) -> xr.Dataset:
        """Training successes and trials, by subject and item."""
        return self.data["observed_data"].to_dataset()

    @property
    def constants(self) -> xr.Dataset:
        """Training meta-features by item, and the subjects' constants."""
        return self.data["constant_data"].to_dataset()

    def profiles(self, prob: float = 0.9) -> pd.DataFrame:
        """Summarise every profile element of every subject; see `diagnostics.profiles`."""
        from .diagnostics import profiles

        return profiles(self, prob)

    def diagnostics(self) -> pd.DataFrame:
        """Judge every subject's sampling and data; see `diagnostics.diagnose`."""
        from .diagnostics import diagnose

        return diagnose(self)

    def forecast(
        self,
        items: pd.DataFrame,
        *,
        subjects: Sequence[object] | None = None,
        prob: float = 0.9,
    ) -> "Forecast":
        """Forecast success on items; see `forecasting.forecast`."""
        from .forecasting import forecast

        return forecast(self, items, subjects=subjects, prob=prob)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit into one netCDF file; see `storage.save`."""
        from .storage import save

        return save(self, path, overwrite=overwrite)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        layout: Layout | None = None,
        functions: Sequence[LinkingFunction] = (),
    ) -> "Fit":
        """Read a fit from its file; see `storage.load`."""
        from .storage import load

        return load(path, layout=layout, functions=functions)

    def select(self, subjects: Sequence[object]) -> list[str]:
        """Check names of subjects against the fit.

        Raises
        ------
        FitError
            When one was not fitted; the reason is given where sampling failed.
        """
        names = [str(subject) for subject in subjects]
        unknown = [
            f"{name} ({self.failures[name]})" if name in self.failures else name
            for name in names
            if name not in set(self.subjects)
        ]
        if unknown:
            raise FitError(f"not in this fit: {some(unknown)}; it holds {some(self.subjects)}")
        return names

    def __repr__(self) -> str:
        sizes = self.posterior.sizes
        return (
            f"<Fit of {self.layout.name!r}: {sizes['subject']} subjects, {sizes['chain']} chains of "
            f"{sizes['draw']} draws, {len(self.failures)} failed>"
        )


def assemble(
    layout: Layout,
    evaluation: Evaluation,
    features: Features,
    found: Mapping[str, Draws],
    failures: Mapping[str, str],
    options: SamplingOptions,
    seed: int,
) -> Fit:
    """Put the subjects' draws, their data and what made them into one tree."""
    subjects = [subject for subject in evaluation.subjects if subject in found]
    first = found[subjects[0]]
    coords: dict[str, Any] = {
        "subject": subjects,
        "chain": np.arange(options.chains),
        "draw": np.arange(options.draws),
    }
    labels = {dim: list(names) for dim, names in layout.dims.items()}
    sampled = ("subject", "chain", "draw")
    posterior = {
        latent.name: (
            (*sampled, *latent.label_dims),
            np.stack([found[subject].posterior[latent.name] for subject in subjects]),
        )
        for latent in layout.latents
    }
    statistics = {
        name: (sampled, np.stack([found[subject].statistics[name] for subject in subjects]))
        for name in first.statistics
    }
    drawn = draw_prior(layout)
    prior = {
        latent.name: (("chain", "draw", *latent.label_dims), drawn[latent.name][None])
        for latent in layout.latents
    }
    outcomes = {
        name: (("subject", "item"), getattr(evaluation, name).loc[subjects].to_numpy())
        for name in OUTCOMES
    }
    items = {"item": list(evaluation.items.index)}
    constant_data: dict[str, Any] = {
        feature.name: (("item", *feature.label_dims), features[feature.name])
        for feature in layout.meta_features
    }
    rates = evaluation.success_rates().loc[subjects].to_numpy()
    constant_data |= {constant.name: ("subject", 1 - rates) for constant in layout.constants}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(posterior, {**coords, **labels}),
            "sample_stats": xr.Dataset(statistics, coords),
            "prior": xr.Dataset(prior, labels),
            "observed_data": xr.Dataset(outcomes, {"subject": subjects, **items}),
            "constant_data": xr.Dataset(constant_data, {"subject": subjects, **items, **labels}),
        }
    )
    tree.attrs = {
        "layout": json.dumps(layout.to_dict()),
        "fingerprint": layout.fingerprint,
        "measurement_layouts": version("measurement-layouts"),
        "seed": seed,
        "tune": options.tune,
        "target_accept": options.target_accept,
        "failures": json.dumps(dict(failures)),
    }
    return Fit(layout, tree, dict(failures))
