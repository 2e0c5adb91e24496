"""The error for everything wrong with a layout's declaration."""


class LayoutError(ValueError):
    """A layout, or an expression of one, that cannot mean what it says.

    The message names the node, says what it has, what is needed and what to do.
    """
