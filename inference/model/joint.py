"""Check for functions that can only treat subjects one by one."""

from ...common.errors import FitError
from ...common.messages import some
from ...layouts import Layout


def refuse_joint(layout: Layout, what: str, remedy: str) -> None:
    """Refuse a joint layout, whose subjects are fitted together.

    Parameters
    ----------
    layout : Layout
        The layout to check.
    what : str
        Function that treats each subject alone, for the message.
    remedy : str
        Advice, for the message.

    Raises
    ------
    FitError
        When the layout has a latent with other plates than the subject, or a covariate of subjects.

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
            f"layout {layout.name!r} is fitted to all subjects together, because of {names}, but "
            f"{what} treats each subject alone; {remedy}"
        )
