"""Layouts whose subjects are fitted together, and functions that take one subject at a time."""

from ...common.errors import FitError
from ...common.messages import some
from ...layouts import Layout


def refuse_joint(layout: Layout, what: str, remedy: str) -> None:
    """Refuse a layout whose subjects share something.

    Parameters
    ----------
    layout : Layout
        Any.
    what : str
        Which takes each subject on its own.
    remedy : str
        What to do instead.

    Raises
    ------
    FitError
        When some latent belongs not to subjects alone, or depends on their covariates.

    Examples
    --------
    >>> from measurement_layouts import Bias, Capability, Success
    >>> from measurement_layouts.linking import logistic
    >>> skill, ease = Capability("skill", -3, 3), Bias("ease", per="item")
    >>> layout = Layout("rasch", Success("ok", logistic(skill + ease)))
    >>> refuse_joint(layout, "estimate", "use ml.fit")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.FitError: layout 'rasch' is fitted to all subjects together...
    """
    if layout.joint:
        shared = [latent.name for latent in layout.latents if not latent.is_profile]
        names = some([*shared, *(covariate.name for covariate in layout.covariates)], 3)
        raise FitError(
            f"layout {layout.name!r} is fitted to all subjects together, because of {names}, and "
            f"{what} takes each subject on its own; {remedy}"
        )
