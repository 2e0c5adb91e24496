"""Layouts whose items have something unseen, and methods that cannot average over it."""

from ...common.errors import FitError
from ...layouts import Layout


def refuse_unseen(layout: Layout, what: str, remedy: str, trials: int = 1) -> None:
    """Refuse a layout under which the trials of an item depend on each other.

    Parameters
    ----------
    layout : Layout
        Any.
    what : str
        Which takes them as independent.
    remedy : str
        What to do instead.
    trials : int
        Most trials of an item.

    Raises
    ------
    FitError
        When something is unseen of its items, or measured where an item has several trials.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success, Unseen
    >>> from measurement_layouts.linking import logistic
    >>> hard = Unseen("hard", 0.0, 1.0)
    >>> layout = Layout("x", Success("ok", logistic(Capability("skill", 0, 9) - hard)))
    >>> refuse_unseen(layout, "method='grid'", "use method='nuts'")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.FitError: hard is unseen in layout 'x': all trials of ...
    """
    unseen = (layout.several if trials > 1 else layout).outcome.unseen
    if unseen is not None:
        known = "measured" if layout.measured else "unseen"
        raise FitError(
            f"{unseen.name} is {known} in layout {layout.name!r}: all trials of an item share it, "
            f"and {what} takes them as independent of each other; {remedy}"
        )
