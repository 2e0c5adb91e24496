"""Prior and posterior densities of one subject's profile."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..inference.fit import Fit
from ..inference.posterior.density import densities
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import find_elements
from . import style
from .lines import Look, lines


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
    elements = find_elements(fit.elements, nodes)
    (name,) = fit.named([subject])
    table = profiles(fit, subjects=[name])
    frames, titles = [], {}
    looks = {"prior": Look(style.PRIOR, "prior", "--")}
    for element in elements:
        profile = rows_of(table, element, [name]).iloc[0]
        curves = densities(fit, element, name)
        fill = np.nan if profile["prior_dominated"] else curves["posterior"]
        notes = ["prior-dominated"] * bool(profile["prior_dominated"])
        notes += ["separate modes"] * bool(profile["modes"])
        titles[element.name] = ", ".join(notes)
        common = {"panel": element.name, "x": curves["at"]}
        prior = {**common, "series": "prior", "y": curves["prior"]}
        posterior = {**common, "series": element.latent.kind, "y": curves["posterior"]}
        frames += [
            pd.DataFrame(prior),
            pd.DataFrame({**posterior, "low": 0.0 * fill, "high": fill}),
        ]
        label = "" if len(looks) > 1 else "posterior"
        looks.setdefault(element.latent.kind, Look(style.colour(element), label, "-", band=True))
    doubt = verdicts(fit, [name])["status"].iloc[0] == "not converged"
    mark, why = (" †", " († not converged)") if doubt else ("", "")
    axes = lines(
        pd.concat(frames),
        looks,
        ax=ax,
        size=(2.5, 2.0),
        title=f"{name}{mark}: prior and posterior{why}",
        titles=titles,
        x=style.element_label(elements[-1]),  # above the legend, which is placed below it
        y="density",
    )
    for element, panel in zip(elements, axes, strict=True):
        curve = panel.get_lines()[0].get_xdata()
        panel.set(xlim=(curve[0], curve[-1]), yticks=[], xlabel=style.element_label(element))
        panel.set_ylim(bottom=0)
        style.quiet_frame(panel, "bottom")
    return axes
