"""What annotators are asked about and what they cost, as users give it."""

import math
import numbers
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..inference.errors import AnnotationError
from ..layouts.fields import is_broken


def read_texts(items: "Mapping[Any, str] | pd.Series", what: str = "text") -> dict[str, str]:
    """Read items: names as texts, each once, each with a text.

    Parameters
    ----------
    items : mapping or Series
        From each item's name to its text.
    what : str, default "text"
        What it is called.

    Returns
    -------
    dict of str to str
        At least one.

    Raises
    ------
    AnnotationError
        When there is none, or one is there twice, has no text or holds half a character.
    """
    if not isinstance(items, Mapping | pd.Series):
        raise AnnotationError(
            f"items: this is a {type(items).__name__}; give a mapping or a Series from each item's "
            "name to its text"
        )
    found: dict[str, str] = {}
    pairs: list[tuple[Hashable, Any]] = list(items.items())
    for name, text in pairs:
        if str(name) in found:
            raise AnnotationError(f"the item {str(name)!r} occurs more than once; give it once")
        if not isinstance(text, str) or not text.strip():
            raise AnnotationError(f"the item {str(name)!r} has no {what}; give one, or drop it")
        if is_broken(str(name)) or is_broken(text):
            raise AnnotationError(
                f"the item {str(name)!r}: its name or {what} holds half a character, which no file "
                "can; mend it"
            )
        found[str(name)] = text
    if not found:
        raise AnnotationError("no items; give at least one")
    return found


def read_prices(prices: object) -> tuple[float, float] | None:
    """Read the prices per million tokens in and out.

    Parameters
    ----------
    prices : (float, float) or None
        As given.

    Returns
    -------
    (float, float) or None
        As numbers.

    Raises
    ------
    AnnotationError
        When they are something else.
    """
    if prices is None:
        return None
    pair = list(prices) if isinstance(prices, tuple | list) else []
    if len(pair) != 2 or not all(
        isinstance(price, numbers.Real) and 0 <= float(price) < math.inf for price in pair
    ):
        raise AnnotationError(
            f"prices={prices!r}; give two amounts per million tokens, in and out, such as (2, 8)"
        )
    return float(pair[0]), float(pair[1])


def whole(name: str, value: object) -> int:
    """Read a count.

    Parameters
    ----------
    name : str
        What it is called.
    value : int
        As given.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    AnnotationError
        When it is something else.
    """
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or int(value) < 1:  # type: ignore[call-overload]
        raise AnnotationError(f"{name}={value!r}; give a whole number of at least 1")
    return int(value)  # type: ignore[call-overload,no-any-return]
