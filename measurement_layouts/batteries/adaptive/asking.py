"""Adaptive tests of one subject: choice of the next item, and when to stop."""

import copy
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import inside, share, whole
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_layout
from ...evaluations.steps import expanded
from ...evaluations.tables import known_names, named
from ...inference.posterior.posterior import Posterior
from ...inference.sequential.running import Running
from ...layouts import Layout
from ...layouts.elements import elements
from ...linking import LayoutError
from ..targets import read_costs, read_target
from .choosing import MOST, Chooser
from .reading import beside, counts, plain
from .state import StateFile, read_table, write_table
from .stop import Stop

_GIVEN, _INFORMATION, _RANDOM = "given", "information", "random"


@dataclass(frozen=True, eq=False)
class _Now:
    """Everything that a call changes, replaced as a whole when the file has been written.

    Attributes
    ----------
    running : Running
        The posterior.
    answers : dict of int to dict
        Answers by the item's position in the bank, in the order in which they were recorded.
    flight : dict of int to str
        Why items in flight were chosen, by position, in the order in which they were chosen.
    skipped : tuple of int
        Positions of items that were given up.
    chosen : int
        Number of items chosen so far.
    """

    running: Running
    answers: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    flight: Mapping[int, str] = field(default_factory=dict)
    skipped: tuple[int, ...] = ()
    chosen: int = 0


class AdaptiveTest:
    """Adaptive test: the next item for one subject is chosen after each answer.

    The posterior after every answer is that of `fit` on the same answers, as weighted particles;
    see `Running`. Items are chosen by the expected information of their outcomes; see `Chooser`.

    Parameters
    ----------
    layout : Layout
        The layout.
    bank : DataFrame
        Items that may be asked, each once: one row per item, indexed by name, with the columns that
        the layout needs.
    subject : str or DataFrame
        Name of the subject. If the layout uses properties of subjects, a table of one row, as in
        `Evaluation`.
    target : str, sequence of str or mapping, optional
        Latents, or elements ``node[label]``, to learn about, or their weights (default: the whole
        profile jointly).
    stop : Stop, optional
        Stopping rule (default: stop when all items of the bank were answered).
    costs : str, mapping or Series, optional
        Costs of the items, above 0: a column of the bank, or costs by name (default: 1 each). Items
        are chosen by information per cost.
    given : Fit, optional
        Joint fit of others, needed if subjects share something in the layout.
    random_share : float
        Probability with which an item is drawn at random from those left, so that `criticise` can
        test whether the chosen items fit the layout as others do.
    among : int
        Number of most informative items, up to 32, from which one is drawn at random, so that
        fewer subjects are asked the same items (randomesque exposure control).
    seed : int, optional
        Seed of the particles and of random items (default: a random seed, which is kept).
    path : str or Path, optional
        File with the whole test, which every call that changes it replaces, completely or not at
        all, before it returns. A killed process loses no answer; `load` continues the test.

    Raises
    ------
    DataError
        When the bank does not fit the layout, or costs do not fit the bank.
    FitError
        When an option is out of range, a latent is unknown, the file exists, or the posterior of
        the layout cannot be updated answer by answer: because of an unseen node, a subject's mean
        failure, or shared values without a fit of others.
    LayoutError
        When `layout` is something else.

    References
    ----------
    Kingsbury and Zara (1989), Procedures for selecting items for computerized adaptive tests, for
    the choice among the best.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=10)
    >>> smallness = MetaFeature("smallness", low=0, high=10)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)})
    >>> test = AdaptiveTest(layout, bank, stop=Stop(sd={"sight": 0.8}), seed=1)
    >>> while not test.done:
    ...     (item,) = test.next()
    ...     test.record(item, bank.smallness[int(item)] < 6)
    >>> test.done
    'sight has an sd of 0.7..., at most 0.8'
    >>> print(f"asked {len(test.history)} of {len(bank)} items")
    asked ... of 41 items
    """

    def __init__(
        self,
        layout: Layout,
        bank: pd.DataFrame,
        *,
        subject: str | pd.DataFrame = "subject",
        target: str | Sequence[str] | Mapping[str, float] | None = None,
        stop: Stop | None = None,
        costs: str | Mapping[object, float] | pd.Series | None = None,
        given: Posterior | None = None,
        random_share: float = 0.0,
        among: int = 1,
        seed: int | None = None,
        path: str | Path | None = None,
    ) -> None:
        refuse_no_layout(layout)
        if stop is not None and not isinstance(stop, Stop):
            raise FitError(f"stop={stop!r}; give Stop(...), as in Stop(sd={{'sight': 0.5}})")
        items = named(bank, "bank", "item")
        people = named(subject, "subject", "subject") if isinstance(subject, pd.DataFrame) else None
        begun = {
            "layout": layout.to_dict(),
            "bank": write_table(items),
            "subject": str(subject) if people is None else people.index[0],
            "properties": None if people is None else write_table(people),
            "target": read_target(elements(layout) if given is None else given.elements, target),
            "stop": None if stop is None else stop.to_dict(),
            "costs": None if costs is None else read_costs(items, costs).tolist(),
            "random_share": share("random_share", random_share),
            "among": _read_among(among),
            "seed": secrets.randbits(31) if seed is None else whole("seed", seed),
        }
        self._begin(layout, begun, given)
        begun["given"] = None if given is None else self._now.running.bank.digest
        self._file = StateFile(begun, None if path is None else Path(path))
        self._file.write(self._state(self._now))

    def _begin(self, layout: Layout, begun: Mapping[str, Any], given: Posterior | None) -> None:
        """Set up the posterior and the choice of items, as before any answer."""
        self.layout, self._begun = layout, begun
        self._bank = named(read_table(begun["bank"]), "bank", "item")
        self._places = {name: place for place, name in enumerate(self._bank.index)}
        self._subject, self._seed = str(begun["subject"]), int(begun["seed"])
        stop = begun["stop"]
        self._stop = None if stop is None else Stop(**stop)
        running = Running.of(
            layout,
            self._bank,
            subject=self._subject,
            subjects=self._people,
            given=given,
            seed=self._seed,
        )
        if self._stop is not None:
            self._stop.check(running)
        steps = layout.steps
        ends = [1] if steps is None else steps.ends.tolist()
        self._rows = np.arange(len(self._bank) * ends[-1]).reshape(len(self._bank), -1)
        self._chooser = Chooser(running, self._rows, ends, begun["target"])
        costs = begun["costs"]
        self._costs = np.ones(len(self._bank)) if costs is None else np.array(costs)
        self._now = _Now(running)

    def __repr__(self) -> str:
        return (
            f"<AdaptiveTest of {self.layout.name!r}: {len(self._now.answers)} of "
            f"{len(self._bank)} items answered, {len(self._now.flight)} in flight>"
        )

    def next(self, n: int = 1) -> list[str]:
        """Return items to ask; they are in flight until their outcomes are recorded.

        Items that are in flight already come first, in the order in which they were chosen, so that
        an item whose answer was lost is asked again. The others are chosen one after another, each
        for the information that it adds to the items in flight, averaged over their possible
        outcomes.

        Parameters
        ----------
        n : int
            Number of items to have in flight.

        Returns
        -------
        list of str
            Names of the items; fewer if the limit of the stopping rule or the end of the bank is
            reached.

        Raises
        ------
        FitError
            When `n` is not a whole number of at least 1, or the file cannot be written.

        Examples
        --------
        >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
        >>> test = AdaptiveTest(aaio.recommended_layout(), aaio.battery(seed=2), seed=1)
        >>> items = test.next(3)
        >>> test.record(items[0], 1)
        >>> test.next(3)[:2] == items[1:]
        True
        """
        now, flight = self._now, dict(self._now.flight)
        count, chosen = whole("n", n, 1), self._now.chosen
        while len(flight) < count and len(open_ := self._open(flight)):
            rng = np.random.default_rng([self._seed, 4, chosen])
            if rng.random() < self._begun["random_share"]:
                place, why = int(rng.choice(open_)), _RANDOM
            else:
                self._chooser.running = now.running
                best = self._chooser.best(open_, list(flight), self._costs)
                place, why = int(rng.choice(best[: self._begun["among"]])), _INFORMATION
            flight[place] = why
            chosen += 1
        if chosen > now.chosen:
            self._change(replace(now, flight=flight, chosen=chosen))
        return self.in_flight[:count]

    def skip(self, item: str) -> None:
        """Give up an item in flight: it is not asked again, and has no outcome.

        Its outcome can still be recorded later.

        Parameters
        ----------
        item : str
            Name of an item in flight.

        Raises
        ------
        DataError
            When the item is not in flight.
        FitError
            When the file cannot be written.
        """
        now = self._now
        if item not in self.in_flight:
            raise DataError(
                f"{item} is not in flight, so it cannot be skipped; in flight are "
                f"{some(self.in_flight) if now.flight else 'no items'}"
            )
        place = self._places[item]
        flight = {other: why for other, why in now.flight.items() if other != place}
        self._change(replace(now, flight=flight, skipped=(*now.skipped, place)))

    def record(self, item: str, outcome: Any, trials: int = 1) -> None:
        """Record an answer and update the posterior.

        An error or an interrupt leaves the test as it was before, so that the answer can be
        recorded again.

        Parameters
        ----------
        item : str
            Name of an item of the bank, which need not have been returned by `next`.
        outcome : int, bool, str, float or mapping
            Number of successes in the trials; the grade or score if the layout has one; a value by
            outcome if it has several outcomes.
        trials : int
            Number of attempts; 1 if the layout has grades, scores or several outcomes.

        Raises
        ------
        DataError
            When the item is unknown or was answered before, or the outcome is not a valid one.
        FitError
            When `trials` is not a whole number of at least 1, the file cannot be written, or
            another process or test has changed it.
        """
        (name,) = known_names([item], self._bank.index, "item")
        self._change(self._answered(self._now, name, plain(outcome), trials))

    def _answered(
        self, now: _Now, name: str, outcome: Any, trials: object, why: str = _GIVEN
    ) -> _Now:
        """Return the state after an answer."""
        place = self._places[name]
        if place in now.answers:
            raise DataError(
                f"{name} was answered already, with {now.answers[place]['outcome']!r}; each "
                "item is asked once"
            )
        passed, tried = counts(self.layout, self._bank, name, outcome, trials)
        running = copy.copy(now.running)
        running.record(self._rows[place], passed, tried)
        sds = {f"sd {one.name}": sd for one, sd in zip(running.elements, running.sds, strict=True)}
        answer = {
            "item": name,
            "outcome": outcome,
            "trials": int(tried.max()),
            "why": now.flight.get(place, why),
            **sds,
            "effective": running.effective,
            "error": running.error,
            "refitted": running.refitted,
            "counts": (passed, tried),
            "sides": {} if self._stop is None else self._stop.sides(running),
        }
        return _Now(
            running,
            {**now.answers, place: answer},
            {other: why for other, why in now.flight.items() if other != place},
            tuple(other for other in now.skipped if other != place),
            now.chosen,
        )

    def _change(self, now: _Now) -> None:
        """Write the file, and then change the test."""
        self._file.write(self._state(now))
        self._now = now

    def _state(self, now: _Now) -> dict[str, Any]:
        """Write what a call changes as plain values; the posterior follows from the answers."""
        names = self._bank.index
        kept = ("item", "outcome", "trials", "why")
        return {
            "answers": [[answer[name] for name in kept] for answer in now.answers.values()],
            "in_flight": [[names[place], why] for place, why in now.flight.items()],
            "skipped": [names[place] for place in now.skipped],
            "chosen": now.chosen,
        }

    def profile(self, *, prob: float = 0.9) -> pd.DataFrame:
        """Summarise every profile element, with the columns of `Fit.profiles`.

        Parameters
        ----------
        prob : float
            Mass of the equal-tailed interval.

        Raises
        ------
        FitError
            When `prob` is not between 0 and 1.
        """
        return self._now.running.profiles(inside("prob", prob, such_as=0.9))

    @property
    def in_flight(self) -> list[str]:
        """Items that were chosen and have no outcome yet, in the order of their choice."""
        return [self._bank.index[place] for place in self._now.flight]

    @property
    def bank(self) -> pd.DataFrame:
        """The items that may be asked; a copy."""
        return self._bank.copy()

    @property
    def done(self) -> str:
        """Reason why the test has stopped; empty if it has not."""
        stop, now = self._stop, self._now
        if stop is not None:
            sides = [answer["sides"] for answer in now.answers.values()]
            if reached := stop.reached(now.running, sides):
                return reached
            if stop.items is not None and len(now.answers) >= stop.items:
                return f"{len(now.answers)} items were answered, the limit"
        if len(now.answers) + len(now.skipped) == len(self._bank):
            skipped = " or skipped" if now.skipped else ""
            return f"all {len(self._bank)} items of the bank were answered{skipped}"
        return ""

    def _open(self, flight: Mapping[int, str]) -> np.ndarray:
        """Items that may be asked within the limit, beside those in flight."""
        met = np.zeros(len(self._bank), dtype=bool)
        met[[*self._now.answers, *flight]] = True
        open_ = ~met
        open_[[*self._now.skipped]] = False
        stop = self._stop
        if stop is not None and stop.items is not None and met.sum() >= stop.items:
            open_[:] = False
        return np.flatnonzero(open_)

    @property
    def history(self) -> pd.DataFrame:
        """Answers so far, one row each.

        The columns are ``item``, ``outcome``, ``trials``, ``why`` it was asked (``"information"``,
        ``"random"``, or ``"given"`` if it was recorded without being asked), ``sd ...`` of every
        profile element after the answer, ``effective`` draws, the Monte Carlo ``error`` in
        posterior standard deviations, and whether all particles were drawn again (``refitted``).
        """
        sds = [f"sd {one.name}" for one in self._now.running.elements]
        columns = ["item", "outcome", "trials", "why", *sds, "effective", "error", "refitted"]
        return pd.DataFrame(list(self._now.answers.values()), columns=columns)

    def evaluation(self) -> Evaluation:
        """Return the recorded answers as an evaluation of one subject.

        If all answered items have the same value of a property, the evaluation also has an item of
        the bank with another value, which was not attempted, because `fit` refuses properties that
        do not vary.

        Raises
        ------
        DataError
            When there is no answer yet.
        """
        answers = self._now.answers
        if not answers:
            raise DataError("there is no answer yet; record one first")
        places = list(answers)
        others = beside(self.layout, self._bank, places)
        rows, steps = self._bank.iloc[[*places, *others]], self.layout.steps
        if steps is not None:
            rows = expanded(steps, rows)
        nothing = np.zeros((2, len(others) * self._rows.shape[1]), dtype=int)
        counted = [*(answer["counts"] for answer in answers.values()), nothing]
        passed, tried = (
            pd.DataFrame(
                np.concatenate([part[at] for part in counted])[None], [self._subject], rows.index
            )
            for at in (0, 1)
        )
        return Evaluation(rows, passed, tried, subjects=self._people)

    @property
    def _people(self) -> pd.DataFrame | None:
        """Properties of the subject; None if there are none."""
        written = self._begun["properties"]
        return None if written is None else read_table(written)

    def save(self, path: str | Path) -> None:
        """Write a copy of the test to a file, completely or not at all; `load` continues it.

        Raises
        ------
        FitError
            When it cannot be written.
        """
        self._file.save(Path(path), self._state(self._now))

    @classmethod
    def load(
        cls,
        path: str | Path,
        layout: Layout | None = None,
        *,
        bank: pd.DataFrame | None = None,
        given: Posterior | None = None,
    ) -> "AdaptiveTest":
        """Continue a test from its file, which further calls write to.

        Items in flight are asked again first.

        Parameters
        ----------
        path : str or Path
            File of the test, written by `save` or because of ``path=``.
        layout : Layout, optional
            The layout, needed if it has user-defined linking functions.
        bank : DataFrame, optional
            The bank that the test is expected to have (default: it is not compared).
        given : Fit, optional
            The joint fit of others that the test was begun with.

        Raises
        ------
        FitError
            When there is no such file, it is no test, the layout, the bank or the fit of others is
            another one, or the fit of others is missing.
        """
        file, state = StateFile.read(Path(path))
        begun = file.begun
        if layout is None:
            try:
                layout = Layout.from_dict(begun["layout"])
            except LayoutError as error:
                raise FitError(
                    f"{path}: its layout cannot be read ({error}); pass the layout as layout="
                ) from error
        elif layout.to_dict() != begun["layout"]:
            raise FitError(
                f"{path} is a test under another layout than {layout.name!r}; load it without "
                "layout=, or give the layout that it was begun with"
            )
        if bank is not None:
            _refuse_other_bank(path, named(bank, "bank", "item"), begun["bank"])
        if (begun["given"] is None) != (given is None):
            raise FitError(
                f"{path} was begun {'with' if given is None else 'without'} a fit of others; "
                f"{'pass it as given=' if given is None else 'leave given out'}"
            )
        test = cls.__new__(cls)
        test._file = file
        test._begin(layout, begun, given)
        now = test._now
        if given is not None and now.running.bank.digest != begun["given"]:
            raise FitError(
                f"{path} was begun with another fit of others than given=, which has other draws; "
                "give the fit that it was begun with"
            )
        for answer in state["answers"]:
            now = test._answered(now, *answer)
        test._now = replace(
            now,
            flight={test._places[name]: why for name, why in state["in_flight"]},
            skipped=tuple(test._places[name] for name in state["skipped"]),
            chosen=state["chosen"],
        )
        return test


def _refuse_other_bank(path: str | Path, bank: pd.DataFrame, begun: Mapping[str, Any]) -> None:
    """Refuse a bank that differs from that of a test, by the items and columns that differ."""
    before, now = read_table(begun), read_table(write_table(bank))
    for what, ours, given in (
        ("items", before.index, now.index),
        ("columns", before.columns, now.columns),
    ):
        if list(ours) != list(given):
            differ = [str(name) for name in ours.symmetric_difference(given, sort=False)]
            listed = some(differ) if differ else "in another order"
            raise FitError(
                f"bank= is another one than that of {path}: its {what} differ ({listed}); "
                "give the bank that the test was begun with"
            )
    for name in now.columns:
        other = before[name].ne(now[name]) & ~(before[name].isna() & now[name].isna())
        if other.any():
            raise FitError(
                f"bank= is another one than that of {path}: {name} differs for "
                f"{some(now.index[other])}; give the bank that the test was begun with"
            )


def _read_among(among: object) -> int:
    """Read the number of items from which one is drawn."""
    number = whole("among", among, 1)
    if number > MOST:
        raise FitError(f"among={number}; give a whole number from 1 to {MOST}")
    return number
