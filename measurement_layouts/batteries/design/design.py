"""Design of batteries: the items of a bank that are most informative about a layout's latents."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ...common import options
from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.given import refuse_no_layout
from ...evaluations.steps import of_rows, rows_per_item
from ...evaluations.tables import named, need_columns
from ...inference.model.features import read_features
from ...inference.posterior.posterior import Posterior, posterior_draws
from ...layouts import Layout
from ...layouts.elements import elements
from ...linking import LayoutError, units
from ..information.expected import CONFOUNDED, DRAWS, Uncertainty, correlation_of, divergence, near
from ..information.sensitivity import Sensitivity
from ..targets import read_costs, read_target
from .gains import Gains
from .result import Design

_HELD = 2.0e7  # scaled slopes that are held
_FEWEST = 40  # draws
_POINTS = 24  # of the curve
_MIDDLE = 0.8  # of the subjects


def design(
    layout: Layout,
    bank: pd.DataFrame,
    n: int = 150,
    *,
    target: str | Sequence[str] | Mapping[str, float] | None = None,
    costs: str | Mapping[object, float] | pd.Series | None = None,
    quotas: Mapping[str, int | Mapping[object, int]] | None = None,
    given: Posterior | None = None,
    subject: str | None = None,
    seed: int = 1,
) -> Design:
    r"""Choose items that are expected to leave the least uncertainty about a profile.

    .. math:: \min \; E_\theta \sum_k w_k \frac{s_k(\theta)}{s_{0k}}

    with the expected posterior standard deviations s of `check`, those before any item
    :math:`s_0`, and the target's weights w. The expectation is over subjects drawn from the prior
    and their answers. Items are chosen one after the other, each the one with the highest gain (per
    cost). The results about the battery are computed from other draws of the profile than the
    choice.

    Parameters
    ----------
    layout : Layout
        The layout.
    bank : DataFrame
        One row per item, indexed by name, with the columns of the layout's meta-features.
    n : int, default 150
        Number of items. Fewer are chosen when the bank or `quotas` are used up.
    target : str, sequence of str or mapping of str to float, optional
        Latents, or elements ``node[label]``, whose uncertainty is to be reduced, or their weights
        (default: all elements of the profile with equal weights).
    costs : str, mapping or Series, optional
        Costs of the items: a column of the bank, or costs by name. Items are then chosen by gain
        per cost.
    quotas : mapping of str to int or mapping, optional
        Largest number of items, by column of the bank: with each of its values, as in
        ``{"source": 20}``, or with the values that are named, as in ``{"task": {"sums": 5}}``.
    given : Fit, optional
        Fit of the same layout. The posterior of one of its subjects replaces the prior.
    subject : str, optional
        Name of the subject, needed if `given` has several.
    seed : int, default 1
        Seed of the draws of the profile.

    Returns
    -------
    Design
        The battery, standard deviations before and after, confounded elements, and a curve.

    Raises
    ------
    DataError
        When the bank does not fit the layout, costs are not positive numbers, or the bank lacks a
        column or value of the quotas.
    FitError
        When a name is no profile element, a number is out of range, or `given` is not a fit of the
        layout, has no such subject, or several and none is named.
    LayoutError
        When `layout` is something else, subjects share something in the layout, the layout has an
        `Unseen` node or measured demands, or a prior cannot be drawn from.

    Notes
    -----
    If the gains of items decrease as others are chosen, a greedy choice reaches at least 63 % of
    the largest reduction. The gains of items with several needed capabilities need not decrease, so
    that there is no such bound. On banks of 9 items the result was within 5 % of the best of all
    subsets. With bands, posteriors have several modes, and a normal approximation overestimates the
    information of narrow symmetric bands; therefore see
    `measurement_layouts.batteries.information.expected.Uncertainty`.

    References
    ----------
    Chaloner and Verdinelli (1995), Bayesian experimental design: a review, Statistical Science 10.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=10)
    >>> smallness = MetaFeature("smallness", low=0, high=10)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)}, index=range(41))
    >>> design(layout, bank, n=8)
    <Design for 'looking': 8 items of 41, sight 2.9 -> 0.96>
    """
    refuse_no_layout(layout)
    n, seed = options.whole("n", n, 1), options.whole("seed", seed)
    _refuse_others(layout)
    bank = named(bank, "bank", "item")
    profiles = _profiles(layout, given, subject)
    prices, room = read_costs(bank, costs), _room(bank, quotas or {})
    profile = elements(layout)
    wanted = read_target(profile, target) or dict.fromkeys([one.name for one in profile], 1.0)
    weights = np.array([wanted.get(element.name, 0.0) for element in profile])
    weights /= weights.sum()
    most = _HELD / (len(bank) * rows_per_item(layout) * len(weights))
    source, rows = _over(layout, bank, profiles, int(np.clip(most, _FEWEST, DRAWS)), seed)
    with threadpool_limits(1, user_api="blas"):  # small matrices: threads would wait, not work
        choices = _choose(Gains(source, weights), rows, n, prices, room)
        if not choices:
            raise FitError(f"quotas={quotas!r} leave no item; give larger ones")
        return _expected_results(layout, bank, profiles, choices, prices, weights, seed + 1)


def _refuse_others(layout: Layout) -> None:
    """Refuse layouts that a battery cannot be designed for."""
    if layout.joint:
        shared = [latent.name for latent in layout.latents if not latent.is_profile]
        shared += [covariate.name for covariate in layout.covariates]
        raise LayoutError(
            f"layout {layout.name!r}: its subjects share {some(shared)}; give a layout with "
            "numbers in place of these, or choose items by AdaptiveTest(layout, bank, given=fit)"
        )
    if layout.outcome.unseen is not None:
        raise LayoutError(
            f"layout {layout.name!r}: {layout.outcome.unseen.name} is unseen, so that trials of an "
            "item are not independent, and the information of items cannot be added; give a layout "
            "without it"
        )


def _profiles(layout: Layout, given: Posterior | None, subject: str | None) -> np.ndarray | None:
    """Read the posterior draws of the subject to start from; None for the prior."""
    if given is None:
        return None
    if given.layout.fingerprint != layout.fingerprint:
        raise FitError(
            f"given is a fit of layout {given.layout.name!r}, and the battery is for another "
            f"one, {layout.name!r}; give a fit of the same layout"
        )
    if subject is None and len(given.subjects) > 1:
        raise FitError(
            f"given has {len(given.subjects)} subjects, {some(given.subjects)}; name the "
            "one to start from, as subject="
        )
    (name,) = given.named(given.subjects if subject is None else [subject])
    return np.stack([posterior_draws(given, element, name) for element in given.elements], axis=1)


def _over(
    layout: Layout, bank: pd.DataFrame, profiles: np.ndarray | None, draws: int, seed: int
) -> tuple[Sensitivity, np.ndarray]:
    """Compute how success on a bank depends on the profile, and which of the rows each item has."""
    features, count = read_features(layout, bank), len(bank)
    if layout.steps is not None:
        features = of_rows(layout.steps, features, count)
        count *= len(layout.steps.rows)
    source = Sensitivity.of(layout, features, count, draws, seed, profiles)
    return source, source.evaluator.row.reshape(len(bank), -1)


def _room(
    bank: pd.DataFrame, quotas: Mapping[str, int | Mapping[object, int]]
) -> list[tuple[np.ndarray, int]]:
    """Read quotas as masks of items with the largest number of them."""
    need_columns(bank.columns, list(quotas), "the bank has")
    room = []
    for column, quota in quotas.items():
        values = bank[column]
        limits = quota if isinstance(quota, Mapping) else dict.fromkeys(values.unique(), quota)
        for value, most in limits.items():
            items = (values == value).to_numpy()
            if not items.any():
                raise DataError(
                    f"quotas: no item has {value!r} in {column}, but {some(values.unique())}; name "
                    "one of these"
                )
            room.append((items, options.whole(f"quotas of {column}, {value!r}", most)))
    return room


def _choose(
    gains: Gains,
    rows: np.ndarray,
    n: int,
    prices: np.ndarray,
    room: list[tuple[np.ndarray, int]],
) -> list[tuple[int, float]]:
    """Choose the item with the highest gain per cost, one after the other; items and gains."""
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    kind, choices = kind.ravel(), list[tuple[int, float]]()
    is_open = np.ones(len(rows), dtype=bool)
    for _ in range(n):
        for items, most in room:
            is_open &= ~items | (sum(items[item] for item, _ in choices) < most)
        if not is_open.any():
            break
        gain = gains.of_rows(kinds.ravel()).reshape(kinds.shape).sum(axis=1)[kind]
        best = int(np.where(is_open, gain / prices, -np.inf).argmax())
        gains.add(kinds[kind[best]])
        is_open[best] = False
        choices.append((best, float(gain[best])))
    return choices


def _expected_results(
    layout: Layout,
    bank: pd.DataFrame,
    profiles: np.ndarray | None,
    choices: list[tuple[int, float]],
    prices: np.ndarray,
    weights: np.ndarray,
    seed: int,
) -> Design:
    """Compute the expected results of a battery at draws that the choice did not use."""
    items, gains = (np.array(values) for values in zip(*choices, strict=True))
    columns = [column for feature in layout.meta_features for column in feature.columns]
    chosen, names = bank.iloc[items], [element.name for element in elements(layout)]
    order = {"order": np.arange(1, len(items) + 1), "gain": gains, "cost": prices[items]}
    battery = pd.concat(
        [pd.DataFrame(order, chosen.index), chosen.drop(columns=[*order], errors="ignore")], axis=1
    )
    source, rows = _over(layout, chosen, profiles, DRAWS, seed)
    information = np.zeros((DRAWS, len(weights), len(weights)))
    evidence = np.zeros((DRAWS, DRAWS))
    points = np.linspace(0, len(items), min(len(items), _POINTS) + 1).round().astype(int)
    curve, done = [], 0
    for point in points:
        counts = np.bincount(rows[done:point].ravel(), minlength=source.count).astype(float)
        information += (source.scaled.transpose(0, 2, 1) * counts) @ source.scaled
        evidence += divergence(source.chance, source.tried * counts)
        covariance, done = near(information, source), point
        sd = np.sqrt(Uncertainty.of(covariance, evidence, source).variance)
        curve.append(sd.mean(axis=0))
    low, high = np.quantile(sd, [(1 - _MIDDLE) / 2, (1 + _MIDDLE) / 2], axis=0)
    latents = pd.DataFrame(
        {
            "unit": [units.name(element.latent.unit) for element in elements(layout)],
            "weight": weights,
            "before": source.spread,
            "after": curve[-1],
            "low": low,
            "high": high,
            "shrinkage": 1 - (curve[-1] / source.spread) ** 2,
        },
        pd.Index(names, name="node"),
    )
    return Design(
        layout.name,
        battery,
        latents,
        _confounded(correlation_of(covariance), names),
        pd.DataFrame(curve, pd.Index(points, name="n"), names),
        bank[columns],
    )


def _confounded(correlation: np.ndarray, names: list[str]) -> pd.DataFrame:
    """List pairs of elements with a strong expected posterior correlation."""
    first, second = np.triu_indices(len(names), 1)
    pairs = pd.DataFrame({"node": np.array(names)[first], "with": np.array(names)[second]})
    pairs["correlation"] = correlation[first, second]
    order = pairs["correlation"].abs().sort_values(ascending=False, kind="stable")
    return pairs.loc[order.index[order > CONFOUNDED]].reset_index(drop=True)
