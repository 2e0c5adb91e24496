"""A measurement layout as an assessor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import xarray as xr

from ...layouts import Layout
from ..data import Evaluation
from ..features import read_features
from ..fitting import fit
from ..ladders import refuse_steps
from ..tables import known_names


@dataclass(frozen=True)
class FittedLayout:
    """Predict by a layout, fitted to the training outcomes of each subject.

    Parameters
    ----------
    layout : Layout
        What to fit.
    draws, tune, chains, method, n_jobs
        As in `fit`; nobody is sampled again, since a prediction needs the posterior's mean only.

    Notes
    -----
    A subject that cannot be sampled has no prediction.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", low=0, high=5)
    >>> size = MetaFeature("size", low=0, high=5)
    >>> layout = Layout("one", Success("done", logistic(skill - size)))
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4, 2.5]}, index=list("abcde"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0, None]], index=["Ann"], columns=items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> FittedLayout(layout, method="grid").predict(training, ["e"], seed=1).to_numpy().round(1)
    array([[0.5]])
    """

    layout: Layout
    draws: int = 500
    tune: int = 500
    chains: int = 2
    method: Literal["nuts", "grid"] = "nuts"
    n_jobs: int | None = None

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items that do not fit the layout.

        Raises
        ------
        DataError
            When a meta-feature is missing or out of its levels.
        """
        read_features(self.layout, items)

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does.

        Raises
        ------
        DataError
            When items do not fit the layout or are unknown, or rows are steps of outcomes.
        FitError
            When an option of the fit is out of range, or nobody could be sampled.
        """
        refuse_steps(training.rows, "FittedLayout.predict")
        known_names(items, training.items.index, "item")
        result = fit(
            self.layout,
            training,
            draws=self.draws,
            tune=self.tune,
            chains=self.chains,
            method=self.method,
            seed=seed,
            reruns=0,
            n_jobs=self.n_jobs,
            progressbar=False,
        )
        return result.forecast(training.items.loc[list(items)]).data["mean"]
