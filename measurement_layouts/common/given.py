"""Refusal of arguments of another kind than the one that is needed."""

from types import UnionType

from .errors import DataError


def kind_of(value: object) -> str:
    """Write the type of a value, with its article.

    Examples
    --------
    >>> kind_of("Ann"), kind_of(3), kind_of(None)
    ('a str', 'an int', 'None')
    """
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'AEIOUaeio' else 'a'} {name}"


def refuse_other(
    name: str,
    value: object,
    kinds: type | UnionType,
    needed: str,
    remedy: str,
    refusal: type[Exception] = DataError,
) -> None:
    """Refuse a value of another kind.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : object
        What is given.
    kinds : type
        Kinds that are accepted.
    needed, remedy : str
        What is needed, with its article, and what to do.
    refusal : type of Exception
        Error to raise.

    Raises
    ------
    DataError
        Or the other error, when the value is of none of these kinds.

    Examples
    --------
    >>> refuse_other("path", 3, str, "a path", "give that of a saved fit")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: path: this is an int, not a path; give that of ...
    """
    if not isinstance(value, kinds):
        raise refusal(f"{name}: this is {kind_of(value)}, not {needed}; {remedy}")
