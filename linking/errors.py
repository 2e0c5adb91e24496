"""The error for everything wrong with a layout's declaration."""

from .texts import ReadableError


class LayoutError(ReadableError, ValueError):
    """A layout, or an expression of one, that cannot mean what it says.

    The message names the node, says what it has, what is needed and what to do.
    """
