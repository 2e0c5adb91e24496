"""Whether knowing more properties of items helps to predict success: by cross-validation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...layouts import Layout
from .. import options
from ..baselines import Baseline, baseline_forecast, classifier, masked
from ..data import Evaluation
from ..errors import DataError
from ..features import read_features
from ..fitting import fit
from ..progress import track
from ..tables import need_columns
from ..validation import with_training
from ..wording import some
from .assessment import Assessment


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(min_samples_split=50, random_state=seed)


_FOREST = Baseline("random forest", classifier(_forest))


def assess(
    evaluation: Evaluation,
    features: Mapping[str, Sequence[str]],
    *,
    layouts: Mapping[str, Layout] | None = None,
    folds: int = 10,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    resamples: int = 500,
    prob: float = 0.9,
    seed: int = 1,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Assessment:
    """Ask whether knowing more properties of the items helps to predict who succeeds.

    For every subject and feature set a random forest predicts the items of each fold from the
    outcomes on the others; layouts are fitted on the same folds. A forest only predicts; of a
    layout that predicts as well, the profile (`fit` it to all items) says why.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    features : mapping of str to sequence of str
        Sets of properties by name. All methods are compared with the first.
    layouts : mapping of str to Layout, optional
        By name.
    folds : int
        Parts of the items, at least 2; each is predicted from the others.
    draws, tune, chains, n_jobs : int
        As in `fit`; nobody is sampled again, since a prediction needs the posterior's mean only.
    resamples : int
        Sets of items drawn with replacement, for standard errors and intervals.
    prob : float
        Mass of the intervals of the differences.
    seed : int
        Of folds, forests, fits and resamples.
    progressbar : bool
        Show folds done and time left.

    Returns
    -------
    Assessment
        Predictions, and scores compared.

    Raises
    ------
    DataError
        When there is no method or two share a name, a property is missing or holds no finite
        numbers, items do not fit a layout, there are fewer items than folds, or a subject would
        keep no training outcome in one of them.
    FitError
        When an option is out of range.

    Notes
    -----
    Predictions of all folds are pooled before they are scored, so a forest that knows nothing may
    lie below an AUROC of 0.5: where a fold holds more successes, the others hold fewer. The
    bootstrap draws items and keeps forests and fits as they are: what another training set would
    change is not counted.

    References
    ----------
    Propensities paper, section 4.4 and Table 4: forests that split nodes of at least 50 items, ten
    folds, AUROC.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.normal(size=200), "hour": rng.normal(size=200)})
    >>> outcomes = pd.DataFrame([rng.random(200) < 1 / (1 + np.exp(3 * items["size"]))], ["Ann"])
    >>> sets = {"hour": ["hour"], "hour and size": ["hour", "size"]}
    >>> found = assess(Evaluation.from_wide(outcomes, items), sets, folds=2, progressbar=False)
    >>> found.summary()[["auroc", "auroc_difference"]].round(1)
                   auroc  auroc_difference
    method
    hour             0.5               0.0
    hour and size    0.8               0.4
    """
    layouts = layouts or {}
    _check_methods(evaluation.items, features, layouts)
    seed = options.whole("seed", seed)
    parts = _folds(evaluation, options.whole("folds", folds, 2), seed)
    resamples, prob = options.whole("resamples", resamples, 2), options.inside("prob", prob, 0.9)
    found: dict[str, list[xr.DataArray]] = {name: [] for name in (*features, *layouts)}
    for held_out in track(parts, len(parts), progressbar, what="folds"):
        training = masked(evaluation, held_out)
        for name, columns in features.items():
            forecast = baseline_forecast(_FOREST, training, list(held_out), columns, seed=seed)
            found[name].append(forecast.data["mean"])
        for name, layout in layouts.items():
            result = fit(
                layout,
                training,
                draws=draws,
                tune=tune,
                chains=chains,
                seed=seed,
                reruns=0,
                n_jobs=n_jobs,
                progressbar=False,
            )
            found[name].append(result.forecast(evaluation.items.loc[held_out]).data["mean"])
    chances = _joined(evaluation, found)
    return Assessment.of(evaluation, chances, parts, resamples=resamples, prob=prob, seed=seed)


def _check_methods(
    items: pd.DataFrame, features: Mapping[str, Sequence[str]], layouts: Mapping[str, Layout]
) -> None:
    """Find before the first forest what would stop a later one, or a fit."""
    methods = [*features, *layouts]
    if not methods or len(set(methods)) < len(methods):
        raise DataError(
            f"the methods to compare are {some(methods) or 'none'}; give at least one feature set "
            "or layout, each with a name of its own"
        )
    for name, columns in features.items():
        need_columns(items.columns, columns, f"{name}: the items have")
    for layout in layouts.values():
        read_features(layout, items)


def _folds(evaluation: Evaluation, folds: int, seed: int) -> list[pd.Index]:
    """Split the items at random into parts of one size, give or take one."""
    items = evaluation.items.index
    if folds > len(items):
        raise DataError(f"folds={folds}, but there are {len(items)} items; ask for fewer folds")
    order = np.random.default_rng(seed).permutation(len(items))
    parts = [items[np.sort(part)] for part in np.array_split(order, folds)]
    return with_training(evaluation, parts, "fold")


def _joined(evaluation: Evaluation, found: Mapping[str, list[xr.DataArray]]) -> xr.DataArray:
    """Join the folds' predictions; NaN where a subject could not be sampled."""
    whole = [xr.concat(parts, "item", join="outer") for parts in found.values()]
    names = {"subject": evaluation.subjects, "item": list(evaluation.items.index)}
    each = [one.reindex(names) for one in whole]
    return xr.concat(each, pd.Index(found, name="method"), coords="minimal")
