"""Profiles as a table, and a verdict on every subject's sampling and data."""

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ...common.digits import chance, decimals, fixed
from ...common.errors import FitError
from ...common.messages import many
from ...common.options import inside
from ...layouts.elements import elements
from ..sampling.convergence import (
    ESS_PER_CHAIN,
    RHAT_LIMIT,
    Convergence,
    RhatEss,
    by_element,
    effective_within,
    faults,
    rhat_ess,
    separate,
    stay_apart,
    worst,
)
from .posterior import Posterior, success_rates

_BLOCKS = {20: 6.0, 40: 6.5, 80: 7.0}  # cuts into so many, with critical values of the dip times
# the root of the effective draws in a block: few of 1,000 flat densities exceed one
_LEAST = 10  # effective draws in a block, for these to hold
_DIP = 1.0  # nats: peaks with less between them are one mode, as in `modes`
_CLOSEST = 1e-12  # part of the range: closer draws are alike


def describe_modes(draws: np.ndarray, ordered: np.ndarray, rhat: np.ndarray) -> np.ndarray:
    r"""Say where elements of profiles have separate modes.

    The draws in ascending order are cut into K = 20, 40 and 80 blocks of equally many. A block k of
    the width :math:`w_k` is a valley where blocks on both sides are narrower by a factor, the dip

    .. math:: d_k = \log \frac{w_k}{\max(\min_{i < k} w_i, \min_{j > k} w_j)}
        \ge \max\left(1, \frac{c_K}{\sqrt{n / K}}\right), \qquad c = 6, 6.5, 7

    which no unimodal density has. The n effective draws are those of the ranks within the modes,
    10 K at least: how seldom chains go from one mode to another does not count. Of one thousand
    unimodal posteriors, flat, skewed or at a boundary, fewer than one is so taken for one with
    several modes. Modes of one tenth of the draws are seen among 1,000, of one twentieth among
    4,000. Both sides of a valley are looked at in the same way. Where R-hat is bad, chains whose
    draws do not overlap count as modes, too; see `separation.separate`.

    Parameters
    ----------
    draws : ndarray, shape (..., chain, draw)
        Of the elements.
    ordered : ndarray, shape (..., chain times draw)
        The same in ascending order.
    rhat : ndarray, shape (...)
        Of the elements.

    Returns
    -------
    ndarray of str, shape (...)
        Median of each mode, with its weight where chains visit the modes often enough to agree on
        it (R-hat of being in it 1.01 at most, effective sample size 100 per chain at least), else
        with the number of chains that stay in it; empty where there are no separate modes. A mode
        that no chain has found is not seen.

    References
    ----------
    Hartigan, J. A. and Hartigan, P. M. (1985), The dip test of unimodality, Annals of Statistics
    13, for the uniform distribution as the unimodal one that is the hardest to tell from several
    modes.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(3, 4, 1000)) / 9
    >>> draws[1] += np.random.default_rng(2).choice([-2, 1], (4, 1000), p=[0.3, 0.7])
    >>> draws[2] += [[-2], [1], [1], [1]]
    >>> list(describe_modes(draws, np.sort(draws.reshape(3, -1)), rhat_ess(draws).rhat))
    ['', 'near -2.00 (weight 0.31) and 1.00 (weight 0.69)', 'near -2.00 (1 chain) and 1.00 (3
    chains), of unknown weight']
    """
    *shape, chains, length = draws.shape
    draws, ordered = draws.reshape(-1, chains, length), ordered.reshape(-1, chains * length)
    found = np.full(len(draws), "", dtype=object)
    suspects = rhat.ravel() > RHAT_LIMIT
    for blocks in _BLOCKS:
        suspects |= (_excess(ordered, blocks, chains * length) >= 1).any(axis=-1)
    for place in np.flatnonzero(suspects):
        cuts = _cuts(draws[place], ordered[place])
        if rhat.flat[place] > RHAT_LIMIT:
            cuts = max(cuts, _between(draws[place]), key=len)
        if cuts:
            found[place] = _told(draws[place], np.searchsorted(cuts, draws[place]))
    return found.reshape(shape)


def _edges(count: int, blocks: int) -> np.ndarray:
    """Places of the ends of the blocks among ascending draws."""
    return np.round(np.linspace(0, count - 1, blocks + 1)).astype(int)


def _excess(ordered: np.ndarray, blocks: int, effective: float) -> np.ndarray:
    """Dips of ascending draws in the blocks but the first and the last, over what they need."""
    if not effective >= _LEAST * blocks:
        return np.zeros((*ordered.shape[:-1], blocks - 2))
    ends = ordered[..., _edges(ordered.shape[-1], blocks)]
    width = np.maximum(np.diff(ends, axis=-1), _CLOSEST * (ends[..., -1:] - ends[..., :1]))
    left = np.minimum.accumulate(width, axis=-1)[..., :-2]
    right = np.minimum.accumulate(width[..., ::-1], axis=-1)[..., ::-1][..., 2:]
    with np.errstate(invalid="ignore", divide="ignore"):  # draws that are all alike
        dips = np.log(width[..., 1:-1] / np.maximum(left, right))
    needed = max(_DIP, _BLOCKS[blocks] / (effective / blocks) ** 0.5)
    return np.where(np.isfinite(dips), dips / needed, 0.0)


def _between(draws: np.ndarray) -> list[float]:
    """Give values between groups of chains whose draws do not overlap."""
    group = separate(draws)
    middles = [np.median(draws[group == number]) for number in range(group.max() + 1)]
    return [float(one + two) / 2 for one, two in itertools.pairwise(middles)]


def _cuts(draws: np.ndarray, ordered: np.ndarray) -> list[float]:
    """Cut one element's draws in their valleys, as far as their effective number allows."""
    cuts = _split(ordered, 1.0)
    while cuts:
        part = effective_within(draws, np.searchsorted(cuts, draws)) / draws.size
        fewer = _split(ordered, part)
        if fewer == cuts:
            break
        cuts = fewer if len(fewer) < len(cuts) else []
    return cuts


def _split(ordered: np.ndarray, part: float) -> list[float]:
    """Cut ascending draws, of which a part is effective, in their deepest valley, and so on."""
    each = {blocks: _excess(ordered, blocks, part * len(ordered)) for blocks in _BLOCKS}
    blocks = max(each, key=lambda count: float(each[count].max()))
    deepest = int(each[blocks].argmax())
    if each[blocks][deepest] < 1:
        return []
    start, stop = _edges(len(ordered), blocks)[deepest + 1 : deepest + 3]
    low = start + int(np.diff(ordered[start : stop + 1]).argmax())
    cut = float(ordered[low] + ordered[low + 1]) / 2
    return [*_split(ordered[: low + 1], part), cut, *_split(ordered[low + 1 :], part)]


def _told(draws: np.ndarray, mode: np.ndarray) -> str:
    """Say where the modes are, given which one each draw is in."""
    numbers = range(int(mode.max()) + 1)
    weights = _weights(mode)
    places = []
    for number in numbers:
        own = draws[mode == number]
        middle = fixed(float(np.median(own)), decimals(float(own.std()), len(own)))
        staying = int((mode == number).all(axis=1).sum())
        beside = f"weight {weights[number]}" if weights else many(staying, "chain") * bool(staying)
        places.append(f"{middle.replace('−', '-')}{f' ({beside})' if beside else ''}")
    said = f"near {', '.join(places[:-1])} and {places[-1]}"
    return said if weights else f"{said}, of unknown weight"


def _weights(mode: np.ndarray) -> list[str]:
    """Write the modes' weights; none where the chains do not agree on them."""
    inside = np.stack([mode == number for number in range(int(mode.max()) + 1)]).astype(float)
    found = rhat_ess(inside if len(inside) > 2 else inside[:1])  # of two, one says it all
    known = (found.rhat <= RHAT_LIMIT) & (found.ess_bulk >= ESS_PER_CHAIN * len(mode))
    if not known.all():
        return []
    share = inside.mean(axis=(1, 2))
    errors = np.sqrt(share * (1 - share) / found.ess_bulk)  # of two, the same
    return [chance(float(one), float(error)) for one, error in zip(share, errors, strict=True)]


LITTLE_LEARNT = 0.1  # variance removed by the data, below which the prior speaks ...
LITTLE_MOVED = 0.5  # ... unless the mean moved by so many of the prior's standard deviations
_BLOCK = 2**19  # bytes of a latent's draws taken at a time; with more, memory is the slow part


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
        Whose profiles; everybody's by default.

    Returns
    -------
    DataFrame
        One row per subject, node and label (empty without labels): ``mean``, ``sd``, ``low``,
        ``high``, ``low_error`` and ``high_error``, the Monte Carlo standard errors of these ends
        (that of the mean is :math:`\mathrm{sd} / \sqrt{\mathrm{ess}_{bulk}}`), ``ess_bulk``,
        ``ess_tail``, ``rhat`` (NaN for a single chain), ``shrinkage``
        (:math:`1 - \mathrm{var}_{post} / \mathrm{var}_{prior}`) and ``prior_dominated`` (shrinkage
        below 0.1 and a mean within half a prior sd of the prior's, or all outcomes alike, so that
        the data bound the profile on one side only); ``modes``, where an element has separate
        modes, between which the mean may lie: in words, with their weights where chains agree on
        them, empty elsewhere (see `valleys.describe_modes`). Numbers are not rounded.

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
    known = elements(fit.layout)
    names = {
        "subject": np.repeat(np.array(fit.subjects)[rows], len(known)),
        "node": np.tile([element.latent.name for element in known], len(rows)),
        "label": np.tile([element.label for element in known], len(rows)),
    }
    blocks = [_summaries(fit, block, prob) for block in _blocks(fit, rows)]
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    columns["prior_dominated"] |= _all_alike(*_outcomes(fit, rows))[:, None]
    return pd.DataFrame(names | {name: values.ravel() for name, values in columns.items()})


def diagnose(fit: Posterior, subjects: Iterable[object] | None = None) -> pd.DataFrame:
    """Judge every subject's sampling and data.

    Parameters
    ----------
    fit : Posterior
        The fit; its draws are read some subjects at a time.
    subjects : iterable, optional
        Whom; everybody by default, and then the failed ones too.

    Returns
    -------
    DataFrame
        Indexed by subject, failed ones last: ``status`` (``ok``; ``not converged``: its sampling is
        not to be trusted; ``failed``: it has no draws), ``success`` rate, ``divergences``, largest
        ``rhat``, smallest ``ess`` (bulk or tail; both NaN when unknown for any profile element),
        ``attempts`` at sampling, ``prior_dominated`` (the profile elements of which the data say
        next to nothing) and ``reason`` in words.

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
    who = [fit.subjects[row] for row in rows]
    table = profiles(fit, subjects=subjects)
    diverging = fit.data["sample_stats"].to_dataset()["diverging"]
    chains = diverging.sizes["chain"]
    divergences = np.concatenate(
        [diverging[block].to_numpy().sum(axis=(1, 2)) for block in _blocks(fit, rows)]
    )
    each = (len(rows), -1)  # rows of a subject lie together
    measures = (table[name].to_numpy().reshape(each) for name in RhatEss._fields)
    rhat, ess = worst(RhatEss(*measures))
    element = table["node"] + table["label"].map(lambda label: f"[{label}]" if label else "")
    names = element.to_numpy(dtype=object).reshape(each)
    modes = table["modes"].to_numpy(dtype=object).reshape(each)
    by_row = zip(rows, table["rhat"].to_numpy().reshape(each), strict=True)
    apart = [_apart(fit, row, found, names[0]) for row, found in by_row]
    judged = zip(divergences.tolist(), rhat.tolist(), ess.tolist(), apart, strict=True)
    wrong = [faults(Convergence(*row), chains) for row in judged]
    successes, trials = _outcomes(fit, rows)
    remarks = [
        [*_remarks(*counted), *([] if stay else _several(names[0], own))]
        for *counted, stay, own in zip(successes, trials, apart, modes, strict=True)
    ]
    attempts = [fit.attempts.get(subject, 1) for subject in who]
    vague = table["prior_dominated"].to_numpy().reshape(each)
    result = pd.DataFrame(
        {
            "status": ["not converged" if fault else "ok" for fault in wrong],
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


def _apart(fit: Posterior, row: int, rhat: np.ndarray, names: Sequence[str]) -> str:
    """Say in which modes one subject's chains stay; draws are read where R-hat is bad only."""
    if not (rhat > RHAT_LIMIT).any():
        return ""
    posterior = fit.posterior
    draws = [by_element(posterior[one.name][[row]].to_numpy())[0] for one in fit.layout.latents]
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


def _blocks(fit: Posterior, rows: np.ndarray) -> list[np.ndarray]:
    """Cut subjects' rows into blocks whose draws of one latent take up little memory."""
    draws = fit.posterior
    largest = max(draws[latent.name][0].nbytes for latent in fit.layout.latents)
    most = max(1, _BLOCK // largest)
    return np.array_split(rows, max(1, -(-len(rows) // most)))


def _summaries(fit: Posterior, rows: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise some subjects' draws; each column is of shape (subjects, elements)."""
    posterior = fit.posterior
    parts = []
    for latent in fit.layout.latents:
        draws = by_element(posterior[latent.name][rows].to_numpy())
        parts.append(_summary(draws, fit.prior[latent.name], prob))
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def _summary(draws: np.ndarray, prior: np.ndarray, prob: float) -> dict[str, np.ndarray]:
    """Summarise draws of one latent, (subject, element, chain, draw), beside its prior's."""
    flat = draws.reshape(*draws.shape[:2], math.prod(draws.shape[2:]))
    prior = prior.reshape(len(prior), -1)
    tail = (1 - prob) / 2
    places = tail * np.array([0.5, 1, 1.5])  # slopes between the outer ones give the density
    ordered = np.sort(flat, axis=-1)
    ends = np.quantile(ordered, np.concatenate([places, 1 - places[::-1]]), axis=-1)
    mean, variance = flat.mean(axis=-1), flat.var(axis=-1, ddof=1)
    shrinkage = 1 - variance / prior.var(axis=0, ddof=1)
    moved = abs(mean - prior.mean(axis=0)) / prior.std(axis=0, ddof=1)
    mixed = rhat_ess(draws)
    counted = np.sqrt(tail * (1 - tail) / mixed.ess_tail) / tail
    return {
        "mean": mean,
        "sd": np.sqrt(variance),
        "low": ends[1],
        "high": ends[4],
        "low_error": (ends[2] - ends[0]) * counted,
        "high_error": (ends[5] - ends[3]) * counted,
        "ess_bulk": mixed.ess_bulk,
        "ess_tail": mixed.ess_tail,
        "rhat": mixed.rhat,
        "shrinkage": shrinkage,
        "prior_dominated": (shrinkage < LITTLE_LEARNT) & (moved < LITTLE_MOVED),
        "modes": describe_modes(draws, ordered, mixed.rhat),
    }


def _outcomes(fit: Posterior, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Successes and trials of some subjects over all items."""
    observed = fit.observed
    successes, trials = (
        observed[name].to_numpy()[rows].sum(axis=1) for name in ("successes", "trials")
    )
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
    found = [f"{name} {where}" for name, where in zip(names, modes, strict=True) if where]
    return [f"separate modes, between which means may lie: {'; '.join(found)}"] if found else []


def _again(attempts: int) -> list[str]:
    return [f"after {many(attempts, 'attempt')}"] if attempts > 1 else []
