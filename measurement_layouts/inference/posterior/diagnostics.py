"""Profiles as a table, and the status of every subject's sampling and data."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import many, some
from ...common.options import inside, whole
from ...layouts.elements import elements_of
from ..model.bands import find_bands
from ..model.linkage import about_unlinked, unlinked_groups
from ..sampling.convergence import (
    ESS_PER_CHAIN,
    NOT_SEARCHED,
    RHAT_LIMIT,
    Convergence,
    RhatEss,
    faults,
    rhat_ess,
    status,
    stay_apart,
    worst,
)
from ..sampling.draws import MODES_SEARCHED, NUTS, SamplingOptions, with_more_care
from .cohort import cohort_of
from .conflicts import own_conflicts, shared_conflicts
from .posterior import FAULTS, Posterior, draws_of, some_draws, statistic_of, success_rates
from .summaries import subject_blocks, summaries


def profiles(
    fit: Posterior,
    *,
    prob: float = 0.9,
    subjects: Iterable[object] | None = None,
    draws: int | None = None,
) -> pd.DataFrame:
    r"""Summarise every profile element of every subject.

    Parameters
    ----------
    fit : Posterior
        The fit; its draws are read some subjects at a time.
    prob : float, default 0.9
        Mass of the equal-tailed interval.
    subjects : iterable, optional
        Subjects (default: all).
    draws : int, optional
        Number of plausible values: evenly spaced draws, each the same of all subjects and elements.
        An analysis is made with each of them, and the results are combined by Rubin's rules.

    Returns
    -------
    DataFrame
        One row per subject and element: ``node`` and ``label`` (its labels and levels of
        categories, joined by commas; empty for a single value), ``mean``, ``sd``, ``low``,
        ``high``, ``low_error`` and ``high_error``, the Monte Carlo standard errors of these ends
        (that of the mean is :math:`\mathrm{sd} / \sqrt{\mathrm{ess}_{bulk}}`), ``ess_bulk``,
        ``ess_tail``, ``rhat`` (NaN for a single chain), ``shrinkage``
        (:math:`1 - \mathrm{var}_{post} / \mathrm{var}_{prior}`) and ``prior_dominated`` (shrinkage
        below 0.1 and a mean within half a prior sd of the prior's, or all outcomes alike, so that
        the data bound the profile on one side only); ``modes``, whether an element has separate
        modes, between which the mean may lie (see `summaries.separate_modes`); and the plausible
        values, ``draw_1`` and so on, if asked for. Numbers are not rounded.

    Raises
    ------
    FitError
        When `prob` is not between 0 and 1, `draws` is not a whole number of at least 1, or a
        subject is not in the fit.
    DataError
        When a subject is named twice.

    References
    ----------
    Vehtari et al. (2021) for the rank-normalised R-hat and the effective sample sizes; Mislevy
    (1991), Psychometrika 56, for plausible values.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> profiles(result)["node"].tolist()
    ['navigationAbility', 'rightLeftBias', 'visualAbility', 'noiseLevel']
    """
    prob = inside("prob", prob, such_as=0.9)
    rows = fit.places(subjects)
    if not fit.elements:
        raise FitError(
            f"layout {fit.layout.name!r} has no value of a subject's own, so there are no "
            "profiles; see items() and population(), or give the layout a node per='subject'"
        )
    names = {
        "subject": np.repeat(fit.names(rows), len(fit.elements)),
        "node": np.tile([element.latent.name for element in fit.elements], len(rows)),
        "label": np.tile([element.label for element in fit.elements], len(rows)),
    }
    columns = _summaries(fit, rows, prob)
    if draws is not None:
        chosen = some_draws(fit, whole("draws", draws, 1))
        values = [draws_of(fit, latent, rows) for latent in fit.layout.profile]
        flat = [of_latent.reshape(*of_latent.shape[:2], -1)[..., chosen] for of_latent in values]
        plausible = np.moveaxis(np.concatenate(flat, axis=1), -1, 0)
        columns |= {f"draw_{number}": table for number, table in enumerate(plausible, 1)}
    return pd.DataFrame(names | {name: values.ravel() for name, values in columns.items()})


def diagnose(fit: Posterior, *, subjects: Iterable[object] | None = None) -> pd.DataFrame:
    """Judge every subject's sampling and data; a joint fit is judged as a whole.

    Parameters
    ----------
    fit : Posterior
        The fit; its draws are read some subjects at a time.
    subjects : iterable, optional
        Subjects (default: all, the failed ones too). A joint fit is judged as a whole anyway.

    Returns
    -------
    DataFrame
        Indexed by subject, failed ones last; of a joint fit, one row, ``all subjects``, whose
        column ``subjects`` names them: ``status`` (``ok``; ``few draws``: chains mix, and more
        draws make the numbers as sure as they should be; ``few divergences``: one in 200 draws at
        most, of chains that mix; ``modes not searched``: bands may cause modes that chains do not
        visit; ``groups not linked``: groups of subjects share no item, and are compared by
        assumption only; ``not converged``: its sampling is not to be trusted; ``failed``: it has no
        draws), ``success`` rate, ``divergences``, largest ``rhat``, smallest ``ess`` (bulk or tail;
        both NaN when unknown for any profile element; in a joint fit also of what subjects share;
        ``reason`` names the worst), ``attempts`` at sampling, ``prior_dominated`` (the profile
        elements of which the data say next to nothing) and ``reason`` in words, with remedies,
        which also names values of which the outcomes and the prior disagree (see
        `conflicts.shared_conflicts`). The status is the gravest one of the reasons.

    Raises
    ------
    FitError, DataError
        When a subject is not in the fit, or named twice, or there is none.

    References
    ----------
    Vehtari et al. (2021) for the limits: R-hat 1.01, effective sample size 100 per chain.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=1, seed=1, progressbar=False)
    >>> print(diagnose(result).loc["sim-01", "reason"])
    R-hat unknown: it needs at least 2 chains that move...
    """
    rows = fit.places(subjects)
    if not len(rows):
        raise FitError("no subject is asked for; name at least one, or leave subjects= out")
    joint = _judged_as_one(fit)
    rows = fit.places() if joint else rows
    columns, rates = _summaries(fit, rows), success_rates(fit, rows)
    groups = rows[None] if joint else rows[:, None]  # subjects of one posterior, (groups, subjects)
    result = pd.DataFrame(
        [*_verdicts(fit, groups, columns)], pd.Index([ALL] if joint else fit.names(rows))
    )
    result["success"] = rates.mean() if joint else rates
    result["prior_dominated"] = _dominated(fit, columns["prior_dominated"], counted=joint)
    result["subjects"] = ", ".join(fit.names(rows))
    if subjects is None and fit.failures:
        failed = {name: fit.attempts.get(name, 1) for name in fit.failures}
        pairs = zip(fit.failures.values(), failed.values(), strict=True)
        reasons = [reason + f"; {_again(count)}" * (count > 1) for reason, count in pairs]
        more = {"attempts": failed, "status": "failed", "prior_dominated": ""}
        result = pd.concat([result, pd.DataFrame(more).assign(reason=reasons)])
    return result[["subjects"] * joint + _COLUMNS].rename_axis("subject")


def verdicts(fit: Posterior, subjects: Iterable[object] | None = None) -> pd.DataFrame:
    """Repeat the verdict on a joint fit for each subject; other fits have one for each anyway.

    Returns
    -------
    DataFrame
        Indexed by subject, with the columns of `diagnose`, of which ``success`` and
        ``prior_dominated`` are the subject's own.
    """
    table = diagnose(fit, subjects=subjects)
    if not _judged_as_one(fit):
        return table
    rows = fit.places(subjects)
    repeated = table.drop(columns="subjects").iloc[np.zeros(len(rows), dtype=int)]
    return repeated.set_axis(pd.Index(fit.names(rows), name="subject")).assign(
        success=success_rates(fit, rows),
        prior_dominated=_dominated(fit, _summaries(fit, rows)["prior_dominated"]),
    )


def remedies(diagnosed: pd.DataFrame, most: int, elsewhere: str) -> list[str]:
    """Write what is wrong with the first subjects that are not ok, and what to do about it."""
    wrong = diagnosed[diagnosed["status"] != "ok"]
    texts = []
    for subject, row in wrong[:most].iterrows():
        status = "" if row["reason"].startswith(row["status"]) else f"{row['status']}: "
        texts.append(f"{subject}: {status}{row['reason']}")
    more = len(wrong) - most
    return texts + [f"and {more} more, with reasons in {elsewhere}"] * (more > 0)


ALL = "all subjects"
"""Index of the row of a joint fit."""

UNLINKED = "groups not linked"
"""Status of a joint fit in which groups of subjects share no item."""

_GRAVEST = ("not converged", UNLINKED, NOT_SEARCHED, "few draws", "few divergences")


_COLUMNS = ["status", "success", "divergences", "rhat", "ess", "attempts"]
_COLUMNS += ["prior_dominated", "reason"]
_WHERE = "a band may cause modes that the chains do not visit, method='grid' does"
_SEVERAL = "separate modes, between which means may lie"


def _verdicts(
    fit: Posterior, groups: np.ndarray, columns: Mapping[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Judge groups of subjects that have one posterior, given the columns of `profiles`."""
    chains, draws = (fit.posterior.sizes[dim] for dim in ("chain", "draw"))
    first, size = groups[:, 0], groups.shape[1]
    divergences = [
        int(count)
        for block in subject_blocks(fit, first)
        for count in statistic_of(fit, "diverging", block).sum(axis=(1, 2))
    ]
    counts = [counts.reshape(groups.shape) for counts in _outcomes(fit, groups.ravel())]
    searched, off_grid = _searched(fit, first), _off_grid(fit, first)
    newcomer = FAULTS in fit.data.attrs  # what it shares was fitted to the other subjects
    unlinked, shared = (None, []) if newcomer else (_unlinked(fit), shared_conflicts(fit))
    conflicts = [] if newcomer else own_conflicts(fit, groups.ravel())
    for at, group in enumerate(groups):
        rows = slice(at * size, (at + 1) * size)
        numbers = {name: values[rows].ravel() for name, values in columns.items()}
        names, measures = _measures(fit, group, numbers)
        rhat, ess = map(float, worst(measures))
        apart = _apart(fit, group, numbers["rhat"], names)
        attempts = fit.attempts.get(fit.names(group)[0], 1)
        sampling = Convergence(divergences[at], rhat, ess, apart, draws, *_used(fit, attempts))
        faulty = json.loads(fit.data.attrs[FAULTS]) if newcomer else faults(sampling, chains)
        several = [name for name, modes in zip(names, numbers["modes"], strict=False) if modes]
        surprising = [*shared, *(one for one in conflicts if one.surprising[rows].any())]
        slow = _slowest(names, measures, ESS_PER_CHAIN * chains) if fit.shared else ""
        alike = _alike(fit, group, *(values[at] for values in counts))
        table: list[tuple[object, str, str]] = [  # condition, status, reason with remedy
            (unlinked, UNLINKED, f"{UNLINKED}: {unlinked}"),
            *((True, status([fault]), fault) for fault in faulty),
            (not searched[at], NOT_SEARCHED, f"{NOT_SEARCHED}: {_WHERE}"),
            (off_grid[at], "", "sampled by NUTS: the grid cannot resolve the posterior"),
            (alike, "", alike),
            (several and not apart, "", f"{_SEVERAL}: {some(several)}"),
            *((one.text, "", one.text) for one in surprising),
            (slow, "", f"values that did not converge: {slow}"),
            (attempts > 1, "", _again(attempts)),
        ]
        holding = [(name, reason) for condition, name, reason in table if condition]
        statuses = {name for name, _ in holding}
        yield {
            "status": next((name for name in _GRAVEST if name in statuses), "ok"),
            "divergences": divergences[at],
            **{"rhat": rhat, "ess": ess, "attempts": attempts},
            "reason": "; ".join(reason for _, reason in holding),
        }


def _measures(
    fit: Posterior, group: np.ndarray, columns: Mapping[str, np.ndarray]
) -> tuple[list[str], RhatEss]:
    """Name the values of some subjects, and those they share, with their convergence."""
    names = [element.name for element in fit.elements]
    if len(group) > 1:
        names = [f"{name} of {subject}" for subject in fit.names(group) for name in names]
    measures = RhatEss(*(columns[name] for name in RhatEss._fields))
    if not fit.shared:
        return names, measures
    shared = fit.once("convergence", lambda: [rhat_ess(draws_of(fit, one)) for one in fit.shared])
    names = names + [one.name for latent in fit.shared for one in elements_of(latent, fit.levels)]
    pairs = zip(measures, *shared, strict=True)
    return names, RhatEss(*(np.concatenate([*map(np.ravel, values)]) for values in pairs))


def _summaries(fit: Posterior, rows: np.ndarray, prob: float = 0.9) -> dict[str, np.ndarray]:
    """Compute the columns of `profiles`, shape (rows, elements)."""
    columns = summaries(fit, rows, prob)
    columns["prior_dominated"] |= _all_alike(*_outcomes(fit, rows))[:, None]
    return columns


def _judged_as_one(fit: Posterior) -> bool:
    """Whether several subjects have one posterior."""
    return fit.layout.joint and len(fit.subjects) > 1


def _slowest(names: Sequence[str], measures: RhatEss, least: float) -> str:
    """Name the values of a joint fit with the fewest effective draws, if they are too few."""
    ess = np.minimum(measures.ess_bulk, measures.ess_tail)
    table = pd.DataFrame({"name": names, "rhat": measures.rhat, "ess": ess})
    bad = table[~((table["rhat"] <= RHAT_LIMIT) & (table["ess"] >= least))]
    first = bad.sort_values("ess", kind="stable", na_position="first").itertuples()
    return some((f"{row.name} (R-hat {row.rhat:.3f}, ESS {row.ess:.0f})" for row in first), 3)


def _dominated(fit: Posterior, marked: np.ndarray, *, counted: bool = False) -> list[str]:
    """Name the elements that are marked, by subject, or once with the number of subjects."""
    names = np.array([element.name for element in fit.elements], dtype=object)
    if not counted:
        return [", ".join(names[row]) for row in marked]
    counts = zip(names, marked.sum(axis=0), strict=True)
    return [", ".join(f"{name} ({count} of {len(marked)})" for name, count in counts if count)]


def _searched(fit: Posterior, rows: np.ndarray) -> np.ndarray:
    """Whether the modes that bands may cause were searched, by subject."""
    if FAULTS in fit.data.attrs or not find_bands(fit.layout):
        return np.ones(len(rows), dtype=bool)
    if MODES_SEARCHED not in fit.data["sample_stats"]:  # a joint fit
        return np.full(len(rows), fit.data.attrs.get("method") not in NUTS)
    return np.asarray(statistic_of(fit, MODES_SEARCHED, rows).all(axis=(1, 2)))


def _unlinked(fit: Posterior) -> str:
    """Write which groups of subjects of a joint fit share no item, and what would link them."""
    if not fit.layout.joint:
        return ""

    def described() -> str:
        cohort = cohort_of(fit)
        return "; ".join("".join(about_unlinked(cohort, unlinked_groups(cohort))).splitlines())

    return fit.once("unlinked", described)


def _off_grid(fit: Posterior, rows: np.ndarray) -> np.ndarray:
    """Whether NUTS sampled a subject of a fit on the grid, whose draws have no energy."""
    if fit.data.attrs.get("method") != "grid":
        return np.zeros(len(rows), dtype=bool)
    return np.asarray(np.isfinite(statistic_of(fit, "energy", rows)).any(axis=(1, 2)))


def _used(fit: Posterior, attempt: int) -> tuple[int, float]:
    """Give the tuning and the target of acceptance of an attempt; no tuning without NUTS."""
    attributes = fit.data.attrs
    if attributes.get("method") not in NUTS:
        return 0, Convergence.target_accept
    tune, target_accept = int(attributes["tune"]), float(attributes["target_accept"])
    options = with_more_care(SamplingOptions(tune=tune, target_accept=target_accept), attempt)
    return options.tune, options.target_accept


def _apart(fit: Posterior, rows: np.ndarray, rhat: np.ndarray, names: Sequence[str]) -> str:
    """Name the elements in whose modes chains stay; draws are read where R-hat is bad only."""
    if not (rhat > RHAT_LIMIT).any():
        return ""
    draws = [draws_of(fit, latent, rows) for latent in fit.layout.profile]
    values = np.concatenate(draws, axis=1)  # (subjects, elements, chains, draws)
    return stay_apart(values.reshape(-1, *values.shape[2:]), rhat, RHAT_LIMIT, names)


def _outcomes(fit: Posterior, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Successes and trials of some subjects over all items."""
    cells = fit.coded
    return cells.by_subject(cells.successes)[rows], cells.by_subject(cells.trials)[rows]


def _all_alike(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    return np.asarray((successes == 0) | (successes == trials))


def _alike(fit: Posterior, group: np.ndarray, successes: np.ndarray, trials: np.ndarray) -> str:
    """Write whose outcomes are all alike."""
    alike = _all_alike(successes, trials)
    if not alike.any():
        return ""
    if len(group) > 1:
        names = some(fit.names(group[alike]))
        return f"all outcomes are alike for {names}, whose profiles the others decide"
    return (
        f"all {trials[0]} outcomes are {'successes' if successes[0] else 'failures'}: the data "
        "bound the profile on one side only, the prior decides the rest"
    )


def _again(attempts: int) -> str:
    return f"after {many(attempts, 'attempt')}"
