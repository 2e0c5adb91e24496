"""Starting point of a design: the prior, a fitted subject, or a population."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import of_rows
from ...evaluations.tables import named
from ...inference.forecasts.blocks import Block
from ...inference.model.features import read_features
from ...inference.population.joining import Joined, shared_draws
from ...inference.population.target import Target
from ...inference.posterior.posterior import Posterior, posterior_draws
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.plates import ITEM, SUBJECT, root
from ...linking import LayoutError
from ..information.sensitivity import Sensitivity, evenly


@dataclass(frozen=True, eq=False)
class Start:
    """Distribution of the subjects' profiles before any item is asked.

    Attributes
    ----------
    layout : Layout
        The layout.
    profiles : ndarray, shape (draws, elements), optional
        Posterior draws of one subject (default: draws from the prior).
    others : Posterior, optional
        Joint fit of the population that newcomers come from.
    people : DataFrame, optional
        Properties of the newcomers, one row, if there is a joint fit.
    """

    layout: Layout
    profiles: np.ndarray | None = None
    others: Posterior | None = None
    people: pd.DataFrame | None = None

    @classmethod
    def of(
        cls, layout: Layout, given: Posterior | None, subject: str | pd.DataFrame | None
    ) -> "Start":
        """Read the starting point.

        Parameters
        ----------
        layout : Layout
            Layout that a battery is designed for.
        given : Posterior, optional
            Fit of this layout.
        subject : str or DataFrame, optional
            Name of the subject, needed if the fit has several; properties of newcomers to a joint
            fit.

        Raises
        ------
        FitError
            When the fit is of another layout, has no such subject, or several and none is named;
            when a subject is named with a joint fit, or properties are given with another fit.
        LayoutError
            When subjects share something and there is no joint fit, or subjects have values for
            each level of a category.
        """
        if given is not None and given.layout.fingerprint != layout.fingerprint:
            raise FitError(
                f"given is a fit of layout {given.layout.name!r}, and the battery is for another "
                f"one, {layout.name!r}; give a fit of the same layout"
            )
        if layout.joint:
            return _population(layout, given, subject)
        if isinstance(subject, pd.DataFrame):
            raise FitError(
                f"subject is a table of properties, which layout {layout.name!r} does not use, "
                "since subjects share nothing; leave it out, or name a subject of given="
            )
        if given is None:
            return cls(layout)
        if subject is None:
            if len(given.subjects) != 1:
                raise FitError(
                    f"given has {len(given.subjects)} subjects, {some(given.subjects)}; name the "
                    "one to start from, as subject="
                )
            (subject,) = given.subjects
        (subject,) = given.named([subject])
        drawn = [posterior_draws(given, element, subject) for element in elements(layout)]
        return cls(layout, np.stack(drawn, axis=1))

    def over(self, bank: pd.DataFrame, draws: int, seed: int) -> tuple[Sensitivity, np.ndarray]:
        """Draw profiles, and compute how success on a bank depends on them.

        Parameters
        ----------
        bank : DataFrame
            Items, indexed by name; an item may be repeated.
        draws, seed : int
            Number of profiles, and seed of their draws.

        Returns
        -------
        source : Sensitivity
            The rows: items, or the steps of their outcomes.
        rows : ndarray of int, shape (items, steps)
            Which of the different rows each item has.
        """
        layout = self.layout
        if self.others is not None and self.people is not None:
            source: Sensitivity = Newcomers.joining(self.others, bank, self.people, draws, seed)
        else:
            if bank.index.has_duplicates:
                bank = bank.set_axis([f"{number}" for number in range(len(bank))])
            features, count = read_features(layout, bank), len(bank)
            if layout.steps is not None:
                features = of_rows(layout.steps, features, count)
                count *= len(layout.steps.rows)
            source = Sensitivity.of(layout, features, count, draws, seed, self.profiles)
        return source, source.block.number.reshape(len(bank), -1)


def _population(
    layout: Layout, given: Posterior | None, subject: str | pd.DataFrame | None
) -> Start:
    """Read the population that newcomers come from."""
    profile = {latent.name for latent in layout.profile}
    if given is None:
        shared = [latent.name for latent in layout.latents if latent.name not in profile]
        raise LayoutError(
            f"layout {layout.name!r}: its subjects share {some(shared)}, so that the layout alone "
            "is not enough; give the joint fit of others, given=fit(layout, others), or a "
            "layout with numbers in place of the shared values"
        )
    for latent in layout.latents:
        if SUBJECT in latent.plates and latent.name not in profile:
            raise LayoutError(
                f"layout {layout.name!r}: each subject has a value of {latent.name} for each level "
                "of a category, which a design does not separate from the profile; give a layout "
                "without it, or use AdaptiveTest, which does"
            )
    if layout.constants:
        names = some(constant.name for constant in layout.constants)
        raise LayoutError(
            f"layout {layout.name!r} needs {names}, the share of all items that a subject fails, "
            "which is not known of newcomers to a joint fit; use a layout without it"
        )
    if isinstance(subject, str):
        where = "with" if subject in given.subjects else "without"
        raise FitError(
            f"subject={subject!r}: given is a joint fit {where} this subject, and a battery is "
            "designed for newcomers to it; leave subject out, or give a table of one row with the "
            "newcomer's properties. "
            "For a subject of the fit use ml.batteries.next_items(fit, bank, subjects=[name])"
        )
    people = pd.DataFrame(index=["newcomer"]) if subject is None else subject
    people = named(people, "subject", "subject")
    return Start(layout, others=given, people=people)


_MOST = 4000  # draws of newcomers, from which some are chosen
_EFFECTS = 24  # draws of the items' effects, over which a probability is averaged


@dataclass(frozen=True, eq=False)
class Newcomers(Sensitivity):
    r"""Draws of newcomers' profiles, each with a draw of the population's parameters.

    The success probability of a profile on item i, with draw d of the population's parameters, is
    averaged over J draws of the items' effects, the same for all profiles:

    .. math:: \bar p_i(\theta, \varphi_d) = \frac{1}{J} \sum_j p_i(\theta, \varphi_d, \beta_{ij}),

    from the posterior if the item is in the fit, and otherwise from their prior given the shared
    values. An answer is therefore the less informative, the less is known of the item.

    Attributes
    ----------
    target : Target
        The newcomer on the bank, with the chosen draws of the population's parameters.
    effects : dict of str to ndarray
        J draws of each latent with values per item, shape (J, levels..., labels...).
    """

    target: Target
    effects: dict[str, np.ndarray]

    @classmethod
    def joining(
        cls,
        fit: Posterior,
        bank: pd.DataFrame,
        people: pd.DataFrame,
        draws: int,
        seed: int,
    ) -> "Newcomers":
        """Draw newcomers to the population of a joint fit.

        Parameters
        ----------
        fit : Posterior
            Joint fit of the others.
        bank : DataFrame
            Items, indexed by name; an item may be repeated.
        people : DataFrame
            Properties of the newcomers, one row.
        draws : int
            Number of draws that are chosen.
        seed : int
            Seed of all draws.

        Raises
        ------
        DataError
            When the bank or the properties do not fit the layout.
        FitError
            When new values are to be drawn from a family without quantiles in PyMC.
        """
        layout, rng = fit.layout, np.random.default_rng([seed, 5])
        first, own = np.unique(bank.index, return_index=True, return_inverse=True)[1:]
        items = bank.iloc[first]
        trials = pd.DataFrame(1, people.index, items.index)
        joined = Joined.of(fit, Evaluation(items, 0 * trials, trials, subjects=people))
        shared = shared_draws(fit, joined, rng)
        every = Target(joined, shared)
        places = rng.permutation(np.resize(rng.permutation(every.count), _MOST))
        values = every.values(rng.normal(size=(_MOST, len(every.active))), places)
        drawn = np.concatenate(
            [values[latent.name].reshape(_MOST, -1) for latent in layout.profile], axis=1
        )
        chosen = evenly(drawn, draws, rng)
        some = rng.choice(every.count, min(_EFFECTS, every.count), replace=False)
        effects, above = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for latent in (latent for latent in layout.latents if latent.name in shared):
            if any(root(plate) == ITEM for plate in latent.plates):
                effects[latent.name] = shared[latent.name][some]
            else:
                above[latent.name] = shared[latent.name][places[chosen]]
        order = np.argsort(own, kind="stable")
        return cls(
            layout,
            drawn[chosen],
            drawn.std(axis=0, ddof=1),
            np.linalg.pinv(np.atleast_2d(np.cov(drawn, rowvar=False))),
            Block.of(layout, {}, order, own[order]),
            [],
            {},
            replace(every, shared=above),
            effects,
        )

    def success(self, profiles: np.ndarray, part: slice) -> np.ndarray:
        """Compute success of profiles on the different rows; shape (draws, rows)."""
        values, start = {}, 0
        for latent in self.layout.profile:
            shape = len(profiles), 1, *map(len, latent.dims.values())
            end = start + int(np.prod(shape[2:], dtype=int))
            values[latent.name] = profiles[:, start:end].reshape(shape)
            start = end
        places = np.arange(len(self.draws))[part]
        found = [target.chances_of(values, places).T for target in self._targets()]
        return np.mean(found, axis=0)

    def _targets(self) -> Iterator[Target]:
        """Take the items' effects, one draw after the other."""
        if not self.effects:
            yield self.target
            return
        for each in zip(*self.effects.values(), strict=True):
            same = {
                name: np.broadcast_to(values, (len(self.draws), *values.shape))
                for name, values in zip(self.effects, each, strict=True)
            }
            yield replace(self.target, shared={**self.target.shared, **same})
