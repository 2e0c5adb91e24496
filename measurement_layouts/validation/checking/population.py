"""Expected information about each latent of a joint layout, including shared latents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...inference.model.cohort import Cohort
from ...inference.model.linkage import about_unlinked, unlinked_groups
from ...inference.model.new_levels import parents
from ...inference.population.truth import draw_truths
from ...layouts import Latent, Layout
from ...layouts.elements import elements
from ...layouts.plates import POPULATION, SUBJECT, plate_name
from ...linking import units
from .advice import about_latents, learnt
from .columns import informed_by
from .hierarchy import Hierarchy, PlatedElement, location_and_scale

_DRAWS = 12  # draws from the prior
_VALUES = 1500  # most values that are treated together; beyond them subjects are left out
_SAME = 1e-7  # relative difference of slopes that counts as rounding error
_RIDGE = 0.4  # least correlation of indistinguishable locations that are reported

EFFECTS = ("node", "per", "levels", "subjects", "items", "least_trials", "trials")
"""Columns of the table of effects."""


@dataclass(frozen=True, eq=False)
class Taught:
    """Expected information of a cohort.

    Attributes
    ----------
    latents : DataFrame
        As in `Check.latents`.
    sds : DataFrame
        Expected posterior standard deviations, by subject and profile element.
    effects : DataFrame
        As returned by `rest`.
    problems : list of str
        Descriptions of problems, each with its remedy.
    unlinked : list of str
        Description of groups of subjects that share no item, if there are any.
    """

    latents: pd.DataFrame
    sds: pd.DataFrame
    effects: pd.DataFrame
    problems: list[str]
    unlinked: list[str]


def taught(layout: Layout, evaluation: Evaluation, varying: Sequence[str], *, seed: int) -> Taught:
    r"""Compute the posterior standard deviations that are expected of all values together.

    .. math:: x = T z, \quad z \sim \mathrm{Normal}(0, 1), \quad
        \mathrm{cov}(x) \approx T \left(T^\top I T + 1\right)^{-1} T^\top

    with the Fisher information I of the attempts and the first-order dependence T of the values x
    on their deviations z. Variances without and with the outcomes are summed over 12 draws from the
    prior; their ratio is the share of the prior variance that remains. Of cohorts with over 1,500
    values only some subjects, evenly chosen, are used, so that shared values will be known more
    precisely than stated.

    Parameters
    ----------
    layout : Layout
        A joint layout.
    evaluation : Evaluation
        Items and attempts.
    varying : sequence of str
        Columns of the items that vary.
    seed : int
        Seed of the draws.

    Returns
    -------
    Taught
        Tables, and descriptions of problems.

    Raises
    ------
    DataError
        When a column or a category's level is missing.
    LayoutError
        When a prior cannot be drawn from.
    """
    whole = Cohort.of_evaluation(layout, evaluation)
    groups = unlinked_groups(whole)
    source, chosen = _cohort(whole, evaluation)
    truths = draw_truths(source.cohort, _DRAWS, seed)
    variances, correlations, slopes = [], [], []
    for draw in range(_DRAWS):
        values = {
            latent.name: truths[latent.name].isel(draw=draw).to_numpy() for latent in layout.latents
        }
        before, after, between, slope = source.posterior(values)
        variances.append((before, after))
        correlations.append(between)
        slopes.append(slope)
    correlation = np.nan_to_num(np.mean(correlations, axis=0))
    before, after = np.sum(variances, axis=0)
    sd = np.sqrt(after / before)
    for part, prior in zip(source.parts, source.prior_sd, strict=True):
        sd[part.columns] *= prior
    matters = np.any([source.matters(slope) for slope in slopes], axis=0)
    ridges = _ridges(source, np.concatenate(slopes), correlation)
    latents = _latents(source, sd, correlation, matters, varying)
    count = len(evaluation.subjects)
    nearest = np.abs(np.arange(count)[:, None] - chosen).argmin(axis=1)
    by_part = {
        (part.latent.name, part.labels): _by_subject(source, part, sd)[nearest]
        for part in source.parts
        if part.latent in layout.profile
    }
    names = [part.name for part in source.parts]
    told = [frozenset((ridge.first.name, ridge.second.name)) for ridge in ridges]
    own = {latent.name: latent for latent in layout.latents}
    return Taught(
        latents,
        pd.DataFrame(
            {
                one.name: by_part[one.latent.name, one.labels][:, one.level_index]
                for one in elements(layout, source.cohort.levels)
            },
            evaluation.subjects,
        ),
        _effects(source),
        [
            *([] if groups else _told(ridges)),  # a sum of zero would hide that nothing links them
            *about_latents(latents, names, lambda rows: _more(own[rows["node"].iloc[0]]), told),
        ],
        about_unlinked(whole, groups),
    )


def _by_subject(source: Hierarchy, part: PlatedElement, values: np.ndarray) -> np.ndarray:
    """Arrange the values of a latent of subjects as (subjects, levels of other plates)."""
    plates = part.latent.plates
    grid = values[part.columns].reshape(source.cohort.size(plates))
    first = np.moveaxis(grid, plates.index(SUBJECT), 0)
    return np.asarray(first.reshape(len(first), -1))


def _effects(source: Hierarchy) -> pd.DataFrame:
    """Count the subjects, items and trials on which the values of a cohort's latents depend.

    Returns
    -------
    DataFrame
        One row per latent that has plates: ``node``, ``per`` (the plates), the number of ``levels``
        in the data, the ``subjects``, ``items`` and ``trials`` of the median level, and the
        ``least_trials`` of any level.
    """
    cohort, rows = source.cohort, []
    cells = pd.DataFrame({"subject": cohort.subject, "item": cohort.item})
    for latent in (latent for latent in cohort.layout.latents if latent.plates):
        level = source.levels(latent)
        counted = cells.groupby(level).nunique().median()
        trials = pd.Series(cohort.trials).groupby(level).sum()
        per = " and ".join(map(plate_name, latent.plates))
        numbers = (int(counted["subject"]), int(counted["item"]), trials.min(), trials.median())
        rows.append((latent.name, per, len(trials), *numbers))
    return pd.DataFrame(rows, columns=list(EFFECTS))


def no_effects() -> pd.DataFrame:
    """Make an empty table of effects for layouts that are fitted to each subject separately."""
    return pd.DataFrame(columns=list(EFFECTS))


def _cohort(whole: Cohort, evaluation: Evaluation) -> tuple[Hierarchy, np.ndarray]:
    """Take a cohort, or evenly chosen subjects of a very large one, with their positions."""
    every = evaluation.subjects
    source = Hierarchy(whole)
    chosen = np.arange(len(every))
    while source.size > _VALUES and len(chosen) > 2:
        keep = max(2, int(len(chosen) * min(0.8, _VALUES / source.size)))
        chosen = chosen[np.linspace(0, len(chosen) - 1, keep).round().astype(int)]
        some = evaluation.select(subjects=[every[place] for place in chosen])
        source = Hierarchy(Cohort.of_evaluation(whole.layout, some))
    return source, chosen


@dataclass(frozen=True)
class _Ridge:
    """Two locations that no outcome tells apart: those of all values of two latents."""

    first: PlatedElement
    second: PlatedElement
    every: tuple[PlatedElement, PlatedElement]
    correlation: float


def _ridges(source: Hierarchy, slopes: np.ndarray, correlation: np.ndarray) -> list[_Ridge]:
    """Find pairs of latents with proportional effects on all outcomes and a free location."""
    sizes = np.linalg.norm(slopes, axis=0)
    same = np.abs(slopes.T @ slopes) >= (1 - _SAME) * np.outer(sizes, sizes)
    found = []
    for a, one in enumerate(source.parts):
        for b, other in enumerate(source.parts[:a]):
            if not (same[a, b] and sizes[a] and sizes[b]) or _summed(one) or _summed(other):
                continue
            over, under = _locations(source, one), _locations(source, other)
            if not (over or under or not one.latent.plates or not other.latent.plates):
                continue
            pairs = [
                (abs(correlation[v, u]), u, v)
                for u in [b, *under]
                for v in [a, *over]
                if u not in (a, *over) and v not in (b, *under)
            ]
            most, u, v = max(pairs, default=(0.0, b, a))
            if most >= _RIDGE:
                ends = source.parts[u], source.parts[v]
                found.append(_Ridge(*ends, (other, one), float(correlation[u, v])))
    return found


def _summed(part: PlatedElement) -> bool:
    return any(prior.family == "ZeroSumNormal" for prior in part.latent.priors)


def _locations(source: Hierarchy, part: PlatedElement) -> list[int]:
    """List the positions of the latents that are the location of a latent's prior."""
    location, _ = location_and_scale(part.prior) or (None, None)
    above = [] if location is None else parents(location)
    return [at for at, each in enumerate(source.parts) if each.latent in above]


def _told(ridges: Sequence[_Ridge]) -> list[str]:
    said = []
    for ridge in ridges:
        one, other = ridge.every
        effect = other if other.latent.plates else one
        remedy = f"let {effect.name} sum to zero, as in Prior('ZeroSumNormal', sigma=...)"
        if effect.latent.is_profile:
            remedy = f"give {ridge.second.name} a number instead"
        said.append(
            f"{ridge.first.name} and {ridge.second.name}: no outcome tells them apart, because "
            f"a change of every {one.name} can be cancelled by a change of every {other.name}; "
            "only their priors determine them (expected posterior "
            f"correlation {ridge.correlation:.2f}); {remedy}"
        )
    return said


def _more(latent: Latent) -> str:
    """Describe the data that would inform a latent."""
    names = [plate_name(plate) for plate in latent.plates]
    if latent.is_profile:
        return "items on which it matters, or trials"
    return f"trials for each {' and '.join(names)}" if names else "subjects and items"


def _latents(
    source: Hierarchy,
    sd: np.ndarray,
    correlation: np.ndarray,
    matters: np.ndarray,
    varying: Sequence[str],
) -> pd.DataFrame:
    """Make a table with a row for each part."""
    cohort, parts = source.cohort, source.parts
    after = np.array([np.median(sd[part.columns]) for part in parts])
    others = np.where(_related(source), 0, correlation)
    reached = _reached(source, matters)
    met = [[c for c in informed_by(cohort.layout, part) if c in varying] for part in parts]
    trials = [
        np.median(np.bincount(source.levels(part.latent), cohort.trials * reached[:, column]))
        for column, part in enumerate(parts)
    ]
    return pd.DataFrame(
        {
            "node": [part.latent.name for part in parts],
            "label": [part.label for part in parts],
            "per": [
                " and ".join(map(plate_name, part.latent.plates)) or POPULATION for part in parts
            ],
            "unit": [units.name(part.latent.unit) for part in parts],
            "informed_by": [", ".join(columns) for columns in met],
            "items": [len(np.unique(cohort.item[own])) for own in reached.T],
            "trials": np.array(trials, dtype=int),
            **learnt([part.name for part in parts], source.prior_sd, after, others),
        }
    )


def _reached(source: Hierarchy, matters: np.ndarray) -> np.ndarray:
    """Find the cells on which each part matters, directly or through latents located at it."""
    found = matters.copy()
    for column, part in reversed(list(enumerate(source.parts))):
        for above in _above(source, part):
            found[:, above] |= found[:, column]
    return found


def _related(source: Hierarchy) -> np.ndarray:
    """Find the pairs of parts that are the same, or of which one is the location of the other."""
    found = np.eye(len(source.parts), dtype=bool)
    for at, part in enumerate(source.parts):
        for above in _above(source, part):
            found[at] |= found[above]
    return np.asarray(found | found.T)


def _above(source: Hierarchy, part: PlatedElement) -> list[int]:
    """List the positions of the latents on which a latent's priors depend."""
    parameters = [each for prior in part.latent.priors for each in prior.parents]
    known = [latent for each in parameters for latent in parents(each)]
    return [at for at, each in enumerate(source.parts) if each.latent in known]
