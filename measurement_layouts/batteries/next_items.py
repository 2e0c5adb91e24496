"""Items that are expected to reduce the uncertainty of fitted profiles most."""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ..common.options import whole
from ..evaluations.steps import of_rows
from ..evaluations.tables import named
from ..inference.forecasts.likelihood import Attempted
from ..inference.forecasts.scope import Scope
from ..inference.forecasts.streaming import chances, every_draw, gathered
from ..inference.given import refuse_no_fit
from ..inference.model.features import read_features
from ..inference.posterior.posterior import Posterior, posterior_draws, some_draws
from .adaptive.choosing import Chooser, variance_removed

_DRAWS = 2000  # at most, of each subject
_MEMORY_MIB = 256.0


def next_items(
    fit: Posterior, bank: pd.DataFrame, n: int = 10, *, subjects: Iterable[object] | None = None
) -> pd.DataFrame:
    r"""Find the items of a bank that would narrow each subject's profile most.

    Items are chosen one after another by the mutual information of outcome and profile that each
    adds to the items before it. `AdaptiveTest` also updates the profile by the answers. The outcome
    y of one item reduces the variance of profile element k, on average, by the share

    .. math:: r_k^2 = \frac{1}{\mathrm{var}(\theta_k)}
        \sum_y \frac{\mathrm{cov}(\theta_k, p(y \mid \theta))^2}{\bar p(y)}.

    Parameters
    ----------
    fit : Fit
        Fit with the profiles.
    bank : DataFrame
        Items to choose from, with the columns that the layout needs, indexed by name. Items that a
        subject was fitted on are left out for this subject.
    n : int
        Number of items for each subject.
    subjects : iterable of str, optional
        Subjects to choose items for (default: all).

    Returns
    -------
    DataFrame
        One row per subject and item, in the order in which to ask: ``subject``, ``rank``, ``item``,
        ``chance`` of success (or of the highest value of all outcomes), ``node``, the element that
        the item alone narrows most, and ``narrower``, the expected reduction of its standard
        deviation as a fraction, :math:`1 - \sqrt{1 - r_k^2}`.

    Raises
    ------
    DataError
        When the bank does not fit the layout.
    FitError
        When `fit` is something else, `n` is not a whole number of at least 1, or a subject is not
        in the fit.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> bank = aaio.battery(seed=2).add_prefix("new ", axis=0)
    >>> next_items(result, bank, 2)[["subject", "rank", "node"]]
      subject  rank           node
    0  sim-01     1  rightLeftBias
    1  sim-01     2  rightLeftBias
    """
    refuse_no_fit(fit)
    count = whole("n", n, 1)
    items = named(bank, "bank", "item")
    rows = fit.places(subjects)
    chosen = some_draws(fit, _DRAWS)
    tables = [
        _of_one(fit, int(row), items.index, table[:, chosen], chosen, count)
        for row, table in zip(rows, _chances(fit, items, rows), strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def _chances(fit: Posterior, items: pd.DataFrame, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Compute each subject's success probabilities on items, or on their steps, for all draws."""
    steps = fit.layout.steps
    if steps is None or fit.layout.joint:
        yield from chances(Scope.of(fit, items, fit.names(rows)), memory_mib=_MEMORY_MIB)
        return
    features = of_rows(steps, read_features(fit.layout, items), len(items))
    count = len(items) * len(steps.rows)
    for row in rows:
        yield gathered(every_draw(fit, row, features, count, memory_mib=_MEMORY_MIB))


def _of_one(
    fit: Posterior, row: int, names: pd.Index, table: np.ndarray, draws: np.ndarray, n: int
) -> pd.DataFrame:
    """Choose items for one subject."""
    subject, steps = fit.subjects[row], fit.layout.steps
    values = [posterior_draws(fit, element, subject)[draws] for element in fit.elements]
    source = SimpleNamespace(  # what `Chooser` takes
        elements=fit.elements,
        values=np.stack(values, axis=1),
        weights=np.full(len(draws), 1 / len(draws)),
        shared=fit.layout.joint,
        chances=lambda rows, draws: table[rows][:, draws],
    )
    ends = [1] if steps is None else steps.ends.tolist()
    chooser = Chooser(np.arange(len(table)).reshape(len(names), -1), ends, None)
    open_ = np.flatnonzero(~names.isin(Attempted.of(fit, row).items))
    chosen: list[int] = []
    while len(open_) and len(chosen) < n:
        chosen.append(int(chooser.best(source, open_, chosen, np.ones(len(names)))[0]))
        open_ = open_[open_ != chosen[-1]]
    outcomes = chooser.outcomes(source, np.array(chosen, dtype=int))
    removed = variance_removed(outcomes, source.values, source.weights)
    return pd.DataFrame(
        {
            "subject": subject,
            "rank": np.arange(1, len(chosen) + 1),
            "item": names[chosen],
            "chance": outcomes[-1].mean(axis=-1),
            "node": np.array([element.name for element in fit.elements])[removed.argmax(axis=1)],
            "narrower": 1 - np.sqrt(1 - removed.max(axis=1)),
        }
    )
