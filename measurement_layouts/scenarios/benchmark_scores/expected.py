"""Forecasts of scores, for known and new models and benchmarks."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.options import inside
from ...evaluations.scores import score_places
from ...inference.forecasts.asked import Asked, all_draws
from ...inference.posterior.posterior import Posterior
from ...linking import arrays, logit

_NODES = ("performance", "precision")
_MEMORY = 256  # MiB
_EQUALLY_LIKELY = (np.arange(40) + 0.5) / 40
_SCATTER = np.log(_EQUALLY_LIKELY) - np.log1p(-_EQUALLY_LIKELY)


def expected_scores(
    fit: Posterior,
    benchmarks: pd.DataFrame | Iterable[str],
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    places: int = 1000,
    prob: float = 0.9,
) -> pd.DataFrame:
    r"""Forecast scores, including their variation.

    .. math:: \operatorname{logit} y = \operatorname{logit} p + \frac{1}{a} \operatorname{logit}
        \frac{r - 1/2}{R}, \qquad r = 1, \dots, R

    for each draw of the performance p and the precision a. These are R = 40 equally likely scores,
    from which mean and interval are computed; the interval is rounded to places as in
    `read_scores`. The interval is thus that of a new score, not of its expectation.

    Parameters
    ----------
    fit : Fit
        Fit of a layout with the nodes ``performance`` and ``precision``, such as
        `recommended_layout`, whose outcome is `falls` of the two.
    benchmarks : DataFrame or iterable of str
        Names of benchmarks, with properties if the layout uses any. Demand, slope and precision of
        a new benchmark are drawn from their distribution over benchmarks.
    subjects : iterable or DataFrame, optional
        As in `Fit.forecast`: names of the fit's subjects (default: all), or a table with properties
        of known or new subjects.
    places : int, default 1000
        As in `read_scores`.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, :math:`1 - \alpha`.

    Returns
    -------
    DataFrame
        Indexed by ``subject`` and ``benchmark``: ``mean``, ``low`` and ``high``, shares in [0, 1].

    Raises
    ------
    DataError
        When a property is missing, or a known name is given with other properties.
    FitError
        When the layout lacks one of the two nodes, is not joint, or `prob` is not between 0 and 1.

    Examples
    --------
    >>> from measurement_layouts import fit
    >>> from measurement_layouts.evaluations import read_scores
    >>> from measurement_layouts.scenarios import benchmark_scores as bs
    >>> rows = [(f"model {m}", f"test {b}", 1 / (1 + 2.0 ** (b - m)))
    ...         for m in range(6) for b in range(5) if (m, b) != (2, 3)]
    >>> table = pd.DataFrame(rows, columns=["subject", "benchmark", "score"])
    >>> found = fit(bs.common_scale_layout(), read_scores(table), draws=100, tune=200, chains=2,
    ...             seed=3, progressbar=False)
    >>> said = expected_scores(found, ["test 3"], subjects=["model 2"])["mean"].item()
    >>> abs(said - 1 / 3) < 0.1
    True
    """
    tail, layout = (1 - inside("prob", prob, such_as=0.9)) / 2, fit.layout
    missing = [name for name in _NODES if name not in layout.nodes]
    if missing or not layout.joint:
        lack = f"has no node {' and no node '.join(missing)}" if missing else "shares nothing"
        raise FitError(
            f"layout {layout.name!r} {lack}; expected_scores takes a joint layout with the "
            "nodes performance and precision, such as benchmark_scores.recommended_layout()"
        )
    every = score_places(benchmarks, places=places)
    items = every.iloc[:: places + 1]
    asked = Asked.of(fit, items, subjects)
    performance, precision = (layout.nodes[name] for name in _NODES)
    readers = list(asked.readers(asked.features, len(items), _MEMORY))
    found = np.empty((len(asked.names), len(items), 3))
    for row in range(len(asked.names)):
        chances, close = (
            all_draws(readers, row, node, memory_mib=_MEMORY) for node in (performance, precision)
        )
        drawn = arrays.sigmoid(logit(chances)[..., None] + _SCATTER / close[..., None])
        drawn = drawn.reshape(len(items), -1)
        ends = np.quantile(drawn, [tail, 1 - tail], axis=1)
        found[row] = np.stack([drawn.mean(axis=1), *np.rint(ends * places) / places], axis=1)
    index = pd.MultiIndex.from_product(
        [asked.names, items["benchmark"]], names=["subject", "benchmark"]
    )
    return pd.DataFrame(found.reshape(-1, 3), index, ["mean", "low", "high"])
