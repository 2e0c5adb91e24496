"""Where subjects stand: one question, four ways to answer it."""

from collections.abc import Iterable
from typing import Any, Literal

from ..common import options
from ..common.errors import FitError
from ..common.messages import some
from ..evaluations.evaluation import Evaluation
from ..inference.fitting import fit
from ..inference.model.unseen import refuse_unseen
from ..layouts import Layout
from ..layouts.elements import elements
from .estimates import Estimates
from .tables import of_one, of_several

type Method = Literal["likelihood", "collapse", "grid", "nuts"]

_METHODS = ("likelihood", "collapse", "grid", "nuts")


def estimate(
    layout: Layout,
    evaluation: Evaluation,
    *,
    method: Method = "likelihood",
    prob: float = 0.9,
    subjects: Iterable[object] | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int | None = None,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Estimates:
    r"""Estimate where subjects stand, and say whom the data cannot place.

    Each subject's own outcomes count, and nobody else's.

    ``"likelihood"`` takes the maximum of

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    over the whole range of the layout's only latent. All maxima are found and listed, not the one
    next to a start. The standard error is one over the root of the observed information, the
    interval all :math:`\theta` with :math:`\ell(\hat\theta) - \ell(\theta) \le \chi^2_{1,prob}/2`,
    which may be in several pieces.

    ``"collapse"`` takes the middle of the plateau of `point_collapse` whose rate has the highest
    lower limit (Wilson's, of 95 %; of equal ones the widest). It is biased, and has no error.

    ``"grid"`` and ``"nuts"`` take mean, standard deviation and quantiles of the posterior, which
    `fit` integrates, or samples with chains started in every mode; of several latents too.

    A subject of a layout with one latent is not identified, whatever the method, when every value
    is compatible with its outcomes (inside the likelihood's interval); when no limit is set on a
    side; or when two maxima are equal. In a range that ends, no limit is set where the interval
    reaches the end and the likelihood does not fall towards it (by 0.05 nats over the last quarter
    of the piece at that end): the declared range would be the answer, not the data. So a subject
    that solved everything has a lower limit and no estimate. Of a layout with several latents, an
    element is identified when the prior does not dominate it.

    Parameters
    ----------
    layout : Layout
        What joins items and profile; of one latent for the first two methods.
    evaluation : Evaluation
        Items and outcomes.
    method : {"likelihood", "collapse", "grid", "nuts"}
        How.
    prob : float, default 0.9
        Confidence, or mass, of the intervals, in (0, 1).
    subjects : iterable, optional
        Whose; everybody's by default.
    draws, tune, chains, seed, n_jobs, progressbar
        As in `fit`, for ``"grid"`` and ``"nuts"``.

    Returns
    -------
    Estimates
        Of the same form for every method.

    Raises
    ------
    DataError
        When the items do not fit the layout, or a subject is unknown.
    LayoutError
        When a collapse is asked for and the layout is no single band of its latent.
    FitError
        When the method does not work for so many latents or for something unseen of the items, an
        option is out of range, or sampling failed for every subject.

    References
    ----------
    Propensities paper, Eq. 6 and appendix B.3.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import MetaFeature, Propensity, Success
    >>> from measurement_layouts.linking import band
    >>> risk = Propensity("risk", low=-9, high=9)
    >>> low, high = (MetaFeature(end, low=-4, high=4) for end in ("low", "high"))
    >>> layout = Layout("risk", Success("right", band(risk, low, high)))
    >>> items = pd.DataFrame({"low": [-3.0, -1.0, 0.0, 1.0], "high": [0.0, 1.0, 2.0, 3.0]})
    >>> outcomes = pd.DataFrame([[0, 1, 1, 0], [0] * 4], ["Ann", "Bob"])
    >>> found = estimate(layout, Evaluation.from_wide(outcomes, items))
    >>> found
    <Estimates of 'risk' by 'likelihood': 2 subjects, 1 of 2 rows not identified, 90% intervals>
    >>> found.table.set_index("subject")[["estimate", "se", "low", "high"]].round(2)
             estimate    se   low  high
    subject
    Ann          0.49  0.45 -0.26  1.19
    Bob           NaN   NaN   NaN   NaN
    >>> found.unidentified["reason"].item()
    'no success on 4 items: anything below -2.64 or above 2.812 fits'
    """
    if not isinstance(method, str) or method not in _METHODS:
        raise FitError(f"method={method!r}; give {some(map(repr, _METHODS))}")
    prob = options.inside("prob", prob, such_as=0.9)
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    known = [element.name for element in elements(layout)]
    alone = len(layout.latents) == 1 and not layout.latents[0].dims
    if not alone and method in ("likelihood", "collapse"):
        raise FitError(
            f"layout {layout.name!r} has {len(known)} profile elements ({some(known)}), and "
            f"method={method!r} takes a single latent without labels; use method='grid' for up to "
            "two elements, or 'nuts' for any number"
        )
    if alone or method == "grid":
        remedy = "take the posterior, fit(...).profiles()" if alone else "use method='nuts'"
        refuse_unseen(layout, f"estimate with method={method!r}", remedy)
    sampled = None
    if method == "grid" or method == "nuts":
        own: dict[str, Any] = {"tune": tune, "starts": "modes"} if method == "nuts" else {}
        own |= {"draws": draws, "chains": chains, "seed": seed, "n_jobs": n_jobs}
        sampled = fit(layout, chosen, method=method, progressbar=progressbar, **own)
    if sampled is not None and not alone:
        return of_several(sampled, method, prob)
    return of_one(layout, chosen, method, prob, sampled)
