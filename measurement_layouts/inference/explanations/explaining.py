"""Why a subject is expected to fail an item, or to succeed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import some
from ...common.options import inside, whole
from ...layouts import Success
from ...linking import Expr, units
from ..forecasts.streaming import mean_and_interval
from ..posterior.posterior import Posterior
from ..sampling.convergence import rhat_ess
from .cell import Cell, columns_of, distances
from .changes import Change, Changes
from .explanation import Estimate, Explanation, ends_of
from .opened import Opened
from .parts import Part, band_ends, demands_of
from .shares import coalitions, weighted

_NO_EFFECT = 1e-9  # a change of the success probability below this, on all draws, is no effect


def explain(
    fit: Posterior,
    item: object,
    subject: object = None,
    *,
    changes: Mapping[str, float] | None = None,
    instead: Mapping[str, float] | None = None,
    neighbours: int = 5,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> Explanation:
    r"""Explain the forecast of one subject's success on one item.

    *Parts.* The outcome's formula is split into the probabilities that it joins: factors, operands
    of `product`, of means and of `presence`, and the probability to which noise, guessing or an
    item effect is applied. Each of them is a part. Noise is a part too, as far as it turns
    successes into failures. With v(S), the probability of success if the parts S cannot fail,
    part k

    .. math:: \text{fails with } 1 - p_k, \qquad
       \text{fails alone, given failure, with } \frac{v(k) - v(\emptyset)}{1 - v(\emptyset)},
       \qquad \text{is involved with } \frac{1 - v(N \setminus k)}{1 - v(\emptyset)},

    and its share of the failure is Shapley's value of v divided by the probability of failure,

    .. math:: s_k = \frac{\phi_k}{1 - v(\emptyset)}, \qquad
       \phi_k = \sum_{S \not\ni k} \frac{|S|! \, (K - |S| - 1)!}{K!}
       \left( v(S \cup k) - v(S) \right)

    The shares divide the success probability, not its logarithm. Where the parts fail independently
    and success needs all of them, a part's share is its expected share of a failure when each
    failure is divided evenly among the parts that failed, so that shares can be compared with
    observed failures. With two parts that succeed with probability p and q, the share of the first
    is :math:`(1 - p)(1 + q) / 2 (1 - p q)`.

    *Demands.* Shares of demands are the same value, where v(S) is the probability of success if the
    demands S were at their easiest: the end of the values in the subject's training items at which
    success is more probable. The failure that would remain on the easiest item is a share of its
    own. An item effect is included where it makes the item harder than usual.

    Means and intervals are over posterior draws. Quantities given failure weight each draw by its
    probability of failure, which gives the posterior conditional on this failure.

    Parameters
    ----------
    fit : Posterior
        A fit of a layout with one `Success`.
    item : str, DataFrame, Series or mapping
        Name of an item of the fit, or the properties of any item as a table of one row.
    subject : str, optional
        Name of the subject; may be left out if the fit has only one. With a joint fit also a table
        of one row with the covariates and categories of a new subject.
    changes : mapping of str to float, optional
        What-if changes: an amount to add to a demand (by its column) or to an element of the
        profile, in its unit. An element stays in its range. Each change is tried alone; if there
        are several, also all together.
    instead : mapping of str to float, optional
        What-if changes that set a demand, by its column, to another value.
    neighbours : int, default 5
        Number of nearest training items to list, among those that the subject attempted.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).
    memory_mib : float, default 256
        Bound of the memory used during the computation, in MiB. It changes no result.

    Returns
    -------
    Explanation
        The explanation as tables; in words when printed.

    Raises
    ------
    DataError
        When the item lacks a column that the layout needs, has more than one row, or does not
        permit a change.
    FitError
        When the layout has several outcomes, graded outcomes or scores; when the subject or the
        named item is not in the fit; when a change names neither a demand nor an element of the
        profile; or when an option is out of range.

    Notes
    -----
    The explained forecast is that of the layout itself, whose uncertainty is that of the profile.
    Distances of neighbours are root mean squares over the columns that are defined on at least one
    of the two items. Each difference is divided by the column's standard deviation on the training
    items, and a column that only one of them has counts as a difference of 1. With more than 10
    parts or demands that matter, shares are means over about 64 orders.

    References
    ----------
    Shapley (1953), A value for n-person games; Lundberg and Lee (2017), A unified approach to
    interpreting model predictions, for shares of one forecast; Junker and Sijtsma (2001), Applied
    Psychological Measurement 25, for parts that are all needed.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> found = explain(result, aaio.battery(seed=2).iloc[[3]], changes={"visualAbility": 1.0})
    >>> found.parts.index.tolist()
    ['navigationPerformance', 'visualPerformance', 'noiseLevel']
    >>> round(float(found.parts["share"].sum()), 6)
    1.0
    """
    prob = inside("prob", prob, such_as=0.9)
    neighbours = whole("neighbours", neighbours)
    if fit.layout.steps is not None:
        names = some(outcome.name for outcome in fit.layout.outcomes)
        raise FitError(
            f"explain: layout {fit.layout.name!r} has the outcome(s) {names}, which are several, "
            "graded or scores, and only a single Success can be explained; declare the outcome as "
            "a Success, or use `derived`"
        )
    if fit.layout.measured:
        names = some(node.name for node in fit.layout.measured)
        raise FitError(
            f"explain: {names} of layout {fit.layout.name!r} is measured, so the item has no "
            "single level by which a forecast can be explained; fit a layout with a MetaFeature "
            "that is given the expected levels, or use `derived`"
        )
    cell = Cell.of(fit, item, subject, memory_mib)
    asked = Changes.of(cell, changes or {}, instead or {})
    return _Work(cell, Opened.of(fit.layout, asked.moved), prob).explanation(asked, neighbours)


@dataclass(frozen=True, eq=False)
class _Work:
    """A cell, and its outcome with parts that can be switched so that they cannot fail."""

    cell: Cell
    opened: Opened
    prob: float

    def explanation(self, asked: Changes, neighbours: int) -> Explanation:
        """Assemble the explanation."""
        cell, sizes = self.cell, self.cell.fit.posterior.sizes
        chains = self.success.reshape(sizes["chain"], sizes["draw"])
        ess = float(rhat_ess(chains).ess_bulk) if np.ptp(chains) > 0 else math.nan
        parts, unexplained = self.parts()
        demands, remaining = self.demands()
        return Explanation(
            subject=cell.subject,
            item=cell.item,
            outcome=cell.layout.outcome.name,
            prob=self.prob,
            success=self.estimate(self.success),
            parts=parts,
            unexplained=unexplained,
            demands=demands,
            remaining=remaining,
            changes=self.changes(asked),
            nearest=self.nearest(neighbours),
            remark=cell.remark(),
            ess=ess,
        )

    @cached_property
    def success(self) -> np.ndarray:
        """Success probability, by draw."""
        found: np.ndarray = self.values([{}])[0]
        return found

    @cached_property
    def given_failure(self) -> np.ndarray:
        """Weight of each draw given failure; NaN where failure is impossible."""
        failure = 1 - self.success
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(failure / failure.sum())

    def values(self, changes: Sequence[Change]) -> np.ndarray:
        """Compute success probabilities under changes, shape (changes, draws)."""
        return self.cell.draws(self.opened.outcome, changes, self.opened.usual)

    def estimate(self, draws: np.ndarray) -> Estimate:
        """Summarise draws."""
        return Estimate(*map(float, mean_and_interval(draws[None].copy(), self.prob)[:, 0]))

    def given(self, draws: np.ndarray) -> Estimate:
        """Summarise draws of a quantity given failure."""
        return Estimate(*weighted(draws, self.given_failure, self.prob))

    def of_chance(self, chance: Expr) -> np.ndarray:
        """Compute the probability that a part does not fail, by draw, averaged over the unseen."""
        found: np.ndarray = self.cell.draws(Success(self.cell.layout.outcome.name, chance))[0]
        return found

    def parts(self) -> tuple[pd.DataFrame, Estimate]:
        """Table of the parts that success needs, and the share of failure without them."""
        chosen = list(self.opened.parts)
        chosen += [self.harder[name] for name in self.opened.outside if name in self.harder]
        game = self.game([part.off for part in chosen])
        rows = []
        for place, part in enumerate(chosen):
            fails = Estimate(math.nan, math.nan, math.nan)
            if part.chance is not None:
                fails = self.estimate(1 - self.of_chance(part.chance))
            share, first = game.share(place)
            involved, alone = game.involved(place), game.alone(place)
            rows.append(
                {
                    "kind": part.kind,
                    "latents": part.latents,
                    "demands": part.demands,
                    **fails.named("fails"),
                    "involved": involved.mean,
                    "alone": alone.mean,
                    "together": involved.mean - alone.mean,
                    **share.named("share"),
                    "first": first,
                    **self.estimate(game.achieved[place]).named("without"),
                    "too_little": self.too_little(part),
                }
            )
        index = pd.Index([part.name for part in chosen], name="part")
        return pd.DataFrame(rows, index), game.left

    def too_little(self, part: Part) -> float:
        """Compute how often a propensity outside its band is too low; NaN if there is no band."""
        if not part.ends:
            return math.nan
        low, high = (1 - self.of_chance(end) for end in part.ends)
        missed = float((low + high).sum())
        return float(low.sum()) / missed if missed > 0 else math.nan

    @cached_property
    def harder(self) -> dict[str, Part]:
        """By item effect, the part that keeps it from making the item harder than usual."""
        found = {}
        for name, (up, down) in self.opened.effects.items():
            ways = [self.nudged(part) for part in (up, down)]
            if max(ways) > _NO_EFFECT:
                found[name] = (up, down)[int(np.argmax(ways))]
        return found

    def nudged(self, part: Part) -> float:
        """Compute the gain in success if an effect moved to its usual value from one side."""
        return float((self.values([dict(part.off)])[0] - self.success).mean())

    def demands(self) -> tuple[pd.DataFrame, Estimate]:
        """Table of the demands that make success less probable, and the share that remains."""
        names, chosen, easiest = [], list[Change](), list[float]()
        for column, value in self.easiest().items():
            names.append(column)
            chosen.append({column: value})
            easiest.append(value)
        for name, part in self.harder.items():
            names.append(name)
            chosen.append(part.off)
            easiest.append(math.nan)
        game = self.game(chosen)
        own = dict(zip(columns_of(self.cell.layout), self.cell.own_values(), strict=True))
        measured = {name: node for node in self.cell.layout.meta_features for name in node.columns}
        rows = []
        for place, name in enumerate(names):
            share, first = game.share(place)
            rows.append(
                {
                    "value": own.get(name, math.nan),
                    "easiest": easiest[place],
                    "unit": units.name(measured[name].unit) if name in measured else "",
                    **share.named("share"),
                    "first": first,
                    **self.estimate(game.achieved[place]).named("success"),
                }
            )
        kept = ["value", "easiest", "unit", *ends_of("share"), "first", *ends_of("success")]
        table = pd.DataFrame(rows, pd.Index(names, name="demand"), kept)
        return table, game.left

    def easiest(self) -> dict[str, float]:
        """By column with an effect, the end of the training items' values that is the easiest.

        For a new subject, the values are those of all items of the fit.
        """
        cell = self.cell
        own = cell.own_values()
        _, training, _, _ = cell.training()
        training = training if len(training) else cell.all_values()
        chosen = demands_of(cell.layout) - band_ends(cell.layout)
        tried: list[tuple[str, float]] = []
        columns = [(name, node.name) for node in cell.layout.meta_features for name in node.columns]
        for place, (column, node) in enumerate(columns):
            met = training[:, place][np.isfinite(training[:, place])]
            if node in chosen and np.isfinite(own[place]) and len(met):
                tried += [(column, float(end)) for end in {met.min(), met.max()}]
        if not tried:
            return {}
        gained = (self.values([{name: end} for name, end in tried]) - self.success).mean(axis=1)
        found: dict[str, tuple[float, float]] = {}
        for (column, end), gain in zip(tried, gained, strict=True):
            if gain > max(_NO_EFFECT, found.get(column, (0.0, 0.0))[0]):
                found[column] = float(gain), end
        return {column: found[column][1] for column, _ in columns if column in found}

    def game(self, offs: Sequence[Change]) -> "_Game":
        """Compute success for sets of parts that cannot fail, or of demands at their easiest."""
        ends = [{}, *map(dict, offs), _joined(offs)]
        values = self.values(ends)
        lost = [
            _joined([off for other, off in enumerate(offs) if other != place])
            for place in range(len(offs))
        ]
        without = self.values(lost) if offs else np.empty((0, values.shape[1]))
        matter = [
            place
            for place in range(len(offs))
            if max(
                np.abs(values[place + 1] - values[0]).max(),
                np.abs(values[-1] - without[place]).max(),
            )
            > _NO_EFFECT
        ]
        sets, weights = coalitions(len(matter))
        rows = [_joined([offs[matter[one]] for one in np.flatnonzero(row)]) for row in sets]
        shapley = np.zeros((len(offs), values.shape[1]))
        if matter:
            shapley[matter] = weights @ self.values(rows)
        return _Game(self, values, without, _over(shapley, 1 - values[0]))

    def changes(self, asked: Changes) -> pd.DataFrame:
        """Table of what-ifs."""
        index = pd.Index(asked.texts, name="change")
        columns = [*ends_of("success"), *ends_of("gain")]
        if not asked.each:
            return pd.DataFrame(np.empty((0, len(columns))), index, columns)
        rows = [
            {
                **self.estimate(own).named("success"),
                **self.estimate(own - self.success).named("gain"),
            }
            for own in self.values(asked.each)
        ]
        return pd.DataFrame(rows, index, columns)

    def nearest(self, count: int) -> pd.DataFrame:
        """Table of the training items that are most like this one, with the subject's outcomes."""
        names, values, successes, trials = self.cell.training()
        far = distances(self.cell.own_values(), values)
        other = np.flatnonzero(np.asarray(names != self.cell.item))
        order = other[np.argsort(far[other], kind="stable")][:count]
        return pd.DataFrame(
            {
                "distance": far[order],
                "successes": successes[order].astype(int),
                "trials": trials[order].astype(int),
            },
            pd.Index(names[order], name="item"),
        )


@dataclass(frozen=True, eq=False)
class _Game:
    """Success probabilities when sets of players (parts or demands) cannot fail, and shares.

    Attributes
    ----------
    work : _Work
        The cell and its outcome.
    values : ndarray, shape (2 + players, draws)
        Success unchanged, with each player alone unable to fail, and with all players unable to.
    without : ndarray, shape (players, draws)
        Success if all other players cannot fail.
    shares : ndarray, shape (players, draws)
        Shares of the failure.
    """

    work: _Work
    values: np.ndarray
    without: np.ndarray
    shares: np.ndarray

    @property
    def achieved(self) -> np.ndarray:
        """Success with each player alone unable to fail, and with all players unable to."""
        return self.values[1:]

    @property
    def left(self) -> Estimate:
        """Share of the failure that remains if no player can fail."""
        return self.work.given(_over(1 - self.achieved[-1], 1 - self.values[0]))

    def share(self, place: int) -> tuple[Estimate, float]:
        """Return a player's share, and the probability that it is the largest."""
        largest = self.shares.argmax(axis=0) == place
        found = self.work.given(self.shares[place])
        first, _, _ = self.work.given(largest & (self.shares[place] > 0))
        return found, first

    def alone(self, place: int) -> Estimate:
        """Return the probability that no other player fails, given failure."""
        return self.work.given(_over(self.achieved[place] - self.values[0], 1 - self.values[0]))

    def involved(self, place: int) -> Estimate:
        """Return the probability that the player fails, given failure."""
        return self.work.given(_over(1 - self.without[place], 1 - self.values[0]))


def _joined(changes: Sequence[Change]) -> dict[str, float]:
    return {key: value for change in changes for key, value in change.items()}


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide, with 0 where there is no failure to share."""
    there = whole > 0
    return np.asarray(np.where(there, part, 0) / np.where(there, whole, 1))
