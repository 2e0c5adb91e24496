"""Profiles as a table, and a verdict on every subject's sampling and data."""

import json
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import many, some
from ...common.options import inside
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
from ..sampling.draws import MODES_SEARCHED, SamplingOptions, with_more_care
from .cohort import cohort_of
from .conflicts import own_conflicts, shared_conflicts
from .posterior import FAULTS, Posterior, draws_of, statistic_of, success_rates
from .summaries import subject_blocks, summaries


def profiles(
    fit: Posterior, prob: float = 0.9, subjects: Iterable[object] | None = None
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
        modes, between which the mean may lie (see `summaries.separate_modes`). Numbers are not
        rounded.

    Raises
    ------
    FitError
        When `prob` is not between 0 and 1, or a subject is not in the fit.
    DataError
        When a subject is named twice.

    References
    ----------
    Vehtari et al. (2021) for the rank-normalised R-hat and the effective sample sizes.

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
    return pd.DataFrame(names | {name: values.ravel() for name, values in columns.items()})


def _summaries(fit: Posterior, rows: np.ndarray, prob: float = 0.9) -> dict[str, np.ndarray]:
    """Compute the columns of `profiles`, shape (rows, elements)."""
    columns = summaries(fit, rows, prob)
    columns["prior_dominated"] |= _all_alike(*_outcomes(fit, rows))[:, None]
    return columns


def diagnose(fit: Posterior, subjects: Iterable[object] | None = None) -> pd.DataFrame:
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
        column ``subjects`` names them: ``status`` (``ok``; ``few draws``: chains mix, and
        more draws make the numbers as sure as they should be; ``few divergences``: one in 200 draws
        at most, of chains that mix; ``modes
        not searched``: bands may cause modes that chains do not visit; ``not converged``: its
        sampling is not to be trusted;
        ``failed``: it has no draws), ``success`` rate, ``divergences``, largest
        ``rhat``, smallest ``ess`` (bulk or tail; both NaN when unknown for any profile element; in
        a joint fit also of what subjects share; ``reason`` names the worst),
        ``attempts`` at sampling, ``prior_dominated`` (the profile elements of which the data say
        next to nothing) and ``reason`` in words, which also names values of which the outcomes and
        the prior disagree (see `conflicts.shared_conflicts`), and groups of subjects that share no
        item (see `linkage.unlinked_groups`).

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
    who, elements = fit.names(rows), [element.name for element in fit.elements]
    columns, each = _summaries(fit, rows), (1 if joint else len(rows), -1)
    measured = RhatEss(*(columns[name].reshape(each) for name in RhatEss._fields))
    names = [f"{name} of {one}" for one in who for name in elements] if joint else elements
    if fit.shared:
        shared = _of_shared(fit)
        measured = RhatEss(*(np.hstack(pair) for pair in zip(measured, shared, strict=True)))
        rest = [one.name for latent in fit.shared for one in elements_of(latent, fit.levels)]
        names = [*names, *rest]
    rhat, ess = worst(measured)
    chains, length = (fit.posterior.sizes[dim] for dim in ("chain", "draw"))
    first = rows[: len(rhat)]
    divergences = np.concatenate(
        [
            statistic_of(fit, "diverging", block).sum(axis=(1, 2))
            for block in subject_blocks(fit, first)
        ]
    )
    stuck = [
        _apart(fit, rows.reshape(each)[at], found, names)
        for at, found in enumerate(columns["rhat"].reshape(each))
    ]
    attempts = [fit.attempts.get(subject, 1) for subject in who[: len(rhat)]]
    judged = zip(divergences.tolist(), rhat.tolist(), ess.tolist(), stuck, strict=True)
    wrong = [
        faults(Convergence(*row, length, *_used(fit, often)), chains)
        for row, often in zip(judged, attempts, strict=True)
    ]
    if FAULTS in fit.data.attrs:  # found as it was made
        wrong = [json.loads(fit.data.attrs[FAULTS]) for _ in wrong]
    for fault, searched in zip(wrong, _searched(fit, first), strict=True):
        fault += [] if searched else [f"{NOT_SEARCHED}: {_WHERE}"]
    modes = columns["modes"].reshape(each)
    alike = [_together_alike(fit, rows)] if joint else map(_remarks, *_outcomes(fit, rows))
    remarks = [
        [
            *(["sampled by NUTS: the grid cannot resolve the posterior"] * bool(off)),
            *remark,
            *([] if stay else _several(names, own)),
            *conflicts,
        ]
        for remark, stay, own, off, conflicts in zip(
            alike,
            stuck,
            modes,
            _off_grid(fit, first),
            _disagreements(fit, rows, joint),
            strict=True,
        )
    ]
    if fit.shared:
        remarks[0] += _slowest(names, measured, ESS_PER_CHAIN * chains)
    rates = success_rates(fit, rows).to_numpy()
    result = pd.DataFrame(
        {
            "status": [status(found) for found in wrong],
            "success": [rates.mean()] if joint else rates,
            "divergences": divergences,
            "rhat": rhat,
            "ess": ess,
            "attempts": attempts,
            "prior_dominated": _vague(elements, columns["prior_dominated"], joint),
            "reason": [
                "; ".join([*fault, *remark, *_again(often)])
                for fault, remark, often in zip(wrong, remarks, attempts, strict=True)
            ],
        },
        index=pd.Index([ALL] if joint else who, name="subject"),
    )
    if joint:
        result.insert(0, "subjects", ", ".join(who))
    if subjects is not None or not fit.failures:
        return result
    return pd.concat([result, _failed(fit)])


def verdicts(fit: Posterior, subjects: Iterable[object] | None = None) -> pd.DataFrame:
    """Repeat the verdict on a joint fit for each subject; other fits have one for each anyway.

    Returns
    -------
    DataFrame
        Indexed by subject, with the columns of `diagnose`, of which ``success`` and
        ``prior_dominated`` are the subject's own.
    """
    table = diagnose(fit, subjects)
    if not _judged_as_one(fit):
        return table
    rows = fit.places(subjects)
    repeated = table.drop(columns="subjects").iloc[np.zeros(len(rows), dtype=int)]
    elements = [element.name for element in fit.elements]
    vague = _summaries(fit, rows)["prior_dominated"]
    return repeated.set_axis(pd.Index(fit.names(rows), name="subject")).assign(
        success=success_rates(fit, rows).to_numpy(),
        prior_dominated=_vague(elements, vague, False),
    )


def _judged_as_one(fit: Posterior) -> bool:
    """Whether several subjects have one posterior."""
    return fit.layout.joint and len(fit.subjects) > 1


def _of_shared(fit: Posterior) -> RhatEss:
    """Measure the convergence of all shared values, each of shape (1, values)."""
    if "shared" not in fit.kept:
        parts = [rhat_ess(draws_of(fit, latent)) for latent in fit.shared]
        fit.kept["shared"] = RhatEss(*map(np.hstack, zip(*parts, strict=True)))
    shared: RhatEss = fit.kept["shared"]
    return shared


def _slowest(names: Sequence[str], measured: RhatEss, least: float) -> list[str]:
    """Name the values of a joint fit with the fewest effective draws, if they are too few."""
    ess = np.minimum(measured.ess_bulk, measured.ess_tail)[0]
    bad = np.flatnonzero(~((measured.rhat[0] <= RHAT_LIMIT) & (ess >= least)))
    if not len(bad):
        return []
    first = bad[np.argsort(np.nan_to_num(ess[bad], nan=0.0), kind="stable")][:3]
    shown = [f"{names[at]} (R-hat {measured.rhat[0][at]:.3f}, ESS {ess[at]:.0f})" for at in first]
    more = [f"{len(bad) - len(first)} more"] if len(bad) > len(first) else []
    return [f"values that did not converge: {', '.join([*shown, *more])}"]


def _vague(elements: Sequence[str], vague: np.ndarray, joint: bool) -> list[str]:
    """Name the prior-dominated elements; of a joint fit, with the number of subjects."""
    if not joint:
        names = np.array(elements, dtype=object)
        return [", ".join(names[own]) for own in vague]
    counts = dict(zip(elements, vague.sum(axis=0).tolist(), strict=True))
    return [", ".join(f"{name} ({n} of {len(vague)})" for name, n in counts.items() if n)]


def remedies(diagnosed: pd.DataFrame, most: int, elsewhere: str) -> list[str]:
    """Write what is wrong with the first subjects that are not ok, and what to do about it."""
    wrong = diagnosed[diagnosed["status"] != "ok"]
    found = []
    for subject, row in wrong[:most].iterrows():
        status = "" if row["reason"].startswith(row["status"]) else f"{row['status']}: "
        found.append(f"{subject}: {status}{row['reason']}")
    left = len(wrong) - most
    return found + [f"and {left} more, with reasons in {elsewhere}"] * (left > 0)


ALL = "all subjects"
"""Index of the row of a joint fit."""

_WHERE = "a band may cause modes that the chains do not visit, method='grid' does"


def _searched(fit: Posterior, rows: np.ndarray) -> np.ndarray:
    """Whether the modes that bands may cause were searched, by subject."""
    if FAULTS in fit.data.attrs or not find_bands(fit.layout):
        return np.ones(len(rows), dtype=bool)
    if MODES_SEARCHED not in fit.data["sample_stats"]:  # a joint fit
        return np.full(len(rows), fit.data.attrs.get("method", "nuts") != "nuts")
    return np.asarray(statistic_of(fit, MODES_SEARCHED, rows).all(axis=(1, 2)))


def _unlinked(fit: Posterior) -> list[str]:
    """Write which groups of subjects share no item, in a joint fit."""
    if not fit.layout.joint:
        return []
    if "unlinked" not in fit.kept:
        cohort = cohort_of(fit)
        said = about_unlinked(cohort, unlinked_groups(cohort))
        fit.kept["unlinked"] = [text.splitlines()[0] for text in said]
    result: list[str] = fit.kept["unlinked"]
    return result


def _disagreements(fit: Posterior, rows: np.ndarray, joint: bool) -> list[list[str]]:
    """Write which priors the outcomes contradict, by subject; one list for a joint fit."""
    if FAULTS in fit.data.attrs:  # the values that a newcomer shares were fitted to the others
        return [[] for _ in rows]
    shared = [*_unlinked(fit), *(conflict.text for conflict in shared_conflicts(fit))]
    own = own_conflicts(fit, rows)
    by_subject = [[one.text for one in own if one.surprising[at].any()] for at in range(len(rows))]
    texts = [[one.text for one in own if one.surprising.any()]] if joint else by_subject
    return [[text for text in (*shared, *mine) if text] for mine in texts]


def _off_grid(fit: Posterior, rows: np.ndarray) -> np.ndarray:
    """Whether NUTS sampled a subject of a fit on the grid, whose draws have no energy."""
    if fit.data.attrs.get("method") != "grid":
        return np.zeros(len(rows), dtype=bool)
    return np.asarray(np.isfinite(statistic_of(fit, "energy", rows)).any(axis=(1, 2)))


def _used(fit: Posterior, attempt: int) -> tuple[int, float]:
    """Give the tuning and the target of acceptance of an attempt; no tuning without NUTS."""
    known = fit.data.attrs
    if known.get("method", "nuts") != "nuts" or "tune" not in known:
        return 0, Convergence.target_accept
    aim = float(known.get("target_accept", Convergence.target_accept))
    first = SamplingOptions(tune=int(known["tune"]), target_accept=aim)
    used = with_more_care(first, attempt)
    return used.tune, used.target_accept


def _apart(fit: Posterior, rows: np.ndarray, rhat: np.ndarray, names: Sequence[str]) -> str:
    """Name the elements in whose modes chains stay; draws are read where R-hat is bad only."""
    if not (rhat > RHAT_LIMIT).any():
        return ""
    draws = [draws_of(fit, latent, rows) for latent in fit.layout.profile]
    every = np.concatenate(draws, axis=1)  # (subjects, elements, chains, draws)
    return stay_apart(every.reshape(-1, *every.shape[2:]), rhat, RHAT_LIMIT, names)


def _failed(fit: Posterior) -> pd.DataFrame:
    attempts = [fit.attempts.get(subject, 1) for subject in fit.failures]
    reasons = zip(fit.failures.values(), attempts, strict=True)
    return pd.DataFrame(
        {
            "status": "failed",
            "attempts": attempts,
            "prior_dominated": "",
            "reason": ["; ".join([reason, *_again(often)]) for reason, often in reasons],
        },
        index=pd.Index(list(fit.failures), name="subject"),
    )


def _outcomes(fit: Posterior, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Successes and trials of some subjects over all items."""
    cells = fit.coded
    return cells.by_subject(cells.successes)[rows], cells.by_subject(cells.trials)[rows]


def _all_alike(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    return np.asarray((successes == 0) | (successes == trials))


def _remarks(successes: int, trials: int) -> list[str]:
    if not _all_alike(np.array(successes), np.array(trials)):
        return []
    what = "successes" if successes else "failures"
    return [
        f"all {trials} outcomes are {what}: the data bound the profile on one side only, the "
        "prior decides the rest"
    ]


def _together_alike(fit: Posterior, rows: np.ndarray) -> list[str]:
    """Name the subjects of a joint fit whose outcomes are all alike."""
    who = np.array(fit.names(rows), dtype=object)[_all_alike(*_outcomes(fit, rows))]
    return [f"all outcomes are alike for {some(who)}, whose profiles the others decide"] * bool(
        len(who)
    )


def _several(names: Sequence[str], modes: np.ndarray) -> list[str]:
    several = [name for name, split in zip(names, modes, strict=False) if split]
    return [f"separate modes, between which means may lie: {some(several)}"] if several else []


def _again(attempts: int) -> list[str]:
    return [f"after {many(attempts, 'attempt')}"] if attempts > 1 else []
