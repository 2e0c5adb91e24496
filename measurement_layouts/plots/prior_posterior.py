"""Prior and posterior densities of one subject's profile."""

from collections.abc import Sequence

import numpy as np

from ..inference.fit import Fit
from ..inference.posterior.density import densities
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import find_elements
from . import style

_COLUMNS = 4


def prior_posterior(
    fit: Fit,
    subject: object,
    *,
    nodes: str | Sequence[str] | None = None,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw prior and posterior density of one subject's profile, one panel per element.

    The density of the prior is exact; that of the posterior is a kernel estimate, reflected at the
    ends of the range (see `density.density`). If an element is prior-dominated (see `profiles`),
    its posterior is not filled; the panel states this, and also whether there are separate modes. A
    dagger marks a subject that did not converge (see `diagnose`).

    Parameters
    ----------
    fit : Fit
        Fit whose profiles are drawn.
    subject : object
        Subject to draw.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]`` (default: all).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per element. Horizontal axis: the node's range in its unit (for an unbounded node,
        the prior's central 99 %, widened to include the posterior).

    Raises
    ------
    FitError
        When the subject or a node is unknown, or the number of axes is wrong.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> prior_posterior(result, "sim-01", nodes="noiseLevel")[0].get_xlabel()
    'noiseLevel'
    """
    found = find_elements(fit.elements, nodes)
    (name,) = fit.named([subject])
    table = profiles(fit, subjects=[name])
    axes, figure, columns = style.grid(ax, len(found), _COLUMNS, (2.6, 2.2), (0, 0.9), 4.2)
    for place, (element, panel) in enumerate(zip(found, axes, strict=True)):
        curves, colour = densities(fit, element, name), style.colour(element)
        at, learnt = curves["at"].to_numpy(), curves["posterior"].to_numpy()
        panel.plot(at, curves["prior"], color=style.PRIOR, linestyle="--", label="prior")
        panel.plot(at, learnt, color=colour, linewidth=1.8, label="posterior")
        own = rows_of(table, element, [name]).iloc[0]
        said = ["prior-dominated"] * bool(own["prior_dominated"])
        said += ["separate modes"] * bool(own["modes"])
        if said:
            panel.set_title(", ".join(said), fontsize=8, color=style.QUIET)
        if not own["prior_dominated"]:
            panel.fill_between(at, learnt, color=colour, alpha=0.2, linewidth=0)
        panel.set_xlim(at[0], at[-1])
        panel.set_ylim(bottom=0)
        panel.set(yticks=[], xlabel=style.element_label(element))
        if place % columns == 0:
            panel.set_ylabel("density")
        style.quiet_frame(panel, "bottom")
    if figure is not None:
        doubt = verdicts(fit, [name])["status"].iloc[0] == "not converged"
        mark, why = (" †", " († not converged)") if doubt else ("", "")
        style.heading(figure, f"{name}{mark}: prior and posterior{why}")
        style.legend(axes, figure, 2, fontsize=10)
    else:
        axes[0].legend(fontsize=8, frameon=False)
    return axes
