"""A published formula as an assessor: differences between abilities and demands."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...batteries.characteristic import characteristic_curves
from ...batteries.slices import Slices
from ...common.errors import DataError
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import refuse_steps
from ...evaluations.tables import name_cells, need_columns, read_numbers, refuse_repeats
from ...linking import generalised_mean, logistic


@dataclass(frozen=True)
class Algebraic:
    r"""Prediction from the differences between a subject's abilities and an item's demands.

    .. math:: p = M_k\left(\sigma(a_1 - d_1), \dots, \sigma(a_J - d_J),
        1 - \tfrac{u}{100}\right)

    with abilities `a` from `characteristic_curves` of the training outcomes, demands `d`,
    unguessability `u` in per cent, the logistic function, and the generalised mean of power `k`.

    Parameters
    ----------
    columns : sequence of str
        Columns of demand levels; see `characteristic_curves`.
    unguessability : str, optional
        Column with the probability of an error when guessing, in per cent.
    power : float
        Power `k`: with 1, parts compensate for each other; 0 is the geometric mean; infinite powers
        are the largest or the smallest part.

    Raises
    ------
    DataError
        When a column is named twice.

    Notes
    -----
    The published text does not define the part of guessing. Since the other parts are probabilities
    of success, it is 1 minus unguessability here. For a power of 0 or below, an item that cannot be
    guessed (100 %) is therefore predicted to fail, independently of abilities. This agrees with
    Table 19, in which the calibration at power 0 is worst for able subjects. On six benchmarks,
    unguessability itself as a part, which contradicts its meaning, has a higher AUROC at power 0
    (0.70 instead of 0.66).

    Demands for which a subject has no ability (no curve) are left out of its mean. A subject
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
    >>> asked = pd.DataFrame({"subject": ["Ann"], "item": ["499"]})
    >>> Algebraic(["logic"], power=1).predict(training, asked, seed=1).round(2)
    array([0.14])
    >>> Algebraic(["logic"], "guess", power=1).predict(training, asked, seed=1).round(2)
    array([0.32])
    """

    columns: Sequence[str]
    unguessability: str | None = None
    power: float = 0.0

    def __post_init__(self) -> None:
        refuse_repeats(self.columns, "column", "the columns to predict from")

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items whose demands or unguessability cannot be read.

        Raises
        ------
        DataError
            When a column is missing, demands are not levels, or unguessabilities not percentages.
        """
        Slices.of(items, self.columns)
        self._guessable(items)

    def predict(self, training: Evaluation, cells: pd.DataFrame, *, seed: int) -> np.ndarray:
        """Predict success, as an `Assessor` does.

        Raises
        ------
        DataError
            When a column cannot be read, or rows are steps of outcomes.
        """
        refuse_steps(training.rows, "an algebraic assessor")
        curves = characteristic_curves(training, self.columns, resamples=2, seed=seed)
        abilities = curves.abilities.reindex(training.subjects).to_numpy()
        row = training.subject_table.index.get_indexer(pd.Index(cells["subject"]))
        chances = training.success_rates().to_numpy()[row]
        items = training.items.loc[cells["item"]]
        demands = items[list(self.columns)].to_numpy(dtype=float)
        guessable = self._guessable(items)
        for subject in np.unique(row):
            estimated, rows = ~np.isnan(abilities[subject]), row == subject
            if estimated.any():
                margins = logistic(abilities[subject, estimated] - demands[rows][:, estimated])
                components = np.column_stack([margins, guessable[rows]])
                chances[rows] = generalised_mean(components, power=self.power, over=-1)[:, 0]
        return chances.clip(0, 1)  # rounding errors may lead outside the unit interval

    def _guessable(self, items: pd.DataFrame) -> np.ndarray:
        """Return probabilities of a correct guess, (items, 1), or (items, 0) without a column."""
        if self.unguessability is None:
            return np.empty((len(items), 0))
        need_columns(items.columns, [self.unguessability], "the items have")
        percents = items[[self.unguessability]]
        values = read_numbers(percents)[0]
        bad = ~((values >= 0) & (values <= 100))
        if bad.any():
            raise DataError(
                f"{bad.sum()} unguessabilities are not percentages: {name_cells(percents, bad)}; "
                "give numbers from 0 to 100"
            )
        return 1 - values / 100
