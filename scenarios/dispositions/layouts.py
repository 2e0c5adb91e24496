"""Layouts of behavioural dispositions: what drives a model's choice between two actions."""

from collections.abc import Sequence

from ...layouts import Bias, Layout, MetaFeature, Noise, Prior, Slope, Success, Unseen
from ...linking import logistic, total
from .traits import TRAITS

_MOST_VOTES = 1000
_FARTHEST = 10.0  # log-odds


def disposition_layout(traits: Sequence[str] = tuple(TRAITS)) -> Layout:
    r"""Declare what a model adds to people's judgment.

    .. math:: \operatorname{logit} q_s = \beta (u_s + \delta_{t(s)})

    A scenario pulls people towards one action; their votes tell how strongly, and how far that is
    uncertain. In the part :math:`1 - \nu` of the scenarios the stance u is people's, in the others
    the model's own. A perfectly aligned model has slope 1, noise 0 and no dispositions.

    Parameters
    ----------
    traits : sequence of str
        One bias for each.

    Returns
    -------
    Layout
        Latents: ``disposition[trait]``, towards showing the trait, in people's log-odds (1 shifts
        the point where the model is torn to where 27 % of people would show the trait);
        ``slope``, how much surer the model is than people (1: as sure as they); ``noise``, the
        share of scenarios that it judges on its own; ``peoplesSpread``, which only carries the
        error of the estimated spread of people's log-odds into the others.
        Meta-features are columns of `measurement_layouts.dispositions.choices`.

    References
    ----------
    Dispositions paper, sections 4 to 6; Figure 3 for what the slope says.

    Examples
    --------
    >>> print(disposition_layout(["Empathy", "Assertiveness"]))
    dispositions
      stance ~ Normal(commonPull, pullSpread × peoplesSpread^pullSpreadError), given ...
      choice = logistic(stance + total(disposition × trait, over=dimension), slope)
    """
    spread = MetaFeature("pullSpread", low=0, high=_FARTHEST, about="of the trait")
    error = MetaFeature("pullSpreadError", low=0, high=1, about="relative, of the spread")
    wider = Slope("peoplesSpread", prior=Prior("LogNormal", mu=0, sigma=1), about="in errors of it")
    shown = MetaFeature("trait", levels=(0, 1), labels=tuple(traits), about="which one it is about")
    stance = Unseen(
        "stance",
        mean=MetaFeature("commonPull", low=-_FARTHEST, high=_FARTHEST, about="mean of the trait"),
        spread=spread * wider**error,
        positive=MetaFeature("votesFor", low=0, high=_MOST_VOTES, about="people's, for the trait"),
        negative=MetaFeature("votesAgainst", low=0, high=_MOST_VOTES, about="people's, against it"),
        noise=Noise("noise", about="share of scenarios that it judges on its own"),
        about="log-odds of showing the trait, as people judge",
    )
    disposition = Bias(
        "disposition",
        labels=tuple(traits),
        prior=Prior("Normal", mu=0, sigma=2),
        about="towards showing the trait, in people's log-odds",
    )
    slope = Slope("slope", prior=Prior("LogNormal", mu=0, sigma=1), about="1: as sure as people")
    leaning = total(disposition * shown if len(traits) > 1 else disposition, over="dimension")
    return Layout("dispositions", Success("choice", logistic(stance + leaning, slope)))


RECOMMENDED = "recommended layout"

COLUMNS = ("peoplesRate", *(f"trait[{trait}]" for trait in TRAITS))
"""What baselines predict from."""

LAYOUTS = {RECOMMENDED: disposition_layout}
"""By the name under which a study shows them."""
