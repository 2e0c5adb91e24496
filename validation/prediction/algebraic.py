"""Success from abilities and demands by a formula: nothing is trained but the abilities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from ...batteries.curves.characteristic import characteristic_curves
from ...batteries.curves.slices import Slices
from ...common.errors import DataError, FitError
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import refuse_steps
from ...evaluations.tables import name_cells, need_columns, read_numbers
from ...linking import generalised_mean, logistic
from ...linking.real import real
from .assessor import blind_forecast, names_of, without_outcomes


@dataclass(frozen=True)
class Algebraic:
    r"""Predict from how far a subject's abilities lie above an item's demands.

    .. math:: p = M_k\left(\sigma(a_1 - d_1), \dots, \sigma(a_J - d_J),
        1 - \tfrac{u}{100}\right)

    with abilities `a` by `characteristic_curves` from the training outcomes, demands `d`,
    unguessability `u` in per cent, the logistic and the generalised mean of power `k`.

    Parameters
    ----------
    columns : sequence of str
        Columns of demand levels, as `characteristic_curves` takes them.
    unguessability : str, optional
        Column of percentages: the chance to err when guessing.
    power : float
        `k`: 1 lets one part make up for another; 0 is the geometric mean; infinite ones take the
        largest or the smallest part.

    Raises
    ------
    DataError
        When a column is named twice.
    FitError
        When the power is no number.

    Notes
    -----
    What the published text leaves open is read thus: a part is a chance of success, so that of
    guessing is one minus unguessability. At a power of 0 or below, an item that cannot be guessed
    (100 %) is then predicted to fail, whatever the abilities. Table 19 agrees: its calibration is
    worst for able subjects at power 0. On six benchmarks unguessability itself as a part, against
    its meaning, gives the higher AUROC at power 0 (0.70, not 0.66).

    A demand for which a subject has no ability (no curve) is left out of its mean. A subject
    without any ability is predicted by its mean training success.

    References
    ----------
    General scales paper, appendix 8.5.7, equation 1 and Table 19.

    Examples
    --------
    >>> levels = np.repeat(np.arange(1, 6), 100)
    >>> items = pd.DataFrame({"logic": levels, "guess": 50.0})
    >>> solved = np.random.default_rng(1).random(500) < 1 / (1 + np.exp(2 * (levels - 3.2)))
    >>> outcomes = pd.DataFrame([solved], ["Ann"]).astype(float)
    >>> outcomes.iloc[0, -1] = None
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> Algebraic(["logic"], power=1).predict(training, ["499"], seed=1).to_numpy().round(2)
    array([[0.14]])
    >>> joined = Algebraic(["logic"], "guess", power=1).predict(training, ["499"], seed=1)
    >>> joined.to_numpy().round(2)
    array([[0.32]])
    """

    columns: Sequence[str]
    unguessability: str | None = None
    power: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_of(self.columns))
        power = real(self.power)
        if power is None or math.isnan(power):
            raise FitError(
                f"power={self.power!r}; give a number, or +-inf for the largest and the smallest "
                "part"
            )

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items whose demands or unguessability cannot be read.

        Raises
        ------
        DataError
            When a column is missing, holds no levels, or no percentages.
        """
        Slices.of(items, self.columns)
        self._guessable(items)

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does.

        Raises
        ------
        DataError
            When a column cannot be read, or an item has training outcomes.
        """
        refuse_steps(training.rows, "an algebraic assessor")
        names = without_outcomes(training, items, "algebraic assessor")
        curves = characteristic_curves(training, self.columns, resamples=2, seed=seed)
        asked = training.items.loc[names]
        demands = asked[list(self.columns)].to_numpy(dtype=float)
        guessable = self._guessable(asked)
        rates = training.success_rates().to_numpy()
        found = np.empty((len(training.subjects), len(names)))
        for row, abilities in enumerate(curves.abilities.to_numpy()):
            known = ~np.isnan(abilities)
            parts = logistic(abilities[known] - demands[:, known])
            parts = np.column_stack([parts, guessable])
            found[row] = rates[row]
            if known.any():
                found[row] = generalised_mean(parts, power=self.power, over=-1)[:, 0]
        # rounding may leave the unit interval
        return blind_forecast(found.clip(0, 1), training, names).data["mean"]

    def _guessable(self, items: pd.DataFrame) -> np.ndarray:
        """Chances of guessing right, (items, 1), or (items, 0) where nobody asked for them."""
        if self.unguessability is None:
            return np.empty((len(items), 0))
        need_columns(items.columns, [self.unguessability], "the items have")
        percents = items[[self.unguessability]]
        values = read_numbers(percents)[0]
        bad = ~((values >= 0) & (values <= 100))
        if bad.any():
            raise DataError(
                f"{bad.sum()} unguessabilities are no percentages: {name_cells(percents, bad)}; "
                "give numbers from 0 to 100"
            )
        return 1 - values / 100
