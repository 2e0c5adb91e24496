"""Profiles as a table, and a verdict on every subject's sampling and data."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .options import inside
from .wording import many

if TYPE_CHECKING:
    from .results import Fit

RHAT_LIMIT = 1.01  # Vehtari et al. (2021)
ESS_PER_CHAIN = 100  # same source
LITTLE_LEARNT = 0.1  # variance removed by the data, below which the prior speaks ...
LITTLE_MOVED = 0.5  # ... unless the mean moved by so many of the prior's standard deviations


def profiles(fit: "Fit", prob: float = 0.9) -> pd.DataFrame:
    r"""Summarise every profile element of every subject.

    Parameters
    ----------
    fit : Fit
        The fit.
    prob : float, default 0.9
        Mass of the equal-tailed interval.

    Returns
    -------
    DataFrame
        One row per subject, node and label (empty without labels): ``mean``, ``sd``, ``low``,
        ``high``, ``ess_bulk``, ``ess_tail``, ``rhat`` (NaN for a single chain), ``shrinkage``
        (:math:`1 - \mathrm{var}_{post} / \mathrm{var}_{prior}`) and ``prior_dominated`` (shrinkage
        below 0.1 and a mean within half a prior sd of the prior's, or all outcomes alike, so that
        the data bound the profile on one side only).

    Raises
    ------
    FitError
        When `prob` is not between 0 and 1.

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
    from arviz_stats.base import array_stats

    prob = inside("prob", prob, such_as=0.9)
    tail = (1 - prob) / 2
    alike = _all_alike(*_outcomes(fit))
    tables = []
    for latent in fit.layout.latents:
        draws = fit.posterior[latent.name].to_numpy()  # (subject, chain, draw, labels...)
        draws = draws.reshape(*draws.shape[:3], -1).transpose(0, 3, 1, 2)
        flat = draws.reshape(*draws.shape[:2], -1)
        prior = fit.prior[latent.name]
        prior = prior.reshape(len(prior), -1)
        low, high = np.quantile(flat, [tail, 1 - tail], axis=-1)
        variance = flat.var(axis=-1, ddof=1)
        shrinkage = 1 - variance / prior.var(axis=0, ddof=1)
        moved = abs(flat.mean(axis=-1) - prior.mean(axis=0)) / prior.std(axis=0, ddof=1)
        vague = (shrinkage < LITTLE_LEARNT) & (moved < LITTLE_MOVED)
        labels = [label for names in latent.dims.values() for label in names] or [""]
        columns = {
            "mean": flat.mean(axis=-1),
            "sd": np.sqrt(variance),
            "low": low,
            "high": high,
            "ess_bulk": array_stats.ess(draws, method="bulk"),
            "ess_tail": array_stats.ess(draws, method="tail", prob=(0.05, 0.95)),
            "rhat": _rhat(draws),
            "shrinkage": shrinkage,
            "prior_dominated": vague | alike[:, None],
        }
        names = {
            "subject": np.repeat(fit.subjects, len(labels)),
            "node": latent.name,
            "label": np.tile(labels, len(fit.subjects)),
        }
        values = {name: np.asarray(column).ravel() for name, column in columns.items()}
        tables.append(
            pd.DataFrame(names | values, index=np.repeat(np.arange(len(alike)), len(labels)))
        )
    return pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)


def diagnose(fit: "Fit") -> pd.DataFrame:
    """Judge every subject's sampling and data.

    Parameters
    ----------
    fit : Fit
        The fit.

    Returns
    -------
    DataFrame
        Indexed by subject, failed ones last: ``status`` (``ok``, ``check`` or ``failed``),
        ``success`` rate, ``divergences``, largest ``rhat``, smallest ``ess`` (bulk or tail; both
        NaN when unknown for any profile element), ``prior_dominated`` (the profile elements of
        which the data say next to nothing) and ``reason`` in words.

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
    table = profiles(fit)
    statistics = fit.data["sample_stats"].to_dataset()
    chains = statistics.sizes["chain"]
    successes, trials = _outcomes(fit)
    divergences = statistics["diverging"].sum(["chain", "draw"]).to_numpy()
    each = (len(fit.subjects), -1)  # rows of a subject lie together; NaN stays NaN below
    rhat = table["rhat"].to_numpy().reshape(each).max(axis=1)
    ess = table[["ess_bulk", "ess_tail"]].to_numpy().reshape(each).min(axis=1)
    element = table["node"] + table["label"].map(lambda label: f"[{label}]" if label else "")
    names = element.to_numpy(dtype=object).reshape(each)
    vague = table["prior_dominated"].to_numpy().reshape(each)
    faults = [_faults(*row, chains=chains) for row in zip(divergences, rhat, ess, strict=True)]
    remarks = [_remarks(*row) for row in zip(successes, trials, strict=True)]
    result = pd.DataFrame(
        {
            "status": ["check" if found else "ok" for found in faults],
            "success": successes / trials,
            "divergences": divergences,
            "rhat": rhat,
            "ess": ess,
            "prior_dominated": [", ".join(n[v]) for n, v in zip(names, vague, strict=True)],
            "reason": ["; ".join([*f, *r]) for f, r in zip(faults, remarks, strict=True)],
        },
        index=pd.Index(fit.subjects, name="subject"),
    )
    failed = pd.DataFrame(
        {"status": "failed", "prior_dominated": "", "reason": list(fit.failures.values())},
        index=pd.Index(list(fit.failures), name="subject"),
    )
    return pd.concat([result, failed]) if len(failed) else result


def _outcomes(fit: "Fit") -> tuple[np.ndarray, np.ndarray]:
    """Each subject's successes and trials over all items."""
    observed = fit.observed
    successes, trials = (observed[name].sum("item").to_numpy() for name in ("successes", "trials"))
    return successes, trials


def _all_alike(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    return np.asarray((successes == 0) | (successes == trials))


def _rhat(draws: np.ndarray) -> np.ndarray:
    from arviz_stats.base import array_stats

    if draws.shape[2] < 2:
        return np.full(draws.shape[:2], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):  # chains that do not move have none
        return np.asarray(array_stats.rhat(draws))


def _faults(divergences: int, rhat: float, ess: float, chains: int) -> list[str]:
    found = []
    if divergences:
        found.append(f"{many(divergences, 'divergence')}: raise target_accept or reparametrise")
    if np.isnan(rhat):
        found.append("R-hat unknown: it needs at least 2 chains that move")
    elif rhat > RHAT_LIMIT:
        found.append(f"R-hat {rhat:.4f} above {RHAT_LIMIT}: draw more")
    if np.isnan(ess):
        found.append("effective sample size unknown: it needs chains that move")
    elif ess < ESS_PER_CHAIN * chains:
        found.append(f"effective sample size {ess:.0f} below {ESS_PER_CHAIN * chains}: draw more")
    return found


def _remarks(successes: int, trials: int) -> list[str]:
    if not _all_alike(np.array(successes), np.array(trials)):
        return []
    what = "successes" if successes else "failures"
    return [
        f"all {trials} outcomes are {what}: the data bound the profile on one side only, the "
        "prior decides the rest"
    ]
