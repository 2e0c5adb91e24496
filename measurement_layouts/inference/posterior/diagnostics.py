"""Profiles as a table, and a verdict on every subject's sampling and data."""

import json
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import many
from ...common.options import inside
from ..model.bands import find_bands
from ..model.linkage import about_unlinked, unlinked_groups
from ..sampling.convergence import (
    NOT_SEARCHED,
    RHAT_LIMIT,
    Convergence,
    RhatEss,
    by_element,
    faults,
    status,
    stay_apart,
    worst,
)
from ..sampling.draws import MODES_SEARCHED, SamplingOptions, with_more_care
from .assembly import FAULTS
from .cohort import cohort_of
from .conflicts import own_conflicts, shared_conflicts
from .posterior import Posterior, success_rates
from .shared import own_latents, own_names, slowest_shared
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
        One row per subject, node and label (empty without labels; of what a subject has for each
        task, the task): ``mean``, ``sd``, ``low``,
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
    known = own_names(fit)
    names = {
        "subject": np.repeat(fit.names(rows), len(known)),
        "node": np.tile([node for node, _ in known], len(rows)),
        "label": np.tile([label for _, label in known], len(rows)),
    }
    columns = summaries(fit, rows, prob)
    columns["prior_dominated"] |= _all_alike(*_outcomes(fit, rows))[:, None]
    return pd.DataFrame(names | {name: values.ravel() for name, values in columns.items()})


def diagnose(fit: Posterior, subjects: Iterable[object] | None = None) -> pd.DataFrame:
    """Judge every subject's sampling and data.

    Parameters
    ----------
    fit : Posterior
        The fit; its draws are read some subjects at a time.
    subjects : iterable, optional
        Subjects (default: all, the failed ones too).

    Returns
    -------
    DataFrame
        Indexed by subject, failed ones last: ``status`` (``ok``; ``few draws``: chains mix, and
        more draws make the numbers as sure as they should be; ``few divergences``: one in 200 draws
        at most, of chains that mix; ``modes
        not searched``: bands may cause modes that chains do not visit; ``not converged``: its
        sampling is not to be trusted;
        ``failed``: it has no draws), ``success`` rate, ``divergences``, largest
        ``rhat``, smallest ``ess`` (bulk or tail; both NaN when unknown for any profile element; in
        a joint fit also of what subjects share, which ``reason`` then names),
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
    who = fit.names(rows)
    table = profiles(fit, subjects=subjects)
    diverging = fit.data["sample_stats"].to_dataset()["diverging"]
    chains, length = diverging.sizes["chain"], diverging.sizes["draw"]
    divergences = np.concatenate(
        [
            diverging.variable[block].to_numpy().sum(axis=(1, 2))
            for block in subject_blocks(fit, rows)
        ]
    )
    each = (len(rows), -1)  # rows of a subject lie together
    measures = (table[name].to_numpy().reshape(each) for name in RhatEss._fields)
    rhat, ess = worst(RhatEss(*measures))
    together = slowest_shared(fit)
    if together is not None:
        rhat, ess = np.maximum(rhat, together.rhat), np.minimum(ess, together.ess)
    element = table["node"] + table["label"].map(lambda label: f"[{label}]" if label else "")
    names = element.to_numpy(dtype=object).reshape(each)
    modes = table["modes"].to_numpy().reshape(each)
    by_row = zip(rows, table["rhat"].to_numpy().reshape(each), strict=True)
    apart = [_apart(fit, row, found, names[0]) for row, found in by_row]
    attempts = [fit.attempts.get(subject, 1) for subject in who]
    judged = zip(divergences.tolist(), rhat.tolist(), ess.tolist(), apart, strict=True)
    wrong = [
        faults(Convergence(*row, length, *_used(fit, often)), chains)
        for row, often in zip(judged, attempts, strict=True)
    ]
    if FAULTS in fit.data.attrs:  # found as it was made
        wrong = [json.loads(fit.data.attrs[FAULTS]) for _ in rows]
    for fault, searched in zip(wrong, _searched(fit, rows), strict=True):
        fault += [] if searched else [f"{NOT_SEARCHED}: {_WHERE}"]
    successes, trials = _outcomes(fit, rows)
    fallen = _off_grid(fit, rows)
    disagree = _disagreements(fit, rows)
    remarks = [
        [
            *(["sampled by NUTS: the grid cannot resolve the posterior"] * bool(off)),
            *([together.remark] if together is not None and together.remark else []),
            *_remarks(*counted),
            *([] if stay else _several(names[0], own)),
            *conflicts,
        ]
        for *counted, stay, own, off, conflicts in zip(
            successes, trials, apart, modes, fallen, disagree, strict=True
        )
    ]
    vague = table["prior_dominated"].to_numpy().reshape(each)
    result = pd.DataFrame(
        {
            "status": [status(found) for found in wrong],
            "success": success_rates(fit, rows).to_numpy(),
            "divergences": divergences,
            "rhat": rhat,
            "ess": ess,
            "attempts": attempts,
            "prior_dominated": [", ".join(n[v]) for n, v in zip(names, vague, strict=True)],
            "reason": [
                "; ".join([*fault, *remark, *_again(often)])
                for fault, remark, often in zip(wrong, remarks, attempts, strict=True)
            ],
        },
        index=pd.Index(who, name="subject"),
    )
    if subjects is not None or not fit.failures:
        return result
    return pd.concat([result, _failed(fit)])


def remedies(diagnosed: pd.DataFrame, most: int, elsewhere: str) -> list[str]:
    """Write what is wrong with the first subjects that are not ok, and what to do about it."""
    wrong = diagnosed[diagnosed["status"] != "ok"]
    found = []
    for subject, row in wrong[:most].iterrows():
        status = "" if row["reason"].startswith(row["status"]) else f"{row['status']}: "
        found.append(f"{subject}: {status}{row['reason']}")
    left = len(wrong) - most
    return found + [f"and {left} more, with reasons in {elsewhere}"] * (left > 0)


_WHERE = "a band may cause modes that the chains do not visit, method='grid' does"


def _searched(fit: Posterior, rows: np.ndarray) -> np.ndarray:
    """Whether the modes that bands may cause were searched, by subject."""
    if FAULTS in fit.data.attrs or not find_bands(fit.layout):
        return np.ones(len(rows), dtype=bool)
    statistics = fit.data["sample_stats"].to_dataset()
    if MODES_SEARCHED not in statistics:  # a joint fit
        return np.full(len(rows), fit.data.attrs.get("method", "nuts") != "nuts")
    return np.asarray(statistics[MODES_SEARCHED].to_numpy()[rows].all(axis=(1, 2)))


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


def _disagreements(fit: Posterior, rows: np.ndarray) -> list[list[str]]:
    """Write which priors the outcomes contradict, by subject."""
    if FAULTS in fit.data.attrs:  # the values that a newcomer shares were fitted to the others
        return [[] for _ in rows]
    shared = [*_unlinked(fit), *(each.text for each in shared_conflicts(fit) if each.text)]
    of_subjects = own_conflicts(fit, rows)
    return [
        shared + [each.text for each in of_subjects if each.surprising[row].any()]
        for row in range(len(rows))
    ]


def _off_grid(fit: Posterior, rows: np.ndarray) -> np.ndarray:
    """Whether NUTS sampled a subject of a fit on the grid, whose draws have no energy."""
    if fit.data.attrs.get("method") != "grid":
        return np.zeros(len(rows), dtype=bool)
    energy = fit.data["sample_stats"].to_dataset()["energy"].to_numpy()[rows]
    return np.asarray(np.isfinite(energy).any(axis=(1, 2)))


def _used(fit: Posterior, attempt: int) -> tuple[int, float]:
    """Give the tuning and the target of acceptance of an attempt; no tuning without NUTS."""
    known = fit.data.attrs
    if known.get("method", "nuts") != "nuts" or "tune" not in known:
        return 0, Convergence.target_accept
    aim = float(known.get("target_accept", Convergence.target_accept))
    first = SamplingOptions(tune=int(known["tune"]), target_accept=aim)
    used = with_more_care(first, attempt)
    return used.tune, used.target_accept


def _apart(fit: Posterior, row: int, rhat: np.ndarray, names: Sequence[str]) -> str:
    """Name the elements in whose modes chains stay; draws are read where R-hat is bad only."""
    if not (rhat > RHAT_LIMIT).any():
        return ""
    posterior = fit.posterior.variables
    draws = [
        by_element(posterior[one.name][[row]].to_numpy())[0] for one in own_latents(fit.layout)
    ]
    return stay_apart(np.concatenate(draws), rhat, RHAT_LIMIT, names)


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
    successes, trials = (count[rows].sum(axis=1) for count in fit.counts)
    return successes, trials


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


def _several(names: np.ndarray, modes: np.ndarray) -> list[str]:
    several = ", ".join(names[modes])
    return [f"separate modes, between which means may lie: {several}"] if several else []


def _again(attempts: int) -> list[str]:
    return [f"after {many(attempts, 'attempt')}"] if attempts > 1 else []
