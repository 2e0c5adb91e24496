"""Reading of meta-features: checked arrays of values from the columns of items."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import refuse_other_rows
from ...evaluations.tables import name_cells, named, need_columns, read_numbers
from ...evaluations.words import no_numbers
from ...layouts import Layout, Measured, MetaFeature
from ...layouts.opposed import opposed
from .alignment import Features, defined
from .bands import refuse_reversed
from .finite import refuse_infinite
from .variation import needing

_TOTAL = 1e-6  # largest rounding error of the sum of probabilities
_ROUNDING = 1e-9  # largest rounding error of a value, as a part of the range or of a level


def read_features(layout: Layout, items: pd.DataFrame) -> Features:
    """Read the layout's meta-features from the items' columns.

    Where a meta-feature is undefined, because its presence flag is 0, its column is not read and a
    constant is used instead, on which the outcome does not depend.

    Parameters
    ----------
    layout : Layout
        Layout with the meta-features.
    items : DataFrame
        Properties of the items, indexed by item. Other columns are ignored.

    Returns
    -------
    dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels), float.

    Raises
    ------
    DataError
        When a column is missing or repeated, or a value is not a number, is missing where it is
        defined, is infinite although the range is finite, or is not one of the levels. Also when
        the probabilities of a measured demand's levels do not add up to 1, the ends of a band are
        reversed, a part of the formula is infinite or undefined, the items are not a DataFrame, or
        their names are repeated. The message names columns and rows.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> sight = Capability("sight", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> items = pd.DataFrame({"colour": ["red", "blue"], "smallness": [0.1, 1.9]})
    >>> read_features(layout, items)
    {'smallness': array([0.1, 1.9])}
    """
    table = named(items, "items", "item")
    features: Features = {}
    for measured in layout.measured:
        _need_chances(measured, table)
    for feature in layout.meta_features:
        _add(feature, table, features)
    for measured in layout.measured:
        _refuse_totals(measured, table.index, features)
    refuse_reversed(layout, table.index, features)
    refuse_infinite(layout, table.index, features)
    return {feature.name: features[feature.name] for feature in layout.meta_features}


def read_covariates(layout: Layout, subjects: pd.DataFrame) -> Features:
    """Read a layout's covariates from the subjects' columns.

    Their shape is (subjects,) or (subjects, labels).

    Raises
    ------
    DataError
        When a column is missing or repeated, or a value is missing, is not a number, is infinite
        although the range is finite, or is not one of the levels.
    """
    everybody = np.ones(len(subjects), dtype=bool)
    return {
        covariate.name: _read(covariate, subjects, everybody, "subject")
        for covariate in layout.covariates
    }


def read_training_features(layout: Layout, evaluation: Evaluation) -> Features:
    """Read the meta-features of the items of a fit, and check that they can be fitted.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    """
    features, rows = read_evaluation(layout, evaluation), evaluation.rows
    first = slice(None) if rows is None else np.unique(rows.places, return_index=True)[1]
    items = {feature.name: features[feature.name][first] for feature in layout.meta_features}
    check_training(layout, evaluation.item_table, items)
    return features


def read_evaluation(layout: Layout, evaluation: Evaluation) -> Features:
    """Read the meta-features of an evaluation's rows.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    """
    steps, rows = layout.steps, evaluation.rows
    refuse_other_rows(layout, rows)
    features = read_features(layout, evaluation.item_table)
    if steps is None or rows is None:
        return features
    spread = {name: values[rows.places] for name, values in features.items()}
    return spread | steps.hidden(rows.rows_of(steps))


def outside_range(layout: Layout, features: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Find the items with a value outside the declared range of a meta-feature.

    Parameters
    ----------
    layout : Layout
        Layout with the ranges.
    features : mapping of str to ndarray
        Values by meta-feature, from `read_features`.

    Returns
    -------
    DataFrame
        Boolean, one row per item in order, one column per meta-feature. Values count as inside if
        they are beyond an end by no more than rounding (1e-9 of the range).

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> sight = Capability("sight", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> outside_range(layout, {"smallness": np.array([0.1, 2.5])})["smallness"].tolist()
    [False, True]
    """
    columns = {}
    for feature in layout.meta_features:
        values, declared = features[feature.name], feature.range
        slack = _ROUNDING * (declared.high - declared.low) if declared.is_finite else 0.0
        outside = (values < declared.low - slack) | (values > declared.high + slack)
        columns[feature.name] = outside.any(axis=tuple(range(1, values.ndim)))
    return pd.DataFrame(columns)


def check_training(layout: Layout, items: pd.DataFrame, features: Mapping[str, np.ndarray]) -> None:
    """Refuse items outside the declared ranges, and constant demands that latents need to vary.

    A demand may be constant or undefined where no latent needs it to vary: a capability can be
    inferred from items of one demand, but not together with a slope. See `variation.needing`.

    Parameters
    ----------
    layout : Layout
        Layout with the ranges.
    items : DataFrame
        Properties of the items, indexed by item, for the message.
    features : mapping of str to ndarray
        Values by meta-feature, from `read_features`.

    Raises
    ------
    DataError
        When a value is outside its range; or when a demand is undefined on all items, or has the
        same value wherever it is defined, and latents can only be inferred if it varies. The
        message names the meta-feature, the items and the latents.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> sight = Capability("sight", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> items = pd.DataFrame({"smallness": [0.1, 2.5]}, index=["ball", "pin"])
    >>> check_training(layout, items, read_features(layout, items))
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: smallness: 1 training item(s) lie outside ...
    """
    outside = outside_range(layout, features)
    demands = opposed(layout)
    for feature in layout.meta_features:
        values = features[feature.name]
        if outside[feature.name].any():
            rows = items.index[outside[feature.name].to_numpy()]
            raise DataError(
                f"{feature.name}: {len(rows)} training item(s) lie outside its declared range "
                f"{feature.range}: {some(rows)}; widen the range in the declaration of the node, "
                "or leave out those items"
            )
        if feature.name not in demands:
            continue
        is_defined = defined(feature, features, len(items))
        where = "" if feature.given is None else f" where {feature.given} is not 0"
        values = values[is_defined]
        if len(values) and not (np.isfinite(values).all() and (values == values[0]).all()):
            continue
        if not (need := needing(layout, feature, features)):
            continue
        if not is_defined.any():
            raise DataError(
                f"{feature.name} is undefined on all {len(items)} items, because {feature.given} "
                f"is 0, so that its effect on subjects cannot be inferred, nor {some(need)}; add "
                "items on which it is defined, or leave it out of the layout"
            )
        value = some(f"{number:g}" for number in np.ravel(values[0]))
        on = "the only item" if len(values) == 1 else f"all {len(values)} items"
        raise DataError(
            f"{feature.name} is {value} on {on}{where}: the effect of a demand that does not "
            f"vary cannot be inferred, and {some(need)} cannot without it; add items with "
            "other values, or give the layout numbers instead of some of these"
        )


def _need_chances(node: Measured, items: pd.DataFrame) -> None:
    """Refuse items without the probabilities of a measured demand's levels."""
    columns = [name for chance in node.chances for name in chance.columns]
    missing = [name for name in columns if name not in items.columns]
    if missing:
        raise DataError(
            f"{node.name} is measured, but the items have no column {some(missing)} with the "
            "probability of a level; add the columns with evaluation.with_measured(demands), or "
            "items.join(measured_columns(demands)) for items to forecast, with the levels "
            f"{', '.join(f'{level:g}' for level in node.levels)}"
        )


def _refuse_totals(node: Measured, items: pd.Index, features: Features) -> None:
    """Refuse probabilities of levels that are negative or do not add up to 1."""
    chances = [features[chance.name].reshape(len(items), -1) for chance in node.chances]
    totals = np.sum(chances, axis=0)
    bad = ~(abs(totals - 1) <= _TOTAL) | (np.min(chances, axis=0) < 0)
    if bad.any():
        cells = [
            f"{items[row]} ({node.columns[at]}: {totals[row, at]:g})"
            for row, at in np.argwhere(bad)
        ]
        raise DataError(
            f"{node.name}: the probabilities of its levels are negative or do not add up to 1 in "
            f"{len(cells)} cell(s): {some(cells)}; correct them, and declare all levels that the "
            "annotators chose from"
        )


def _add(feature: MetaFeature, items: pd.DataFrame, features: Features) -> None:
    """Read a meta-feature, after its presence flag."""
    if feature.name in features:
        return
    if feature.given is not None:
        _add(feature.given, items, features)
    features[feature.name] = _read(feature, items, defined(feature, features, len(items)))


def _read(
    feature: MetaFeature, items: pd.DataFrame, is_defined: np.ndarray, whose: str = "item"
) -> np.ndarray:
    need_columns(items.columns, feature.columns, f"{feature.name}: the {whose}s have")
    table = items[list(feature.columns)]
    values, foreign = read_numbers(table)
    values[~is_defined], foreign[~is_defined] = feature.stand_in, False

    def refuse(bad: np.ndarray, what: str, remedy: str, remark: str = "") -> None:
        if bad.any():
            cells = f"{name_cells(table, bad, '{} ({} = {})')}{remark}"
            raise DataError(f"{feature.name} {what} on {bad.sum()} {whose}(s): {cells}; {remedy}")

    texts, remark = no_numbers(table, foreign)
    refuse(
        texts,
        "is not a number",
        "convert the column (pandas.to_numeric), or code categories as numbers and declare them as "
        "levels=",
        remark,
    )
    if feature.given is None:
        remedy = f"fill it in, leave out the {whose}, or declare with given= where it is undefined"
    else:
        remedy = (
            f"fill it in, or leave out the item: with given={feature.given}, a value may be "
            f"missing only where {feature.given} is 0"
        )
    refuse(np.isnan(values), "is missing (NaN)", remedy)
    low, high = feature.range.low, feature.range.high
    infinite = ((values == np.inf) & np.isfinite(high)) | ((values == -np.inf) & np.isfinite(low))
    refuse(infinite, "is infinite", "give a finite number, or declare an infinite range")
    if feature.levels is not None:
        levels = np.array(feature.levels)
        nearest = levels[np.abs(values[..., None] - levels).argmin(axis=-1)]
        shown = ", ".join(f"{level:g}" for level in levels)
        # a float32 column has 7 digits
        unknown = ~np.isclose(values, nearest, rtol=1e-6, atol=_ROUNDING)
        refuse(
            unknown, f"is not one of its levels {shown}", f"correct the {whose}, or add the level"
        )
        values = nearest
    return values if feature.labels is not None else values[:, 0]
