"""The error that is raised when the declaration of a layout is wrong."""

from .texts import ReadableError


class LayoutError(ReadableError, ValueError):
    """Error in the declaration of a layout or of one of its expressions.

    The message names the node, and states what it has, what is needed and what to do.
    """
