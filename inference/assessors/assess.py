"""What predicts success on items held out, and how well: assessors side by side."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ...layouts import Layout
from .. import options
from ..baselines import masked
from ..data import Evaluation
from ..errors import DataError
from ..leaks import report_twins
from ..progress import track
from .assessment import Assessment
from .assessor import Assessor, predicted
from .fitted_layout import FittedLayout
from .folds import split
from .forest import Forest

type Method = Assessor | Layout | Sequence[str]


def assess(
    methods: Mapping[str, Method],
    evaluation: Evaluation,
    *,
    groups: str | None = None,
    folds: int = 10,
    resamples: int = 500,
    prob: float = 0.9,
    seed: int = 1,
    progressbar: bool = True,
) -> Assessment:
    """Ask what predicts who succeeds on which items, by cross-validation.

    Every method predicts the items of each fold from the outcomes on the others, for every subject.
    A forest only predicts; of a layout that predicts as well, the profile (`fit` it to all items)
    says why.

    Parameters
    ----------
    methods : mapping of str to Assessor, Layout or sequence of str
        By name: whatever has the method `predict` of an `Assessor`, such as `Forest`, `Regression`
        or `Algebraic`; a layout, for `FittedLayout` with its defaults; or columns, for a `Forest`
        with its. All are compared with the first.
    evaluation : Evaluation
        Items and outcomes.
    groups : str, optional
        Column of the items, such as a benchmark, whose groups are held out whole. Without it, folds
        are items dealt at random, equally many up to one.
    folds : int
        Parts of the items, at least 2; each is predicted from the others. With as many groups or
        fewer, each group is a fold. Otherwise groups are dealt out from the largest on, each to the
        fold with the fewest items so far.
    resamples : int
        Sets of items drawn with replacement, for standard errors and intervals.
    prob : float
        Mass of the intervals of the differences.
    seed : int
        Of folds, methods and resamples.
    progressbar : bool
        Show folds done and time left.

    Returns
    -------
    Assessment
        Predictions, and scores compared.

    Raises
    ------
    DataError
        When there is no method or something is none, items do not suit one, there are fewer items
        than folds or fewer than two groups, or a subject would keep no training outcome in a fold.
    FitError
        When an option is out of range.

    Warns
    -----
    UserWarning
        When more items than by chance have the properties and outcomes of others, as `score` counts
        them by the predictions of the best method: what is held out is then not unseen. The
        properties are those that the methods predict from, or all where one does not tell.

    Notes
    -----
    Predictions of all folds are pooled before they are scored, so a forest that knows nothing may
    lie below an AUROC of 0.5: where a fold holds more successes, the others hold fewer. The
    bootstrap draws items and keeps what was trained as it is: what another training set, or with
    `groups` another choice of groups, would change is not counted.

    References
    ----------
    Propensities paper, section 4.4 and Table 4: ten folds, AUROC. General scales paper, sections
    3.4 and 5.6, Tables 3 to 5 and 13 to 19: items, tasks and benchmarks held out.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.normal(size=200), "hour": rng.normal(size=200)})
    >>> outcomes = pd.DataFrame([rng.random(200) < 1 / (1 + np.exp(3 * items["size"]))], ["Ann"])
    >>> methods = {"hour": ["hour"], "hour and size": Forest(["hour", "size"])}
    >>> found = assess(methods, Evaluation.from_wide(outcomes, items), folds=2, progressbar=False)
    >>> found.summary()[["auroc", "auroc_difference"]].round(1)
                   auroc  auroc_difference
    method
    hour             0.5               0.0
    hour and size    0.8               0.4
    """
    assessors = _read(methods, evaluation.items)
    seed = options.whole("seed", seed)
    parts = split(evaluation, groups, options.whole("folds", folds, 2), seed)
    resamples, prob = options.whole("resamples", resamples, 2), options.inside("prob", prob, 0.9)
    found: dict[str, list[xr.DataArray]] = {name: [] for name in assessors}
    for held_out in track(parts, len(parts), progressbar, what="folds"):
        training = masked(evaluation, held_out)
        for name, assessor in assessors.items():
            found[name].append(predicted(name, assessor, training, list(held_out), seed))
    order = list(evaluation.items.index)
    whole = [xr.concat(pieces, "item").sel(item=order) for pieces in found.values()]
    chances = xr.concat(whole, pd.Index(found, name="method"))
    made = Assessment.of(evaluation, chances, parts, resamples=resamples, prob=prob, seed=seed)
    briers = made.scores["brier"].mean("subject").to_numpy()
    best = int(np.nan_to_num(briers, nan=np.inf).argmin())
    predicted_best = chances.transpose("method", "subject", "item").to_numpy()[best]
    report_twins(evaluation, _properties(assessors), predicted_best)
    return made


def _properties(assessors: Mapping[str, Assessor]) -> list[str] | None:
    """Name the properties that methods predict from; None where one of them does not tell."""
    found: dict[str, None] = {}
    for assessor in assessors.values():
        columns = getattr(assessor, "columns", None)
        if isinstance(assessor, FittedLayout):
            columns = [name for node in assessor.layout.meta_features for name in node.columns]
        if columns is None:
            return None
        found |= dict.fromkeys(columns)
    return list(found) or None


def _read(methods: Mapping[str, object], items: pd.DataFrame) -> dict[str, Assessor]:
    """Make assessors of all, and find before the first fold what would stop a later one."""
    if not methods:
        raise DataError(
            "there are no methods; give at least one by name: columns, a layout or an assessor"
        )
    found: dict[str, Assessor] = {}
    for name, method in methods.items():
        if isinstance(method, Layout):
            found[name] = FittedLayout(method)
        elif isinstance(method, Assessor):
            found[name] = method
        elif isinstance(method, Sequence):
            found[name] = Forest(method)
        else:
            raise DataError(
                f"{name}: a {type(method).__name__} is no method; give columns, a layout, or "
                "something with the method predict of an Assessor"
            )
        check = getattr(found[name], "check", None)
        if check is None:
            continue
        try:
            check(items)
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
    return found
