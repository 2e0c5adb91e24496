"""Columns that an assessor predicts from."""

from collections.abc import Iterable

from ..tables import refuse_repeats


def names_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Read names of columns, each once; a single text is one name.

    Raises
    ------
    DataError
        When a name occurs twice.

    Examples
    --------
    >>> names_of("size"), names_of(["size", "hue"])
    (('size',), ('size', 'hue'))
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    refuse_repeats(names, "column", "the columns to predict from")
    return names
