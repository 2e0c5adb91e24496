"""Adaptive tests of one subject: choice of the next item, and when to stop."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.options import inside, share, whole
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_layout
from ...evaluations.steps import expanded
from ...evaluations.tables import known_names, named
from ...inference.posterior.posterior import Posterior
from ...inference.sequential.running import Running
from ...layouts import Layout
from ...linking import LayoutError
from ..targets import read_costs, read_target
from .choosing import MOST, Chooser
from .journal import Journal, read_table, write_table
from .reading import beside, counts, plain
from .stop import Stop

_GIVEN, _INFORMATION, _RANDOM = "given", "information", "random"


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
        File that is written at every call, so that a killed process loses nothing; `load` continues
        the test from it.

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
            "target": read_target(layout, target),
            "stop": None if stop is None else stop.to_dict(),
            "costs": None if costs is None else read_costs(items, costs).tolist(),
            "given": given is not None,
            "random_share": share("random_share", random_share),
            "among": _read_among(among),
            "seed": secrets.randbits(31) if seed is None else whole("seed", seed),
        }
        self._begin(layout, Journal(begun), given)
        if path is not None:
            place = Path(path)
            if place.exists():
                raise FitError(
                    f"{place} exists already; continue it by AdaptiveTest.load({str(place)!r}),"
                    " or give another path"
                )
            self._journal.save(place)
            self._journal.path = place

    def _begin(self, layout: Layout, journal: Journal, given: Posterior | None) -> None:
        """Set up the posterior and the choice of items, as before any answer."""
        begun = journal.begun
        self.layout, self._journal = layout, journal
        self._bank = named(read_table(begun["bank"]), "bank", "item")
        self._subject, self._seed = str(begun["subject"]), int(begun["seed"])
        stop = begun["stop"]
        self._stop = None if stop is None else Stop(**stop)
        if self._stop is not None:
            self._stop.check(layout)
        self._running = Running.of(
            layout,
            self._bank,
            subject=self._subject,
            subjects=self._people,
            given=given,
            seed=self._seed,
        )
        steps = layout.steps
        ends = [1] if steps is None else steps.ends.tolist()
        self._rows = np.arange(len(self._bank) * ends[-1]).reshape(len(self._bank), -1)
        self._chooser = Chooser(self._running, self._rows, ends, begun["target"])
        costs = begun["costs"]
        self._costs = np.ones(len(self._bank)) if costs is None else np.array(costs)
        self._flight, self._answers = dict[int, str](), dict[int, dict[str, Any]]()
        self._asked = 0

    def __repr__(self) -> str:
        return (
            f"<AdaptiveTest of {self.layout.name!r}: {len(self._answers)} of {len(self._bank)} "
            f"items answered, {len(self._flight)} in flight>"
        )

    def next(self, n: int = 1) -> list[str]:
        """Choose items to ask; they are in flight until their outcomes are recorded.

        Several items are chosen one after another, each for the information that it adds to the
        items in flight, averaged over their possible outcomes.

        Parameters
        ----------
        n : int
            Number of items.

        Returns
        -------
        list of str
            Names of the items; fewer if a limit of the stopping rule or the end of the bank is
            reached.

        Raises
        ------
        FitError
            When `n` is not a whole number of at least 1.

        Examples
        --------
        >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
        >>> test = AdaptiveTest(aaio.recommended_layout(), aaio.battery(seed=2), seed=1)
        >>> len(set(test.next(3)))
        3
        """
        asked = list[tuple[int, str]]()
        for _ in range(whole("n", n, 1)):
            open_ = self._open()
            if not len(open_):
                break
            rng = np.random.default_rng([self._seed, 4, self._asked + len(asked)])
            flight = [*self._flight, *(place for place, _ in asked)]
            if rng.random() < self._journal.begun["random_share"]:
                place, why = int(rng.choice(open_)), _RANDOM
            else:
                best = self._chooser.best(open_, flight, self._costs)
                place, why = int(rng.choice(best[: self._journal.begun["among"]])), _INFORMATION
            asked.append((place, why))
            self._flight[place] = why
        if asked:
            self._journal.add(asked=[[self._bank.index[place], why] for place, why in asked])
            self._asked += len(asked)
        return [self._bank.index[place] for place, _ in asked]

    def record(self, item: str, outcome: Any, trials: int = 1) -> None:
        """Record an answer and update the posterior.

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
            When `trials` is not a whole number of at least 1.
        """
        (name,) = known_names([item], self._bank.index, "item")
        place = self._bank.index.tolist().index(name)
        if place in self._answers:
            raise DataError(
                f"{name} was answered already, with {self._answers[place]['outcome']!r}; each "
                "item is asked once"
            )
        outcome = plain(outcome)
        passed, tried = counts(self.layout, self._bank, name, outcome, trials)
        self._running.gained(self._rows[place], passed, tried)  # refuses what has no probability
        self._journal.add(item=name, outcome=outcome, trials=int(trials))
        self._take(place, outcome, passed, tried)

    def _take(self, place: int, outcome: Any, passed: np.ndarray, tried: np.ndarray) -> None:
        """Update the posterior with an answer that was checked and written."""
        running = self._running
        running.record(self._rows[place], passed, tried)
        sds = {f"sd {name}": sd for name, sd in zip(running.elements, running.sds, strict=True)}
        self._answers[place] = {
            "item": self._bank.index[place],
            "outcome": outcome,
            "trials": int(tried.max()),
            "why": self._flight.pop(place, _GIVEN),
            **sds,
            "effective": running.effective,
            "error": running.error,
            "refitted": running.refitted,
            "counts": (passed, tried),
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
        return self._running.profiles(inside("prob", prob, such_as=0.9))

    @property
    def in_flight(self) -> list[str]:
        """Items that were asked and have no outcome yet, in the order in which they were asked."""
        return [self._bank.index[place] for place in self._flight]

    @property
    def bank(self) -> pd.DataFrame:
        """The items that may be asked; a copy."""
        return self._bank.copy()

    @property
    def done(self) -> str:
        """Reason why the test has stopped; empty if it has not."""
        stop = self._stop
        if stop is not None:
            reached = stop.reached(self._running)
            if reached:
                return reached
            if stop.items is not None and len(self._answers) >= stop.items:
                return f"{len(self._answers)} items were answered, the limit"
        if len(self._answers) == len(self._bank):
            return f"all {len(self._bank)} items of the bank were answered"
        if not self._flight and not len(self._open()):
            return f"no item left costs less than what remains of {stop.cost:g}"  # type: ignore[union-attr]
        return ""

    def _open(self) -> np.ndarray:
        """Items that may be asked within the limits."""
        met = np.zeros(len(self._bank), dtype=bool)
        met[[*self._answers, *self._flight]] = True
        open_ = ~met
        stop = self._stop
        if stop is not None and stop.items is not None and met.sum() >= stop.items:
            open_[:] = False
        if stop is not None and stop.cost is not None:
            open_ &= self._costs <= (stop.cost - self._costs[met].sum()) * (1 + 1e-12)
        return np.flatnonzero(open_)

    @property
    def history(self) -> pd.DataFrame:
        """Answers so far, one row each.

        The columns are ``item``, ``outcome``, ``trials``, ``why`` it was asked (``"information"``,
        ``"random"``, or ``"given"`` if it was recorded without being asked), ``sd ...`` of every
        profile element after the answer, ``effective`` draws, the Monte Carlo ``error`` in
        posterior standard deviations, and whether all particles were drawn again (``refitted``).
        """
        sds = [f"sd {name}" for name in self._running.elements]
        columns = ["item", "outcome", "trials", "why", *sds, "effective", "error", "refitted"]
        return pd.DataFrame(list(self._answers.values()), columns=columns)

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
        if not self._answers:
            raise DataError("there is no answer yet; record one first")
        places = list(self._answers)
        others = beside(self.layout, self._bank, places)
        rows, steps = self._bank.iloc[[*places, *others]], self.layout.steps
        if steps is not None:
            rows = expanded(steps, rows)
        nothing = np.zeros((2, len(others) * self._rows.shape[1]), dtype=int)
        counted = [*(own["counts"] for own in self._answers.values()), nothing]
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
        written = self._journal.begun["properties"]
        return None if written is None else read_table(written)

    def save(self, path: str | Path) -> None:
        """Write the test to a file, completely or not at all; `load` continues it.

        Raises
        ------
        FitError
            When it cannot be written.
        """
        self._journal.save(Path(path))

    @classmethod
    def load(
        cls, path: str | Path, layout: Layout | None = None, *, given: Posterior | None = None
    ) -> "AdaptiveTest":
        """Continue a test from its file, which further calls write to.

        Parameters
        ----------
        path : str or Path
            File of the test, written by `save` or because of ``path=``.
        layout : Layout, optional
            The layout, needed if it has user-defined linking functions.
        given : Fit, optional
            The joint fit of others that the test was begun with.

        Raises
        ------
        FitError
            When there is no such file, it is no test, the layout is another one, or the
            fit of others is missing.
        """
        journal = Journal.read(Path(path))
        begun = journal.begun
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
        if begun["given"] != (given is not None):
            raise FitError(
                f"{path} was begun {'with' if begun['given'] else 'without'} a fit of others; "
                f"{'pass it as given=' if begun['given'] else 'leave given out'}"
            )
        found = cls.__new__(cls)
        found._begin(layout, journal, given)
        places = {name: at for at, name in enumerate(found._bank.index)}
        for event in journal.events:
            if "asked" in event:
                found._flight |= {places[name]: why for name, why in event["asked"]}
                found._asked += len(event["asked"])
            else:
                outcome = event["outcome"]
                counted = counts(layout, found._bank, event["item"], outcome, event["trials"])
                found._take(places[event["item"]], outcome, *counted)
        return found


def _read_among(among: object) -> int:
    """Read the number of items from which one is drawn."""
    number = whole("among", among, 1)
    if number > MOST:
        raise FitError(f"among={number}; give a whole number from 1 to {MOST}")
    return number
