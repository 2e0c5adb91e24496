"""True values to simulate a joint layout from."""

import pandas as pd
import xarray as xr

from ...common import options
from ...common.errors import DataError
from ...inference.population.truth import draw_truths, whole_cohort
from ...layouts import Layout


def draw_truth(
    layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame, *, seed: int
) -> xr.Dataset:
    """Draw all latents of a layout with a population from their priors: shared ones and own ones.

    Parameters
    ----------
    layout : Layout
        One whose subjects share something.
    items, subjects : DataFrame
        Meta-features and categories of items; covariates and categories of subjects. Indexed by
        name; without columns where the layout needs none.
    seed : int
        Of the draw.

    Returns
    -------
    Dataset
        What `simulate` takes: a variable per latent, (plates, labels), with levels as coordinates.

    Raises
    ------
    DataError
        When a column is missing, the properties do not fit the layout, or each subject stands alone
        under it.
    LayoutError
        When a prior cannot be drawn from.

    Examples
    --------
    >>> from measurement_layouts import Bias, Capability, Prior, Spread, Success, simulate
    >>> from measurement_layouts.linking import logistic
    >>> mean = Bias("mean", per="population")
    >>> skill = Capability("skill", prior=Prior("Normal", mu=mean, sigma=1))
    >>> ease = Bias("ease", per="item", prior=Prior("ZeroSumNormal", sigma=Spread("spread")))
    >>> layout = Layout("rasch", Success("solved", logistic(skill + ease)))
    >>> items, subjects = pd.DataFrame(index=["a", "b", "c"]), pd.DataFrame(index=["Ann", "Bob"])
    >>> truth = draw_truth(layout, items, subjects, seed=1)
    >>> dict(truth.sizes)
    {'subject': 2, 'item': 3}
    >>> simulate(layout, items, truth, seed=2)
    <Evaluation: 2 subjects, 3 items, 6 trials, properties none>
    """
    if not layout.joint:
        raise DataError(
            f"under layout {layout.name!r} each subject stands alone, and nothing is shared; give "
            "simulate a DataFrame of profiles"
        )
    cohort = whole_cohort(layout, items, subjects)
    return draw_truths(cohort, 1, options.whole("seed", seed)).isel(draw=0, drop=True)
