"""Model of raters in PyMC: true grades of items, and the bias and reliability of each rater."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from scipy.special import softmax

from ..annotation.ratings import Ratings
from ..common.errors import AnnotationError
from ..common.messages import many
from ..common.options import inside, whole
from ..common.seeds import subject_seed

_CHAINS = 4
_POSITIONS = np.linspace(-4.8, 4.8, 97)  # of items, over which the likelihood is summed
_WEIGHTS = softmax(-(_POSITIONS**2) / 2)
_FLOOR = 1e-12  # least probability of a grade
_TRAITS = ("bias", "scale", "noise", "reliability")


@dataclass(frozen=True, eq=False)
class RaterModel:
    """Posterior of the true grades of items, and of the errors of raters.

    Made by `rater_model`, which has the formulas.

    Attributes
    ----------
    traits : xarray.Dataset
        Draws of ``bias`` (mean difference between a rater's grades and true grades over items),
        ``scale`` (increase of the rater's grades when the true grade increases by one), ``noise``
        (standard deviation of the rater's grades of items with the same true grade, which includes
        the rounding to whole grades) and ``reliability`` (squared correlation with true grades),
        with the dims chain, draw, dimension and rater; and of ``together``, the reliability of all
        raters together, without the dim rater. ArviZ summarises and diagnoses them.
    demands : xarray.DataArray
        Probabilities of true grades, rounded to levels, with the dims item, dimension and level. An
        item that no rater rated on a dimension has the probabilities of a random item.
    equal : bool
        Whether the raters were taken as equally reliable.

    Examples
    --------
    >>> one = pd.DataFrame({"planning": [0, 1, 3, 4, 2, 2, 0, 5]})
    >>> two = pd.DataFrame({"planning": [0, 2, 3, 4, 2, 1, 0, 4]})
    >>> model = rater_model(Ratings.from_wide({"one": one, "two": two}))
    >>> model.demands.sel(dimension="planning", item="2").idxmax("level").item()
    3.0
    >>> dict(model.traits["bias"].sizes)
    {'chain': 4, 'draw': 500, 'dimension': 1, 'rater': 2}
    """

    traits: xr.Dataset
    demands: xr.DataArray
    equal: bool

    def raters(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise bias, scale, noise and reliability of each rater, by dimension.

        Parameters
        ----------
        prob : float, default 0.9
            Mass of the intervals, in (0, 1).

        Returns
        -------
        DataFrame
            By ``dimension`` and ``rater``: the posterior mean of each of `traits`, with its
            equal-tailed interval in the columns with ``_low`` and ``_high``.

        Raises
        ------
        AnnotationError
            When `prob` is out of range.
        """
        return _table(self.traits[list(_TRAITS)], prob)

    def reliability(self, *, least: float = 0.7, prob: float = 0.9) -> pd.DataFrame:
        r"""Compute reliabilities, by dimension, and the number of raters that would be enough.

        .. math:: \rho_k = \frac{\rho_1}{\rho_1 + (1 - \rho_1) / k}

        is the reliability of the average of `k` raters whose errors are independent.

        Parameters
        ----------
        least : float, default 0.7
            Reliability that is needed, in (0, 1).
        prob : float, default 0.9
            Mass of the intervals, in (0, 1).

        Returns
        -------
        DataFrame
            By ``dimension``: the reliability of ``one`` rater (the mean over raters) and of the
            raters ``together`` (the share of the variance of true grades that the ratings
            explain), each with ``_low`` and ``_high``; ``enough``, whether the latter is at least
            `least`; ``needed``, the number of averaged raters that reach it; and ``r_hat``, the
            largest of all traits: above 1.01, ask `rater_model` for more draws.

        Raises
        ------
        AnnotationError
            When an option is out of range.

        References
        ----------
        Spearman (1910) and Brown (1910), British Journal of Psychology 3, 271-295 and 296-322.
        """
        from arviz_stats import rhat

        least = inside("least", least, 0.7, AnnotationError)
        one = self.traits["reliability"].mean("rater").rename("one")
        table = _table(xr.merge([one, self.traits["together"]]), prob)
        needed = least * (1 - table["one"]) / ((1 - least) * table["one"])
        largest = rhat(self.traits).max("rater").to_dataframe().max(axis=1)
        return table.assign(
            enough=table["together"] >= least,
            needed=np.ceil(needed - 1e-9).astype(int),
            r_hat=largest,
        )

    def __repr__(self) -> str:
        sizes = self.demands.sizes
        how = "equally reliable" if self.equal else "each with a reliability of its own"
        return (
            f"<RaterModel: {many(sizes['item'], 'item')}, "
            f"{many(self.traits.sizes['rater'], 'rater')} ({how}), "
            f"{many(sizes['dimension'], 'dimension')}>"
        )


def rater_model(
    ratings: Ratings, *, equal: bool = True, draws: int = 500, seed: int = 1
) -> RaterModel:
    r"""Estimate true grades of items, and the bias, scale, noise and reliability of raters.

    For each dimension, an item has a position `z`. A rater's grade is that of `z` plus noise with
    standard deviation `s`, cut at the rater's own thresholds (an ordered probit model):

    .. math:: z_i \sim N(0, 1), \qquad P(y_{ir} \le k) = \Phi\left(
       \frac{\tau_{r,k} \sqrt{1 + s_r^2} - z_i}{s_r}\right), \qquad
       t_i = \frac{1}{R} \sum_r E[y_{ir} \mid z_i]

    The true grade `t` is the average grade that the raters would give the item if each were asked
    infinitely often. The biases of the raters therefore sum to 0, and their scales have a mean of
    1; an error that all of them share is part of the true grade. The priors are flat on the shares
    in which a rater uses the grades, and Normal(0, 1) on the logarithm of noise. Positions are
    summed over, and NUTS draws thresholds and noises.

    The ratings of two raters do not determine their separate noises: reliabilities of .50 and .50,
    of .78 and .32, and of .98 and .26 give the same correlation. Raters therefore share one noise,
    unless `equal` is false, which needs three raters.

    Parameters
    ----------
    ratings : Ratings
        Levels that two raters or more gave to items.
    equal : bool, default True
        Whether all raters have the same noise.
    draws : int, default 500
        Draws of each of four chains, after as many of tuning.
    seed : int, default 1
        Seed of the draws.

    Returns
    -------
    RaterModel
        Tables of raters and dimensions, and the probabilities of true grades.

    Raises
    ------
    AnnotationError
        When there are fewer than two raters, or than three with separate noises, an option is out
        of range, or no rater rated a dimension.

    References
    ----------
    Olsson (1979), Psychometrika 44, 443-460 (two raters with separate thresholds); Johnson
    (1996), JASA 91, 42-51 (bias and noise of raters of ordered levels).

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> truth = random.normal(2.5, 1, 300)
    >>> levels = {name: np.rint(truth + random.normal(bias, 0.6, 300)).clip(0, 5)
    ...         for name, bias in {"one": -0.3, "two": 0.3}.items()}
    >>> ratings = Ratings.from_wide({name: pd.DataFrame({"planning": column})
    ...                              for name, column in levels.items()})
    >>> model = rater_model(ratings)
    >>> model
    <RaterModel: 300 items, 2 raters (equally reliable), 1 dimension>
    >>> model.raters()["bias"].round(1).to_dict()
    {('planning', 'one'): -0.3, ('planning', 'two'): 0.3}
    """
    names, needed = ratings.raters, 2 if equal else 3
    if len(names) < needed:
        raise AnnotationError(
            f"there are {many(len(names), 'rater')}, and {needed} are needed to estimate their "
            f"noise{'' if equal else ' separately'}; add raters{'' if equal else ', or equal=True'}"
        )
    draws = whole("draws", draws, 4, AnnotationError)
    seed = whole("seed", seed, refusal=AnnotationError)
    for dimension in ratings.dimensions:
        if ratings.said.sel(dimension=dimension).isnull().all():
            raise AnnotationError(f"no rater rated the dimension {dimension!r}; leave it out")
    levels = np.array(ratings.levels)
    compiled = _compiled(len(names), len(levels), equal)
    traits, demands = [], []
    for dimension in ratings.dimensions:
        grades = ratings.said.sel(dimension=dimension).to_numpy()
        of_dimension = subject_seed(seed, dimension)
        dataset, of_items = _one_dimension(compiled, grades, levels, draws, of_dimension)
        traits.append(dataset)
        demands.append(of_items)
    coords = {"dimension": ratings.dimensions, "rater": names}
    chances = xr.DataArray(
        np.stack(demands, axis=1),
        {"item": ratings.said["item"], "dimension": ratings.dimensions, "level": levels},
        ("item", "dimension", "level"),
        name="demand",
    )
    drawn = xr.concat(traits, "dimension").transpose("chain", "draw", ...).assign_coords(coords)
    return RaterModel(drawn, chances, equal)


@functools.lru_cache(maxsize=8)
def _compiled(raters: int, levels: int, equal: bool) -> Any:
    """Compile the model of one dimension; the ratings are data that can be replaced."""
    import nutpie

    with pm.Model() as model:
        # ordered standard normal thresholds are a flat prior on the shares of grades
        start = np.tile(np.linspace(-1, 1, levels - 1), (raters, 1))
        ordered = pm.distributions.transforms.ordered
        cut = pm.Normal("cut", shape=start.shape, transform=ordered, initval=start)
        noise = pm.LogNormal("noise", shape=1 if equal else raters)[:, None, None]
        below = pm.math.invprobit((cut[:, :, None] * pt.sqrt(1 + noise**2) - _POSITIONS) / noise)
        ends = pt.zeros((raters, 1, len(_POSITIONS)))
        below = pt.concatenate([ends, below, ends + 1], axis=1)
        chance = pt.maximum(below[:, 1:] - below[:, :-1], _FLOOR)
        logs = pt.log(chance).reshape((raters * levels, len(_POSITIONS)))
        pm.Deterministic("logs", logs)
        occurs = pm.Data("occurs", np.zeros((1, raters * levels)))
        counts = pm.Data("counts", np.zeros(1))
        of_pattern = pm.math.logsumexp(occurs @ logs + np.log(_WEIGHTS), axis=1).ravel()
        pm.Potential("patterns", (counts * of_pattern).sum())
    return nutpie.compile_pymc_model(model)


def _one_dimension(
    compiled: Any, grades: np.ndarray, levels: np.ndarray, draws: int, seed: int
) -> tuple[xr.Dataset, np.ndarray]:
    """Draw traits of raters, and compute probabilities of true grades, shape (items, levels)."""
    import nutpie

    patterns, pattern, counts = np.unique(
        np.nan_to_num(grades, nan=np.inf), axis=0, return_inverse=True, return_counts=True
    )
    counts = counts * np.isfinite(patterns).any(axis=1)  # items without ratings do not count
    occurs = (patterns[:, :, None] == levels).reshape(len(patterns), -1).astype(float)
    sampled = nutpie.sample(
        compiled.with_data(occurs=occurs, counts=counts.astype(float)),
        draws=draws,
        tune=draws,
        chains=_CHAINS,
        seed=seed,
        progress_bar=False,
    )
    logs = sampled.posterior["logs"].to_numpy()  # (chains, draws, raters and levels, positions)
    chances = np.exp(logs).reshape(*logs.shape[:2], grades.shape[1], len(levels), -1)
    expected, squares = (
        np.einsum("cdrlz,l->cdrz", chances, power) for power in (levels, levels**2)
    )
    truth = expected.mean(axis=2, keepdims=True)
    centred = truth - (truth @ _WEIGHTS)[..., None]
    variance = centred**2 @ _WEIGHTS
    scale = (expected * centred) @ _WEIGHTS / variance
    total = squares @ _WEIGHTS - (expected @ _WEIGHTS) ** 2
    traits = {
        "bias": (expected - truth) @ _WEIGHTS,
        "scale": scale,
        "noise": np.sqrt((squares - expected**2) @ _WEIGHTS),
        "reliability": scale**2 * variance / total,
    }
    share = counts / counts.sum()
    nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2, truth[:, :, 0])
    demands = np.zeros((len(occurs), len(levels)))
    together = np.empty(logs.shape[:2])
    for draw in np.ndindex(together.shape):
        positions = np.exp(occurs @ logs[draw]) * _WEIGHTS
        positions /= positions.sum(axis=1, keepdims=True)
        demands += positions @ np.eye(len(levels))[nearest[draw]]
        mean, square = (positions @ truth[draw][0] ** power for power in (1, 2))
        known = share @ mean**2 - (share @ mean) ** 2
        together[draw] = known / (known + share @ (square - mean**2))
    dims = ("chain", "draw", "rater")
    variables = {name: (dims, values) for name, values in traits.items()}
    dataset = xr.Dataset(variables | {"together": (dims[:2], together)})
    return dataset, (demands / together.size)[pattern]


def _table(draws: xr.Dataset, prob: float) -> pd.DataFrame:
    """Tabulate means and equal-tailed intervals of draws."""
    prob = inside("prob", prob, 0.9, AnnotationError)
    columns = dict[str, pd.Series]()
    for name, values in draws.items():
        low, high = values.quantile([(1 - prob) / 2, (1 + prob) / 2], ("chain", "draw"))
        ends = {"": values.mean(("chain", "draw")), "_low": low, "_high": high}
        columns |= {f"{name}{end}": array.to_series() for end, array in ends.items()}
    return pd.DataFrame(columns)
