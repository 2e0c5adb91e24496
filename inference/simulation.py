"""Outcomes of subjects whose profile is known."""

import numpy as np
import pandas as pd

from ..layouts import Layout
from .data import Evaluation
from .errors import DataError
from .features import Features, read_features
from .forecasting import success_probability
from .wording import some


def simulate(
    layout: Layout, items: pd.DataFrame, profiles: pd.DataFrame, *, seed: int, trials: int = 1
) -> Evaluation:
    """Draw outcomes of subjects with known profiles.

    Parameters
    ----------
    layout : Layout
        What joins items and profiles.
    items : DataFrame
        Meta-features, indexed by item.
    profiles : DataFrame
        One row per subject, a column per profile element (``name[label]`` for labelled ones).
    seed : int
        Of the outcomes.
    trials : int
        Attempts per item.

    Returns
    -------
    Evaluation
        Where noise pulls towards the subject's own mean failure, that constant solves its own
        equation: it is one minus the expected success it leads to.

    Raises
    ------
    DataError
        When a column is missing, or the items do not fit the layout.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness, slope=9)))
    >>> items = pd.DataFrame({"smallness": [0.1, 1.9]}, index=["ball", "pin"])
    >>> simulate(layout, items, pd.DataFrame({"sight": [1.0]}, index=["Ann"]), seed=1).successes
    item     ball  pin
    subject
    Ann         1    0
    """
    features = read_features(layout, items)
    rng = np.random.default_rng(seed)
    probability = np.stack(
        [expected_success(layout, features, row) for _, row in profiles.iterrows()]
    )
    successes = rng.binomial(trials, probability)
    table = pd.DataFrame(successes, index=profiles.index, columns=items.index)
    return Evaluation(items, table, pd.DataFrame(trials, index=table.index, columns=table.columns))


def expected_success(layout: Layout, features: Features, profile: pd.Series) -> np.ndarray:
    """Probability of success per item of a subject with one known profile."""
    known: Features = {}
    for latent in layout.latents:
        labels = [label for names in latent.dims.values() for label in names]
        columns = [f"{latent.name}[{label}]" for label in labels] or [latent.name]
        missing = [column for column in columns if column not in profile.index]
        if missing:
            raise DataError(f"the profile has no {some(missing)}; it has {some(profile.index, 12)}")
        values = profile[columns].to_numpy(dtype=float)
        known[latent.name] = values[None, :] if labels else values
    failure = 0.5
    for _ in range(200):  # noise below 1 makes each step contract
        constants = {constant.name: failure for constant in layout.constants}
        probability = success_probability(layout, features, known, constants)[0]
        settled = abs(1 - probability.mean() - failure) < 1e-12
        failure = (failure + 1 - probability.mean()) / 2
        if settled or not layout.constants:
            break
    return probability
