"""Forecasts of a joint fit, for subjects and items of the fit and for new ones."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...common.options import inside
from ...common.seeds import subject_seed
from ...evaluations.tables import named
from ...layouts import Latent, MetaFeature, Prior
from ...layouts.outcomes.averaging import Told
from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name
from ...linking import Expr, evaluate
from ...linking.evaluation import ancestry
from ...linking.expression import Constant
from ..forecasts.elsewhere import Away, Trust
from ..forecasts.forecasting import CASES, Forecast, forecast_of
from ..forecasts.reading import JointReader, draws_at, root
from ..forecasts.streaming import byte_count, find_nodes, gathered, read_draws, summaries, values_of
from ..model.alignment import Features, align
from ..model.cells import log_chances
from ..model.cohort import plate_feature
from ..model.quantiles import from_scores
from ..posterior.posterior import Posterior
from .roster import Roster

_STANDARD = Prior("Normal", mu=0, sigma=1)


@dataclass(frozen=True, eq=False)
class Levels:
    r"""Draws of a joint fit's latents, also at levels that are not in the fit.

    A new level has one value per posterior draw, drawn from its prior given the other values of
    that draw. The value depends only on the fit's seed and on the names of the latent and of the
    level, so that it is the same in every forecast. If the latent sums to zero over n levels, the
    value of a new level has the distribution

    .. math:: \mathrm{Normal}(0, s \sqrt{1 + 1/n})

    which is that of the difference between another independent value and the mean of n. If the
    latent sums to zero over several plates, each contributes such a factor, which is
    :math:`\sqrt{1 - 1/n}` where the level of that plate is in the fit.

    Attributes
    ----------
    fit : Posterior
        A joint fit.
    roster : Roster
        Levels of the fit and new levels.
    still : bool
        Whether the values of new levels of items are the median of their prior in every draw.
    """

    fit: Posterior
    roster: Roster
    still: bool = False

    def at(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Return draws at levels of a latent's plates.

        Parameters
        ----------
        latent : Latent
            The latent.
        codes : ndarray of int, shape (levels, plates)
            Positions of the levels in the roster.

        Returns
        -------
        ndarray, shape (draws, levels, labels)
            Draws; the last axis is absent if the latent has no labels.

        Raises
        ------
        FitError
            When values at a new level cannot be drawn from the prior.
        """
        posterior = self._posterior
        new = self._new(latent, codes)
        if not new.any():
            return draws_at(self.fit, posterior, latent, codes)
        fresh = self._fresh(latent, codes[new])
        found = np.empty((len(fresh), len(codes), *fresh.shape[2:]))
        found[:, new] = fresh
        found[:, ~new] = draws_at(self.fit, posterior, latent, codes[~new])
        return found

    @functools.cached_property
    def _posterior(self) -> Any:
        return self.fit.posterior

    def _new(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Mark the levels that are new on at least one plate."""
        known = [self.roster.known[plate_name(plate)] for plate in latent.plates]
        return np.asarray((codes >= np.array(known, dtype=int)).any(axis=1))

    def _fresh(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Draw values at new levels from the prior, given the draws of its parameters."""
        if isinstance(latent, Told):
            return self._annotated(codes)
        scores = self._scores(latent, codes)
        if not isinstance(latent.prior, tuple):
            return self._drawn(latent, latent.priors[0], codes, scores, latent.label_dims)
        parts = [
            self._drawn(latent, prior, codes, scores[..., place], ())
            for place, prior in enumerate(latent.priors)
        ]
        return np.stack(parts, axis=-1)

    def _annotated(self, codes: np.ndarray) -> np.ndarray:
        """Return what the annotations say of the levels of new items, for each draw."""
        rows, sizes = pd.Index(self.roster.what).get_indexer(codes[:, 0]), self._posterior.sizes
        own = {name: values[rows] for name, values in self.roster.features.items()}
        found = log_chances(self.fit.layout, own)
        return np.broadcast_to(found, (sizes["chain"] * sizes["draw"], *found.shape))

    def _scores(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Draw the standard normal score of each value: (draws, levels, labels)."""
        sizes, seed = self._posterior.sizes, int(self.fit.data.attrs["seed"])
        shape = (sizes["chain"] * sizes["draw"], *map(len, latent.dims.values()))
        names = [plate_name(plate) for plate in latent.plates]
        found = np.zeros((shape[0], len(codes), *shape[1:]))
        if self.still and any(root(plate) == ITEM for plate in latent.plates):
            return found
        for place, own in enumerate(codes):
            levels = [
                self.roster.cohort.levels[name][code] for name, code in zip(names, own, strict=True)
            ]
            rng = np.random.default_rng(subject_seed(seed, repr((latent.name, *levels))))
            found[:, place] = rng.standard_normal(shape)
        return found

    def _drawn(
        self,
        latent: Latent,
        prior: Prior,
        codes: np.ndarray,
        scores: np.ndarray,
        labels: tuple[str, ...],
    ) -> np.ndarray:
        """Convert normal scores to values of a prior."""
        parameters = dict(prior.parameters)
        axes = parameters.pop("n_zerosum_axes", None)
        given = {
            name: self._parameter(latent, value, codes, labels)
            for name, value in parameters.items()
        }
        if prior.family != "ZeroSumNormal":
            return from_scores(latent.name, prior, given, scores)
        scale = self._of_one_more(
            latent, codes, int(axes.value) if isinstance(axes, Constant) else 1
        )
        spread = given["sigma"] * scale.reshape(-1, *(1 for _ in labels))
        return from_scores(latent.name, _STANDARD, {"mu": np.zeros(1), "sigma": spread}, scores)

    def _of_one_more(self, latent: Latent, codes: np.ndarray, axes: int) -> np.ndarray:
        """Compute factors of the standard deviation at levels of a latent that sums to zero."""
        found = np.ones(len(codes))
        for axis in range(len(latent.plates) - axes, len(latent.plates)):
            count = self.roster.known[plate_name(latent.plates[axis])]
            found *= np.sqrt(1 + np.where(codes[:, axis] >= count, 1, -1) / count)
        return found

    def _parameter(
        self, latent: Latent, value: Expr, codes: np.ndarray, labels: tuple[str, ...]
    ) -> np.ndarray:
        """Compute a parameter at levels of a latent: (draws, levels, labels), or ones for these."""
        dims, known = tuple(self.fit.layout.dims), dict[str, Any]()
        for part in ancestry(value, stop_at=lambda of: isinstance(of, Latent | MetaFeature)):
            if isinstance(part, Latent):
                at = [self._above(latent, codes, plate) for plate in part.plates]
                above = np.stack(at, axis=1) if at else np.zeros((1, 0), dtype=int)
                known[part.name] = align(self.at(part, above), part, dims, leading=1, per_item=True)
            elif isinstance(part, MetaFeature):
                own = self.roster.cohort.covariates[part.name]
                chosen = own[self._above(latent, codes, SUBJECT)][None]
                known[part.name] = align(chosen, part, dims, leading=1, per_item=True)
        found = np.asarray(evaluate(value, known, dims))
        found = found.reshape((1,) * (2 + len(dims) - found.ndim) + found.shape)
        absent = tuple(2 + axis for axis, dim in enumerate(dims) if dim not in labels)
        return np.squeeze(found, axis=absent)

    def _above(self, latent: Latent, codes: np.ndarray, coarser: Plate) -> np.ndarray:
        """Find the level of a coarser plate for each level of a latent's plates."""
        axis = next(
            place for place, plate in enumerate(latent.plates) if determines([plate], [coarser])
        )
        return np.asarray(self.roster.cohort.up(latent.plates[axis], coarser)[codes[:, axis]])


_OF_LEVELS = 0.25  # part of the memory for item-specific values; the rest is for computations


def forecast_jointly(
    fit: Posterior,
    items: pd.DataFrame,
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
    trust: Trust = None,
) -> Forecast:
    r"""Forecast success of subjects on items, where both may be in the fit or new.

    .. math:: p(y_{si} \mid D) = \int p(y_{si} \mid \theta_s, \beta_i, \phi)\,
        p(\theta_s, \beta_i, \phi \mid D)

    with the values :math:`\theta_s` of the subject and :math:`\beta_i` of the item. For subjects
    and items of the fit these are posterior draws. For new ones they are drawn from their prior
    given the shared values :math:`\phi`; see `Levels`. Levels of measured demands are weighted, for
    an item of the fit, by what all outcomes say of them given each draw, and for a new item by its
    annotations.

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    items : DataFrame
        Meta-features and categories, indexed by item. Items of the fit are found by name.
    subjects : iterable or DataFrame, optional
        Names of subjects of the fit (default: all); or covariates and categories of subjects, in
        the fit or new, indexed by name.
    prob, memory_mib, trust
        As in `forecasting.forecast`.

    Returns
    -------
    Forecast
        The forecast, also with ``known_subject``, ``known_item`` and ``new_level``.

    Raises
    ------
    DataError
        When a column is missing, a value or a level is missing or impossible, or a subject or an
        item of the fit is given other properties.
    FitError
        When a subject is not in the fit, `prob` is not between 0 and 1, `memory_mib` is not a
        positive number, or values of new levels cannot be drawn from their prior.

    Examples
    --------
    >>> from measurement_layouts import Bias, Capability, Evaluation, Layout, Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", prior=Prior("Normal", mu=0, sigma=Spread("spread")))
    >>> ease = Bias("ease", per="item", prior=Prior("Normal", mu=0, sigma=1))
    >>> layout = Layout("quiz", Success("solved", logistic(skill + ease)))
    >>> solved = pd.DataFrame([[1, 0], [1, 1], [0, 0]], ["Ann", "Bob", "Cy"], ["sum", "product"])
    >>> found = fit(layout, Evaluation.from_wide(solved, pd.DataFrame(index=solved.columns)),
    ...             draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> people = pd.DataFrame(index=["Ann", "Dee"])
    >>> forecast_jointly(found, pd.DataFrame(index=["sum", "root"]), subjects=people)
    <Forecast: 2 subjects, 2 items, 0 of them outside a declared range, 1 cell of known subjects on
    known items, 1 cell of known subjects on new items, 1 cell of new subjects on known items,
    1 cell of new subjects on new items, 90% intervals>
    """
    prob = inside("prob", prob, such_as=0.9)
    roster = Roster.of(fit, items, subjects)
    summarise = partial(_summaries, fit, roster, prob=prob, memory_mib=memory_mib)
    table = named(items, "items", "item")
    found = forecast_of(
        fit, roster.names, roster.rows, table, roster.features, summarise, prob, trust
    )
    known = (
        ("subject", roster.who < roster.known[SUBJECT]),
        ("item", roster.what < roster.known[ITEM]),
        (("subject", "item"), roster.new_levels),
    )
    data = found.data.assign(dict(zip(CASES, known, strict=True)))
    if roster.new_levels.any() or not known[1][1].all():
        nothing = Away(np.zeros(data["mean"].shape), None)
        what = roster.features, len(roster.what), [fit.layout.outcome]
        (own,) = summarise(*what, away=nothing, still=True)
        data = _apart(data, own[3])
    return dataclasses.replace(found, data=data)


def _apart(data: xr.Dataset, profile: np.ndarray) -> xr.Dataset:
    """Separate the spread of item effects from that of the profile, whose sd is given."""
    squares = data["profile_sd"] ** 2 - profile**2
    items = np.sqrt(np.maximum(squares, 0) + data["items_sd"] ** 2)
    profile = np.minimum(data["profile_sd"], profile)
    return data.assign(profile_sd=profile, items_sd=items)


def derived_jointly(
    fit: Posterior,
    items: pd.DataFrame,
    nodes: str | Iterable[str] | None = None,
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> xr.Dataset:
    """Compute derived nodes of subjects on items, where both may be in the fit or new.

    Parameters, results and errors are those of `streaming.derived` and of `forecast_jointly`.
    """
    prob = inside("prob", prob, such_as=0.9)
    targets = find_nodes(fit.layout, nodes)
    roster = Roster.of(fit, items, subjects)
    count = len(roster.what)
    what = [fit.layout.mean_of(node) for node in targets]
    found = _summaries(fit, roster, roster.features, count, what, prob=prob, memory_mib=memory_mib)
    return values_of(fit.layout, targets, nodes, found, roster.names, roster.items, prob)


def probabilities_jointly(
    fit: Posterior,
    items: pd.DataFrame,
    subjects: Iterable[object] | pd.DataFrame | None,
    *,
    memory_mib: float,
) -> Iterator[np.ndarray]:
    """Compute success probabilities of the fit's subjects for all draws.

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    items, subjects
        As in `forecast_jointly`.
    memory_mib : float
        Bound of the memory used during the computation, in MiB.

    Yields
    ------
    probabilities : ndarray, shape (items, chains * draws)
        Success probabilities, with the chains in order.
    """
    roster = Roster.of(fit, items, subjects)
    count, target = len(roster.what), fit.layout.outcome
    readers = list(joint_readers(fit, roster, roster.features, count, memory_mib))
    for row in range(len(roster.names)):
        yield every_draw_jointly(readers, row, target, memory_mib=memory_mib)


def every_draw_jointly(
    readers: Iterable[tuple[JointReader, Features, int]],
    row: int,
    target: Expr,
    *,
    memory_mib: float,
) -> np.ndarray:
    """Compute a target for all of one subject's draws.

    Parameters
    ----------
    readers : iterable
        Readers as `joint_readers` yields them.
    row : int
        Position of the subject in the roster.
    target : expression
        An expression with one number per item.
    memory_mib : float
        Bound of the memory used during the computation, in MiB.

    Returns
    -------
    ndarray, shape (items, chains * draws)
        Values of the target, with the chains in order.
    """
    found = []
    for reader, part, size in readers:
        own = reader.read(row), part, size, target
        found.append(gathered(read_draws(reader, *own, memory_mib=memory_mib), size))
    return np.concatenate(found)


def _summaries(
    fit: Posterior,
    roster: Roster,
    features: Features,
    items: int,
    targets: Sequence[Expr],
    *,
    prob: float,
    memory_mib: float,
    away: Away | None = None,
    still: bool = False,
) -> list[np.ndarray]:
    """Summarise targets over all draws."""
    rows, rest = np.arange(len(roster.who)), (1 - _OF_LEVELS) * memory_mib
    found, start = [], 0
    for reader, part, size in joint_readers(fit, roster, features, items, memory_mib, still):
        own = None if away is None else away.part(start, start + size)
        found.append(
            summaries(reader, rows, part, size, targets, prob=prob, memory_mib=rest, away=own)
        )
        start += size
    return [np.concatenate(parts, axis=2) for parts in zip(*found, strict=True)]


def joint_readers(
    fit: Posterior,
    roster: Roster,
    features: Features,
    items: int,
    memory_mib: float,
    still: bool = False,
) -> Iterator[tuple[JointReader, Features, int]]:
    """Yield readers of some items at a time, so that their item-specific values fit in memory.

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    roster : Roster
        The subjects and items.
    features : dict of str to ndarray
        Features of the items: those of the roster, or others with the roster's levels.
    items : int
        Number of items.
    memory_mib : float
        Bound of the memory used during the computation, in MiB.
    still : bool, default False
        Whether the values of new levels of items are the median of their prior in every draw.

    Yields
    ------
    reader : JointReader
        Reader for some items.
    features : dict of str to ndarray
        Features of these items.
    items : int
        Number of these items.
    """
    layout, sizes = fit.layout, fit.posterior.sizes
    plates = {plate_name(plate): root(plate) for plate in layout.plates}
    subjects = {
        name: roster.who if name == SUBJECT else roster.cohort.of[name][roster.who]
        for name, side in plates.items()
        if side == SUBJECT
    }
    covariates = {name: own[roster.who] for name, own in roster.cohort.covariates.items()}
    numbers = sum(
        int(np.prod([len(labels) for labels in latent.dims.values()], initial=1))
        for latent in layout.drawn
        if any(root(plate) == ITEM for plate in latent.plates)
    )
    each = 8 * sizes["chain"] * sizes["draw"] * max(1, numbers)
    together = max(1, int(_OF_LEVELS * byte_count(memory_mib) / each))
    levels = Levels(fit, roster, still)
    for start in range(0, max(1, items), together):
        part = {name: values[start : start + together] for name, values in features.items()}
        reader = JointReader(
            layout,
            fit.posterior,
            fit.constants,
            levels.at,
            {name: part[plate_feature(name)] for name, side in plates.items() if side == ITEM},
            subjects,
            covariates,
        )
        yield reader, part, min(together, items - start)
