"""Short lists for error messages."""

from collections.abc import Iterable


def some(values: Iterable[object], limit: int = 5) -> str:
    """Write the first few values and how many more there are."""
    found = [str(value) for value in values]
    shown = ", ".join(found[:limit])
    return shown if len(found) <= limit else f"{shown} and {len(found) - limit} more"
