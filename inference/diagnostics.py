"""Profiles as a table, and a verdict on every subject's sampling and data."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .errors import FitError

if TYPE_CHECKING:
    from .results import Fit

RHAT_LIMIT = 1.01  # Vehtari et al. (2021)
ESS_PER_CHAIN = 100  # same source
LITTLE_LEARNT = 0.1  # variance removed by the data, below which the prior speaks


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
        ``high``, ``ess_bulk``, ``ess_tail``, ``rhat``, ``shrinkage``
        (:math:`1 - \mathrm{var}_{post} / \mathrm{var}_{prior}`) and ``prior_dominated`` (shrinkage
        below 0.1, or all outcomes alike, so that the data bound the profile on one side only).

    Raises
    ------
    FitError
        When `prob` is not between 0 and 1.

    References
    ----------
    Vehtari et al. (2021) for the rank-normalised R-hat and the effective sample sizes.

    Examples
    --------
    >>> result.profiles().columns.tolist()  # doctest: +SKIP
    ['subject', 'node', 'label', 'mean', 'sd', 'low', 'high', ...]
    """
    from arviz_stats.base import array_stats

    if not 0 < prob < 1:
        raise FitError(f"prob={prob}; give the mass of the interval, between 0 and 1, such as 0.9")
    alike = fit.subjects if not len(fit.subjects) else _outcomes_alike(fit)
    tables = []
    for latent in fit.layout.latents:
        draws = fit.posterior[latent.name].to_numpy()  # (subject, chain, draw, labels...)
        prior = fit.prior[latent.name]
        draws = draws.reshape(*draws.shape[:3], -1).transpose(0, 3, 1, 2)
        prior_variance = prior.reshape(len(prior), -1).var(axis=0)
        flat = draws.reshape(*draws.shape[:2], -1)
        tail = (1 - prob) / 2
        low, high = np.quantile(flat, [tail, 1 - tail], axis=-1)
        variance = flat.var(axis=-1, ddof=1)
        shrinkage = 1 - variance / prior_variance
        labels = [label for names in latent.dims.values() for label in names] or [""]
        one_row = {"subject": np.repeat(fit.subjects, len(labels)), "node": latent.name}
        columns = {
            "mean": flat.mean(axis=-1),
            "sd": np.sqrt(variance),
            "low": low,
            "high": high,
            "ess_bulk": array_stats.ess(draws, method="bulk"),
            "ess_tail": array_stats.ess(draws, method="tail", prob=(0.05, 0.95)),
            "rhat": _rhat(draws),
            "shrinkage": shrinkage,
            "prior_dominated": (shrinkage < LITTLE_LEARNT) | np.asarray(alike)[:, None],
        }
        tables.append(
            pd.DataFrame(
                {
                    **one_row,
                    "label": np.tile(labels, len(fit.subjects)),
                    **{name: np.asarray(column).ravel() for name, column in columns.items()},
                }
            )
        )
    table = pd.concat(tables, ignore_index=True)
    order = {subject: place for place, subject in enumerate(fit.subjects)}
    return table.sort_values(
        "subject", key=lambda s: s.map(order), kind="stable", ignore_index=True
    )


def diagnose(fit: "Fit") -> pd.DataFrame:
    """Judge every subject's sampling and data.

    Returns
    -------
    DataFrame
        Indexed by subject, failed ones last: ``status`` (``ok``, ``check`` or ``failed``),
        ``success`` rate, ``divergences``, largest ``rhat``, smallest ``ess`` (bulk or tail),
        ``prior_dominated`` (the profile elements of which the data say next to nothing) and
        ``reason`` in words.
    """
    table = profiles(fit)
    groups = table.groupby("subject", sort=False)
    observed = fit.observed
    statistics = fit.data["sample_stats"].to_dataset()
    successes, trials = (observed[name].sum("item").to_numpy() for name in ("successes", "trials"))
    element = table["node"] + table["label"].map(lambda label: f"[{label}]" if label else "")
    vague = element[table["prior_dominated"]].groupby(table["subject"]).agg(", ".join)
    result = pd.DataFrame(
        {
            "success": successes / trials,
            "divergences": statistics["diverging"].sum(["chain", "draw"]).to_numpy(),
            "rhat": groups["rhat"].max().to_numpy(),
            "ess": groups[["ess_bulk", "ess_tail"]].min().min(axis=1).to_numpy(),
        },
        index=pd.Index(fit.subjects, name="subject"),
    )
    result["prior_dominated"] = vague.reindex(result.index).fillna("")
    chains = statistics.sizes["chain"]
    faults = [_faults(row, chains) for row in result.itertuples()]
    remarks = [_remarks(s, t) for s, t in zip(successes, trials, strict=True)]
    result.insert(0, "status", ["check" if found else "ok" for found in faults])
    result["reason"] = ["; ".join([*f, *r]) for f, r in zip(faults, remarks, strict=True)]
    failed = pd.DataFrame(
        {"status": "failed", "prior_dominated": "", "reason": list(fit.failures.values())},
        index=pd.Index(list(fit.failures), name="subject"),
    )
    return pd.concat([result, failed]) if len(failed) else result


def _outcomes_alike(fit: "Fit") -> np.ndarray:
    successes = fit.observed["successes"].sum("item")
    trials = fit.observed["trials"].sum("item")
    return ((successes == 0) | (successes == trials)).to_numpy()


def _rhat(draws: np.ndarray) -> np.ndarray:
    from arviz_stats.base import array_stats

    if draws.shape[2] < 2:
        return np.full(draws.shape[:2], np.nan)
    return np.asarray(array_stats.rhat(draws))


def _faults(row: "pd.core.frame._PandasNamedTuple", chains: int) -> list[str]:  # type: ignore[name-defined]
    found = []
    if row.divergences:
        found.append(f"{row.divergences} divergences: raise target_accept or reparametrise")
    if np.isnan(row.rhat):
        found.append("R-hat unknown: it needs at least 2 chains that move")
    elif row.rhat > RHAT_LIMIT:
        found.append(f"R-hat {row.rhat:.3f} above {RHAT_LIMIT}: draw more")
    if row.ess < ESS_PER_CHAIN * chains:
        found.append(
            f"effective sample size {row.ess:.0f} below {ESS_PER_CHAIN * chains}: draw more"
        )
    return found


def _remarks(successes: int, trials: int) -> list[str]:
    if successes in (0, trials):
        what = "successes" if successes else "failures"
        return [
            f"all {trials} outcomes are {what}: the data bound the profile on one side only, the "
            "prior decides the rest"
        ]
    return []
