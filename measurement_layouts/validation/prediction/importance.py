"""Importance of the items' properties for predictions: table, elbow and stability."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from ...evaluations.tables import known_names

_POOR, _STABLE = 0.4, 0.75  # bounds of Nogueira et al.
_LEAST = 3  # smallest number of properties for an elbow

type Score = Literal["brier", "auroc"]


@dataclass(frozen=True, eq=False, repr=False)
class Importance:
    """Importance of properties: the loss of each method if one is shuffled among held-out items.

    Made by `permutation_importance`.

    Attributes
    ----------
    values : DataFrame
        One row per method, repeat, fold, subject and property: ``method``, ``repeat``, ``fold``,
        ``subject``, ``property`` and ``importance``, the mean increase of the Brier score (or
        decrease of the AUROC) over shuffles; NaN if there is no score.
    score : {"brier", "auroc"}
        Score from which importance is computed.
    prob : float
        Mass of the intervals.
    share : float
        Number of predicted cells per training cell, over all folds.

    Examples
    --------
    >>> rows = [("mine", 0, fold, "Ann", name, value) for fold in (0, 1)
    ...         for name, value in (("size", 0.2 + fold / 10), ("hour", 0.0), ("hue", 0.01))]
    >>> names = ["method", "repeat", "fold", "subject", "property", "importance"]
    >>> found = Importance(pd.DataFrame(rows, columns=names), "brier", 0.9, 1.0)
    >>> found.table[["property", "importance", "se", "chosen", "folds"]].round(3)
      property  importance     se  chosen  folds
    0     size        0.25  0.087    True    1.0
    1      hue        0.01  0.000   False    0.0
    2     hour        0.00  0.000   False    0.0
    >>> found
    <Importance: mine: 1 of 3 properties above the elbow (size), stable over 2 folds (1.00)>
    """

    values: pd.DataFrame
    score: Score = "brier"
    prob: float = 0.9
    share: float = 0.0

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the given order."""
        return [str(name) for name in self.values["method"].unique()]

    @cached_property
    def table(self) -> pd.DataFrame:
        r"""Importances of each method's properties, the largest first.

        Columns are ``method`` and ``property``; ``importance``, averaged over subjects, then over
        folds; ``se``, its standard error; ``low`` and ``high``, the ends of an interval by
        Student's t; ``chosen``, whether the property is before the elbow; and ``folds``, the share
        of folds in which it is before the elbow of that fold.

        Folds share most of their training items, so that the error from their standard deviation
        `s` alone would be too small. With `n` folds and `q` predicted cells per training cell, the
        standard error is :math:`s \sqrt{1/n + q}` (Nadeau and Bengio, 2003); it is NaN for a
        single fold.
        """
        parts = [self._of(method) for method in self.methods]
        return pd.concat(parts, ignore_index=True)

    def chosen(self, method: str | None = None) -> list[str]:
        """Return the properties before the elbow, the most important first.

        Parameters
        ----------
        method : str, optional
            Name of the method (default: the first one).

        Raises
        ------
        DataError
            When there is no such method.
        """
        wanted = self.methods[:1] if method is None else [method]
        (name,) = known_names(wanted, pd.Index(self.methods), "method")
        own = self.table[self.table["method"] == name]
        return [str(name) for name in own.loc[own["chosen"], "property"]]

    @cached_property
    def stability(self) -> pd.DataFrame:
        r"""Stability of the choice of properties over folds, with a row per method.

        Columns are ``properties``, their number; ``chosen``, the number before the elbow;
        ``folds``, the number of folds; ``stability``; and ``verdict``, in words. With the share
        :math:`p_j` of the `n` folds that choose property `j`, and the mean :math:`\bar p` of the
        shares,

        .. math:: \text{stability} = 1 - \frac{\operatorname{mean}_j\,
            \frac{n}{n - 1} p_j (1 - p_j)}{\bar p (1 - \bar p)}

        which is 1 if all folds choose the same properties, and 0 on average if each chooses at
        random. As in the reference, values above 0.75 are called stable, and values below 0.4 not
        stable. It is NaN for a single fold, and if each fold chooses all properties.

        References
        ----------
        Nogueira, Sechidis and Brown (2018), Journal of Machine Learning Research 18(174).
        """
        rows = {method: self._stability(method) for method in self.methods}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    def __repr__(self) -> str:
        said = "; ".join(f"{name}: {row.verdict}" for name, row in self.stability.iterrows())
        return f"<Importance: {said}>"

    def _by_fold(self, method: str) -> pd.DataFrame:
        """Average over subjects, with a row per fold and a column per property."""
        own = self.values[self.values["method"] == method]
        order = own["property"].unique()
        means = own.groupby(["repeat", "fold", "property"])["importance"].mean()
        return means.unstack("property")[order]

    def _choices(self, method: str) -> np.ndarray:
        """Return whether each fold chooses each property, (folds, properties)."""
        return np.stack([_before_elbow(row) for row in self._by_fold(method).to_numpy()])

    def _of(self, method: str) -> pd.DataFrame:
        folds = self._by_fold(method)
        count, mean = len(folds), folds.mean().to_numpy()
        error = folds.std(ddof=1).to_numpy() * np.sqrt(1 / count + self.share)
        reach = stats.t.ppf((1 + self.prob) / 2, count - 1) * error if count > 1 else error
        found = pd.DataFrame(
            {
                "method": method,
                "property": folds.columns,
                "importance": mean,
                "se": error,
                "low": mean - reach,
                "high": mean + reach,
                "chosen": _before_elbow(mean),
                "folds": self._choices(method).mean(axis=0),
            }
        )
        return found.sort_values("importance", ascending=False, kind="stable")

    def _stability(self, method: str) -> dict[str, object]:
        chosen, choices = self.chosen(method), self._choices(method)
        count, total = choices.shape
        shares = choices.mean(axis=0)
        level, found = float(shares.mean()), float("nan")
        if count > 1 and 0 < level < 1:
            spread = count / (count - 1) * shares * (1 - shares)
            found = 1 - float(spread.mean()) / (level * (1 - level))
        verdict = f"{len(chosen)} of {total} properties above the elbow"
        verdict += f" ({', '.join(chosen)})" if len(chosen) < total else ""
        if count == 1:
            verdict += ", from a single fold"
        elif np.isnan(found):
            verdict += f", as in all {count} folds"
        else:
            word = (
                "stable" if found > _STABLE else "partly stable" if found >= _POOR else "not stable"
            )
            verdict += f", {word} over {count} folds ({found:.2f})"
        return {
            "properties": total,
            "chosen": len(chosen),
            "folds": count,
            "stability": found,
            "verdict": verdict,
        }


def elbow(values: np.ndarray) -> int:
    """Count the values before the elbow of a descending curve.

    Parameters
    ----------
    values : ndarray, shape (values,)
        Values in descending order.

    Returns
    -------
    int
        Number of values before the one that is furthest below the line from the first to the last
        value; all values if none is below this line, or if there are fewer than three.

    Examples
    --------
    >>> elbow(np.array([10, 9, 8, 1, 0.9, 0.8])), elbow(np.array([3.0, 2, 1]))
    (3, 3)
    """
    count = len(values)
    if count < _LEAST:
        return count
    line = np.linspace(values[0], values[-1], count)
    below = line - values
    deepest = int(np.argmax(below))
    return deepest if below[deepest] > 1e-9 * (values[0] - values[-1]) else count


def _before_elbow(values: np.ndarray) -> np.ndarray:
    """Return which values, in any order, are before the elbow; NaN never is."""
    order = np.argsort(-values, kind="stable")  # NaN is last
    known = order[: np.isfinite(values).sum()]
    found = np.zeros(len(values), dtype=bool)
    found[known[: elbow(values[known])]] = True
    return found
