"""Heatmaps: profiles, alignment, criticism, correlations, and success by two properties."""

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..batteries.demands import DemandCorrelations, short_names
from ..batteries.grids import characteristic_grid, edge_labels
from ..common.digits import fixed
from ..common.errors import DataError
from ..common.messages import many
from ..dispositions.comparison import BUCKETS
from ..dispositions.group_curves import model_groups
from ..evaluations.evaluation import Evaluation
from ..layouts import Layout
from ..validation.criticism.criticise import Criticism
from . import style
from .cells import Scale, cells
from .dispositions import ordered, tidy

_SIGNED = "PuOr"  # orange below 0, white, purple above
_HEADS = {"[0.8, 0.9)": "[80, 90)", "[0.9, 1)": "[90, 100)", "1": "100", "all": "≥ 80"}
_ALL = "all"


def alignment_heatmap(
    alignment: pd.DataFrame,
    groups: Mapping[str, str] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw directional alignment as a table: one row per model, one column per trait and consensus.

    The number of a cell is the percentage of scenarios with this consensus of people in which the
    model takes the people's side; a tie does not count as their side. A model that chooses as
    people do does not reach 100 %, because samples and votes are few.

    Parameters
    ----------
    alignment : DataFrame
        Result of `measurement_layouts.dispositions.directional_alignment`.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group). Lines separate the groups.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes whose rows are one unit high: groups in order of appearance, and within a group the
        best model first.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, no scenario has a consensus of 80 %, or a
        model has no group.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equations 2
    and 3, Figure 4.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> alignment_heatmap(ml.dispositions.directional_alignment(study.judgments)).get_title()
    'Directional alignment of 2 models'
    """
    keys = ["model", "trait", "bucket"]
    table = tidy(alignment, "directional alignment", keys, ["scenarios", "aligned"])
    groups = model_groups(table["model"].unique(), groups)
    overall = table[(table["trait"] == _ALL) & (table["bucket"] == _ALL)]
    models = ordered(overall.set_index("model")["aligned"], groups)
    order = {bucket: number for number, bucket in enumerate([*reversed(BUCKETS), _ALL])}
    traits = [*(trait for trait in dict.fromkeys(table["trait"]) if trait != _ALL), _ALL]
    kept = table[(table["scenarios"] > 0) & ((table["trait"] == _ALL) == (table["bucket"] == _ALL))]
    if kept.empty:
        raise DataError(
            "no scenario has a consensus of 80% or more; alignment needs scenarios with a consensus"
        )
    sizes = kept.groupby(["trait", "bucket"])["scenarios"].transform("max")
    kept = kept.assign(
        row=kept["model"],
        row_block=kept["model"].map(groups) if len(set(groups.values())) > 1 else "",
        column=kept["bucket"].replace(_HEADS) + "\nn = " + sizes.astype(str),
        column_block=kept["trait"],
        value=100 * kept["aligned"],
        text=[fixed(100 * share, 0) for share in kept["aligned"]],
    )
    sort_keys = [
        kept["bucket"].map(order),
        kept["trait"].map(traits.index),
        kept["model"].map(models.index),
    ]
    kept = kept.iloc[np.lexsort(sort_keys)]
    scale = Scale("scenarios on the people's side (%)", style.RATE, 0, 100)
    title = f"Directional alignment of {many(len(models), 'model')}"
    return cells(kept, scale, ax=ax, title=title)


def criticism_map(criticism: Criticism, *, ax: Axes | None = None) -> Axes:
    """Draw expected gains as a table: one row per subject, one column per candidate property.

    Properties that the layout uses are left out; see `Criticism.forms`.

    A cell is darker the more elpd the effects of the property would gain, on a logarithmic scale
    from 1 nat; a white cell gains less. Flagged cells are framed and have the gain in nats; a star
    marks the first of a subject. A dash means that there is no test (see ``remark`` in the table).

    Parameters
    ----------
    criticism : Criticism
        Result of `criticise`.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes in which a candidate is one unit wide and a subject one unit high.

    Raises
    ------
    DataError
        When the criticism has no candidates.

    Examples
    --------
    >>> from measurement_layouts.validation.criticism.criticise import criticise
    >>> from measurement_layouts.evaluations.evaluation import Evaluation
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=200, tune=300, chains=2, seed=1, progressbar=False)
    >>> items = cohort.evaluation.items.assign(day=np.arange(69) % 5)
    >>> known = Evaluation(items, cohort.evaluation.successes, cohort.evaluation.trials)
    >>> criticism = criticise(result, known, candidates=["day"])
    >>> criticism_map(criticism).get_title()
    'Missed by the layout: 0 of 2 flagged, 5% over all'
    """
    table = criticism.candidates
    if table.empty:
        raise DataError(f"there is nothing to draw: {criticism.untried()}, and criticise again")
    flagged, gains = table["flagged"].astype(bool), table["gain"].astype(float)
    first = [criticism.first().get(subject) for subject in table["subject"]]
    texts = np.where(gains.isna(), "\u2013", "")
    texts = np.where(flagged, [fixed(gain, 0) for gain in gains], texts)
    starred = flagged & (table["property"] == first)
    shown = table.assign(
        row=table["subject"],
        column=table["property"],
        value=gains,
        text=[f"{text} *" if star else text for text, star in zip(texts, starred, strict=True)],
        framed=flagged,
        order=pd.factorize(table["subject"])[0],
    ).sort_values(["order", "column"])
    most = max(10.0, float(np.nanmax(gains, initial=0)))
    ticks = {10.0**power: f"{10**power:g}" for power in range(int(np.log10(most)) + 1)}
    label = "expected gain in elpd (nats); white: less than 1"
    tested, level = int(table["p"].notna().sum()), style.percent(criticism.alpha)
    return cells(
        shown,
        Scale(label, "Blues", 1.0, most, ticks, logarithmic=True),
        ax=ax,
        title=f"Missed by the layout: {flagged.sum()} of {tested} flagged, {level} over all",
        notes=["framed: flagged", "* first of the subject", "\u2013 no test"],
    )


def demand_correlation_plot(correlations: DemandCorrelations, *, ax: Axes | None = None) -> Axes:
    """Draw rank correlations as a table: of dimensions with each other, and below with success.

    Each pair of dimensions occurs once. If there are outcomes, the rows below are the success rates
    of the items over all subjects, and each subject's outcomes. Numbers are hundredths: -35 is
    -0.35. A dash means that one of the two does not vary.

    Parameters
    ----------
    correlations : DemandCorrelations
        Result of `demand_correlations`.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes in which a dimension is one unit wide and a row one unit high.

    References
    ----------
    General scales paper, Figure 4.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts.batteries.demands import demand_correlations
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4], "MS": [0, 2, 2, 1]})
    >>> demand_correlation_plot(demand_correlations(items, ["QLl", "MS"])).get_title()
    'Rank correlations of 2 demands'
    """
    between, success = correlations.between, correlations.success
    names = short_names(between.index)
    frames = [
        pd.DataFrame(
            {"row": name, "column": names[:number], "value": between.iloc[number, :number]}
        )
        for number, name in enumerate(names)
    ]
    if correlations.overall is not None:
        below = {"success, all subjects": correlations.overall, **dict(success.iterrows())}
        for name, values in below.items():
            columns = {"row": str(name), "column": names, "value": values.to_numpy()}
            frames.append(pd.DataFrame({**columns, "row_block": " "}))
    shown = pd.concat(frames, ignore_index=True).fillna({"row_block": ""})
    shown["text"] = [fixed(100 * value, 0) for value in shown["value"]]
    subjects = f", and with the success of {len(success)} subjects" if len(success) else ""
    return cells(
        shown,
        Scale("Spearman's rank correlation (in cells: hundredths)", _SIGNED, -1, 1),
        ax=ax,
        title=f"Rank correlations of {len(names)} demands{subjects}",
    )


def agent_characteristic_grid(
    evaluation: Evaluation,
    subject: object,
    x: str,
    y: str,
    *,
    bins: int = 6,
    layout: Layout | None = None,
    colour_bar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a subject's success rate by two properties of the items.

    The colour of a cell is its success rate, from red (failure) over yellow to blue (success); the
    number is its number of trials. A cell without trials is blank.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    subject : object
        Subject whose outcomes are drawn.
    x, y : str
        Columns of the items.
    bins : int
        Number of cells; see `characteristic_grid`.
    layout : Layout, optional
        Layout whose meta-features give the axes their units.
    colour_bar : bool
        Whether to draw a colour bar; one of several grids side by side is enough.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal `x`, vertical `y`.

    Raises
    ------
    DataError
        When the subject or a column is unknown, or the bins do not
        fit; see `characteristic_grid`.

    References
    ----------
    Burden et al. (2023), figure 8; Burnell et al. (2022).

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"far": [0, 1, 0, 1], "small": [0, 0, 1, 1]}, index=list("abcd"))
    >>> outcomes = pd.DataFrame([[1, 1, 1, 0]], index=["Ann"], columns=list("abcd"))
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> agent_characteristic_grid(evaluation, "Ann", "far", "small").get_title()
    'Ann: 3 of 4 trials (0.75)'
    """
    successes, trials = characteristic_grid(evaluation, subject, x, y, bins=bins)
    shown = pd.DataFrame(
        {
            "row": np.repeat(_bins(trials.index), len(trials.columns)),
            "column": np.tile(_bins(trials.columns), len(trials)),
            "value": (successes / trials).to_numpy().ravel(),
            "text": [str(count) if count else "" for count in trials.to_numpy().ravel()],
        }
    )
    count = len(trials.columns)
    shown = shown.iloc[np.arange(len(shown)).reshape(-1, count)[::-1].ravel()]
    total, solved = int(trials.to_numpy().sum()), int(successes.to_numpy().sum())
    ax = cells(
        shown,
        Scale("success rate (number: trials)", style.RATE),
        ax=ax,
        title=f"{subject}: {solved} of {many(total, 'trial')} ({solved / total:.2f})",
        notes=[style.column_label(x, layout)],
        bars=colour_bar,
    )
    ax.set_ylabel(style.column_label(y, layout))
    return ax


def _bins(cut: pd.Index) -> list[str]:
    """Write intervals by their ends, and single values as they are."""
    if not isinstance(cut, pd.IntervalIndex):
        return [re.sub(r"^-(?=[\d.])", "\u2212", str(level)) for level in cut]
    ends = edge_labels(np.append(cut.left, cut.right[-1]))
    return [f"{low} to {high}".replace("-", "\u2212") for low, high in pairwise(ends)]
