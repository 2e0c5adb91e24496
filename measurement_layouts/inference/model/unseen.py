"""Check for methods that cannot average over unseen or measured properties of items."""

from ...common.errors import FitError
from ...layouts import Layout


def refuse_unseen(layout: Layout, what: str, remedy: str, trials: int = 1) -> None:
    """Refuse a layout under which the trials of an item depend on each other.

    Parameters
    ----------
    layout : Layout
        The layout to check.
    what : str
        Method that assumes independent trials, for the message.
    remedy : str
        Advice, for the message.
    trials : int
        Largest number of trials of an item.

    Raises
    ------
    FitError
        When the layout has an unseen property, or a measured one and items with several trials.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success, Unseen
    >>> from measurement_layouts.linking import logistic
    >>> hard = Unseen("hard", 0.0, 1.0)
    >>> layout = Layout("x", Success("ok", logistic(Capability("skill", 0, 9) - hard)))
    >>> refuse_unseen(layout, "criticise", "fit items of one trial each")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.FitError: hard is unseen in layout 'x': all trials of ...
    """
    unseen = (layout.several if trials > 1 else layout).outcome.unseen
    if unseen is not None:
        kind = "measured" if layout.measured else "unseen"
        raise FitError(
            f"{unseen.name} is {kind} in layout {layout.name!r}: all trials of an item share it, "
            f"but {what} assumes that they are independent; {remedy}"
        )
