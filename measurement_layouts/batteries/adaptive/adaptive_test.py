"""Adaptive tests of one subject: choice of the next item, and when to stop."""

import copy
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from .answers import Progress, counts, plain
from .choosing import MOST, Chooser
from .state_file import StateFile, read_table, write_table
from .stop import Stop

_GIVEN, _INFORMATION, _RANDOM = "given", "information", "random"
_FEWEST = 4  # answers, before it is estimated how many more are needed


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
    shadow : bool
        Whether to ask on when the stopping rule is met, until the bank is used up, so that the
        answers before and after can be compared: `stopped` is where the test would have ended.
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
    >>> len(test.history) == test.stopped
    True
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
        shadow: bool = False,
        seed: int | None = None,
        path: str | Path | None = None,
    ) -> None:
        refuse_no_layout(layout)
        if stop is not None and not isinstance(stop, Stop):
            raise FitError(f"stop={stop!r}; give Stop(...), as in Stop(sd={{'sight': 0.5}})")
        if whole("among", among, 1) > MOST:
            raise FitError(f"among={among}; give a whole number from 1 to {MOST}")
        items = named(bank, "bank", "item")
        people = named(subject, "subject", "subject") if isinstance(subject, pd.DataFrame) else None
        begun = {
            "layout": layout.to_dict(),
            "bank": write_table(items),
            "subject": str(subject) if people is None else people.index[0],
            "properties": None if people is None else write_table(people),
            "target": read_target(elements(layout) if given is None else given.elements, target),
            "stop": None if stop is None else stop.to_dict(),
            "costs": read_costs(items, costs).tolist(),
            "random_share": share("random_share", random_share),
            "among": int(among),
            "shadow": bool(shadow),
            "seed": secrets.randbits(31) if seed is None else whole("seed", seed),
        }
        self._begin(layout, begun, given)
        begun["given"] = None if given is None else self._now.running.bank.digest
        self._file = StateFile(begun, None if path is None else Path(path))
        self._file.write(self._now.to_dict())

    def _begin(self, layout: Layout, begun: Mapping[str, Any], given: Posterior | None) -> None:
        """Set up the posterior and the choice of items, as before any answer."""
        self.layout, self._begun = layout, begun
        self._bank = named(read_table(begun["bank"]), "bank", "item")
        people, stop = begun["properties"], begun["stop"]
        self._people = None if people is None else read_table(people)
        self._stop = None if stop is None else Stop(**stop)
        running = Running.of(
            layout,
            self._bank,
            subject=begun["subject"],
            subjects=self._people,
            given=given,
            seed=begun["seed"],
        )
        if self._stop is not None:
            self._stop.check(running)
        ends = [1] if layout.steps is None else layout.steps.ends.tolist()
        self._rows = np.arange(len(self._bank) * ends[-1]).reshape(len(self._bank), -1)
        self._chooser = Chooser(self._rows, ends, begun["target"])
        self._costs = np.array(begun["costs"])
        self._now, self._sds_before = Progress(running), running.sds

    def __repr__(self) -> str:
        answered, ahead = len(self._now.answers), self.items_left
        until = "" if ahead is None else f", about {ahead} more until it stops"
        return (
            f"<AdaptiveTest of {self.layout.name!r}: {answered} of {len(self._bank)} items "
            f"answered, {len(self._now.flight)} in flight{until}>"
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
        flight, chosen = dict(self._now.flight), self._now.chosen
        count = whole("n", n, 1)
        while len(flight) < count and len(open_ := self._open(flight)):
            rng = np.random.default_rng([self._begun["seed"], 4, chosen])
            if rng.random() < self._begun["random_share"]:
                position, why = rng.choice(open_), _RANDOM
            else:
                asked = self._positions(flight)
                best = self._chooser.best(self._now.running, open_, asked, self._costs)
                position, why = rng.choice(best[: self._begun["among"]]), _INFORMATION
            flight[self._bank.index[position]] = why
            chosen += 1
        if chosen > self._now.chosen:
            self._change(replace(self._now, flight=flight, chosen=chosen))
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
        flight = dict(self._now.flight)
        if flight.pop(item, None) is None:
            raise DataError(
                f"{item} is not in flight, so it cannot be skipped; in flight are "
                f"{some(flight) if flight else 'no items'}"
            )
        self._change(replace(self._now, flight=flight, skipped=(*self._now.skipped, item)))

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
        self, now: Progress, name: str, outcome: Any, trials: object, why: str = _GIVEN
    ) -> Progress:
        """Return the progress after an answer."""
        if name in now.answers:
            raise DataError(
                f"{name} was answered already, with {now.answers[name]['outcome']!r}; each "
                "item is asked once"
            )
        successes, tried = counts(self.layout, self._bank, name, outcome, trials)
        running = copy.copy(now.running)
        running.record(self._rows[self._bank.index.get_loc(name)], successes, tried)
        flight = dict(now.flight)
        answer = {
            "item": name,
            "outcome": outcome,
            "trials": int(tried.max()),
            "why": flight.pop(name, why),
            **dict(zip(self._sds, running.sds, strict=True)),
            "effective": running.effective,
            "error": running.error,
            "refitted": running.refitted,
            "counts": (successes, tried),
        }
        if self._stop is not None:
            answer["bands"] = self._stop.bands(running)
            verdicts = [earlier["bands"] for earlier in now.answers.values()]
            answer["stop"] = self._stop.reached(running, [*verdicts, answer["bands"]])
        skipped = tuple(item for item in now.skipped if item != name)
        return Progress(running, {**now.answers, name: answer}, flight, skipped, now.chosen)

    @property
    def _sds(self) -> list[str]:
        """Columns of standard deviations in the history."""
        return [f"sd {element.name}" for element in self._now.running.elements]

    def _change(self, now: Progress) -> None:
        """Write the file, and then change the test."""
        self._file.write(now.to_dict())
        self._now = now

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
        return list(self._now.flight)

    @property
    def bank(self) -> pd.DataFrame:
        """The items that may be asked; a copy."""
        return self._bank.copy()

    @property
    def done(self) -> str:
        """Reason why the test has stopped; empty if it has not.

        In shadow mode it stops only at the end of the bank.
        """
        now = self._now
        if self._stop is not None and not self._begun.get("shadow"):
            bands = [answer["bands"] for answer in now.answers.values()]
            if reason := self._stop.reached(now.running, bands):
                return reason
        if len(now.answers) + len(now.skipped) == len(self._bank):
            skipped = " or skipped" if now.skipped else ""
            return f"all {len(self._bank)} items of the bank were answered{skipped}"
        return ""

    @property
    def stopped(self) -> int | None:
        """Number of answers after which the stopping rule was first met; None if it was not."""
        reasons = [answer.get("stop") for answer in self._now.answers.values()]
        return next((number for number, reason in enumerate(reasons, start=1) if reason), None)

    @property
    def items_left(self) -> int | None:
        """Estimated number of answers until the stopping rule is met, or the bank is used up.

        It follows from how fast the posterior has narrowed; see `Stop.answers_left`. None without a
        stopping rule, before four answers, and when the rule was met.
        """
        answers = list(self._now.answers.values())
        if self._stop is None or len(answers) < _FEWEST or self.done or self.stopped:
            return None
        sds = [self._sds_before, *([answer[name] for name in self._sds] for answer in answers)]
        bands = [answer["bands"] for answer in answers]
        ahead = self._stop.answers_left(self._now.running, np.array(sds), bands)
        in_bank = len(self._bank) - len(answers) - len(self._now.skipped)
        return int(max(1, min(in_bank, np.ceil(ahead))))

    def _open(self, flight: Mapping[str, str]) -> np.ndarray:
        """Positions of items that may be asked within the limit, beside those in flight."""
        used = [*self._now.answers, *flight]
        stop = None if self._begun.get("shadow") else self._stop
        limit = None if stop is None else stop.items
        if limit is not None and len(used) >= limit:
            return np.array([], dtype=int)
        closed = self._positions([*used, *self._now.skipped])
        return np.delete(np.arange(len(self._bank)), closed)

    def _positions(self, items: Iterable[str]) -> list[int]:
        """Positions of items in the bank."""
        return [int(position) for position in self._bank.index.get_indexer(pd.Index([*items]))]

    @property
    def history(self) -> pd.DataFrame:
        """Answers so far, one row each.

        The columns are ``item``, ``outcome``, ``trials``, ``why`` it was asked (``"information"``,
        ``"random"``, or ``"given"`` if it was recorded without being asked), ``sd ...`` of every
        profile element after the answer, ``effective`` draws, the Monte Carlo ``error`` in
        posterior standard deviations, whether all particles were drawn again (``refitted``), and
        ``stop``: how the stopping rule is met after the answer, empty if it is not.
        """
        columns = ["item", "outcome", "trials", "why", *self._sds, "effective", "error", "refitted"]
        columns += [] if self._stop is None else ["stop"]
        return pd.DataFrame(list(self._now.answers.values()), columns=columns)

    def evaluation(self) -> Evaluation:
        """Return the recorded answers as an evaluation of one subject.

        It has all items of the bank, those with an answer first; the others were not attempted.

        Raises
        ------
        DataError
            When there is no answer yet.
        """
        answers = self._now.answers
        if not answers:
            raise DataError("there is no answer yet; record one first")
        positions = self._positions(answers)
        others = np.delete(np.arange(len(self._bank)), positions)
        items, steps = self._bank.iloc[[*positions, *others]], self.layout.steps
        rows = items if steps is None else expanded(steps, items)
        tables = [
            np.concatenate([*columns, np.zeros(len(others) * self._rows.shape[1], dtype=int)])
            for columns in zip(*(answer["counts"] for answer in answers.values()), strict=True)
        ]
        successes, trials = (
            pd.DataFrame([table], [self._begun["subject"]], rows.index) for table in tables
        )
        return Evaluation(rows, successes, trials, subjects=self._people)

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
            File of the test.
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
        if bank is not None and write_table(named(bank, "bank", "item")) != begun["bank"]:
            raise FitError(
                f"bank= is another one than that of {path}; give the bank that the test was begun "
                "with, or leave it out"
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
        flight, skipped = state["in_flight"], tuple(state["skipped"])
        test._now = replace(now, flight=flight, skipped=skipped, chosen=state["chosen"])
        return test
