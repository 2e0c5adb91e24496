"""True values from which a joint layout is simulated."""

import pandas as pd
import xarray as xr

from ...common import options
from ...common.errors import DataError
from ...evaluations.given import refuse_no_layout
from ...inference.model.cohort import Cohort
from ...inference.population.truth import draw_truths
from ...layouts import Layout


def draw_truth(
    layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame, *, seed: int
) -> xr.Dataset:
    """Draw all latents of a joint layout from their priors.

    Parameters
    ----------
    layout : Layout
        A joint layout.
    items, subjects : DataFrame
        Meta-features and categories of items; covariates and categories of subjects. Both are
        indexed by name; they have no columns where the layout needs none.
    seed : int
        Seed of the draw.

    Returns
    -------
    Dataset
        True values for `simulate`: one variable per latent, with dimensions (plates, labels) and
        levels as coordinates.

    Raises
    ------
    DataError
        When a column is missing, the properties do not match the layout, or the layout is not a
        joint one.
    FitError
        When `seed` is not a whole number.
    LayoutError
        When `layout` is something else, or a prior cannot be drawn from.

    Examples
    --------
    >>> from measurement_layouts import Capability, Effect, Prior, Spread, Success, simulate
    >>> from measurement_layouts.linking import logistic
    >>> mean = Effect("mean")
    >>> skill = Capability("skill", prior=Prior("Normal", mu=mean, sigma=1))
    >>> ease = Effect("ease", per="item", prior=Prior("ZeroSumNormal", sigma=Spread("spread")))
    >>> layout = Layout("rasch", Success("solved", logistic(skill + ease)))
    >>> items, subjects = pd.DataFrame(index=["a", "b", "c"]), pd.DataFrame(index=["Ann", "Bob"])
    >>> truth = draw_truth(layout, items, subjects, seed=1)
    >>> dict(truth.sizes)
    {'subject': 2, 'item': 3}
    >>> simulate(layout, items, truth, seed=2)
    <Evaluation: 2 subjects, 3 items, 6 trials, properties none>
    """
    refuse_no_layout(layout)
    if not layout.joint:
        raise DataError(
            f"layout {layout.name!r} is fitted to each subject separately and shares nothing "
            "between subjects; pass simulate a DataFrame of profiles"
        )
    cohort = Cohort.of_tables(layout, items, subjects)
    return draw_truths(cohort, 1, options.whole("seed", seed)).isel(draw=0, drop=True)
