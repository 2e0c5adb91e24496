"""Fit a layout to each subject separately, or to all jointly where subjects share values."""

import secrets
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from ..common.cache import check_pytensor_folder
from ..common.errors import FitError
from ..common.messages import many
from ..common.options import whole
from ..common.progress import track, waiting
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_evaluation, refuse_no_layout
from ..evaluations.subject_data import SubjectData
from ..layouts import Layout
from ..layouts.elements import elements
from .files.store import Store
from .fit import Fit
from .model.bands import find_bands
from .model.prior import draw_prior
from .model.unseen import refuse_unseen
from .population.fitting import fit_jointly
from .posterior.assembly import Training, Tried, assemble, marks
from .posterior.posterior import Posterior
from .sampling.convergence import status
from .sampling.draws import Sampled, SamplingOptions
from .sampling.engine import Battery, compile_sampler
from .sampling.executors import Executor, WorkerDied, choose_executor, run_jobs
from .sampling.grid import MOST
from .sampling.retries import sample_subject


def fit(
    layout: Layout,
    evaluation: Evaluation,
    *,
    subjects: Iterable[object] | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.8,
    seed: int | None = None,
    method: Literal["nuts", "grid"] | None = None,
    reruns: int = 2,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Fit:
    """Infer every subject's cognitive profile from the subject's own outcomes.

    The layout is compiled once; subjects enter as data and are sampled in parallel. A failure of
    one subject does not stop the others: a subject that fails or does not converge is sampled again
    with more tuning. If that does not help, `Fit.diagnostics` lists the subject with the reason.

    A layout in which subjects share values (``per=``, `Layout.joint`) is fitted to all subjects
    jointly. Its chains run in parallel, each with its own random stream, and each is one file of
    the store. Profiles then depend on the other subjects, too; `Fit.items` and `Fit.population`
    list the shared values. Items without outcomes are no part of the fit: effects of items that sum
    to zero do so over those that were attempted.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    evaluation : Evaluation
        Items and outcomes.
    subjects : iterable, optional
        Subjects to fit (default: all).
    draws, tune, chains : int
        Kept draws per chain (at least 4), discarded draws per chain (at least 1), and number of
        chains (at least 1).
    target_accept : float
        Target acceptance rate for adapting NUTS's step size, in (0, 1).
    seed : int, optional
        Seed of the draws, at least 0. A subject's draws depend only on the seed and the subject's
        name, not on the other subjects, their order or the workers. If no seed is given,
        a random one is used and kept with the fit.
    method : {"nuts", "grid"}, optional
        NUTS, or a grid for layouts of at most two profile elements and nothing unseen. By default,
        the grid if such a layout has a band, whose posterior may have several modes, and NUTS
        otherwise. The grid ignores `tune`, `target_accept` and `reruns`; subjects whose posterior
        it cannot resolve are sampled by NUTS, which `Fit.diagnostics` reports. With bands, NUTS's
        chains start at the maxima of a scan along each propensity; if the chains do not move
        between all maxima, or in a joint fit, which has no scan, the status is
        ``modes not searched``.
    reruns : int
        How often a subject that failed, diverged or did not converge is sampled again. Each time
        tuning is doubled, twice as many draws are made and thinned to the same number, and the
        target is moved three quarters of the way to 1. In a joint fit: how often all chains are
        sampled again in this way if they did not converge.
    store : str or Path, optional
        Folder to which each subject is written when it is finished; draws are then not kept in
        memory. The same call with the same store continues an interrupted fit and gives the same
        numbers. A store holds the fit of one call: with other subjects, items, outcomes or options
        it is refused.
    n_jobs : int, optional
        Number of subjects sampled at a time. By default `joblib.parallel_config` determines the
        number and the backend (``threading``, ``loky`` or ``dask``), and if it is not set, threads
        run on all processors. A worker process compiles the layout once; if the process dies, its
        subjects are sampled by another one.
    progressbar : bool
        Whether to show the number of subjects done, the remaining time and the number that did not
        converge, in terminals and notebooks.

    Returns
    -------
    Fit
        Posteriors of all subjects.

    Raises
    ------
    DataError
        When the items do not fit the layout, a subject is unknown, or `evaluation` is something
        else, such as a table.
    LayoutError
        When PyMC does not accept a prior, draws from it are not possible, or `layout` is something
        else.
    FitError
        When an option is out of range, the method does not work for the layout, the store contains
        another fit, PyTensor has no folder to compile in, or sampling failed for every subject.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, reruns=0, progressbar=False)
    >>> result.subjects
    ['sim-01']
    """
    options = SamplingOptions(draws, tune, chains, target_accept)
    refuse_no_layout(layout)
    refuse_no_evaluation(evaluation)
    if seed is not None:
        seed = whole("seed", seed)
    reruns = whole("reruns", reruns)
    if method is not None and (not isinstance(method, str) or method not in ("nuts", "grid")):
        raise FitError(f"method={method!r}; give 'nuts' or 'grid', or leave it out")
    executor = choose_executor(None if n_jobs is None else whole("n_jobs", n_jobs, 1))
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    most = int(chosen.coded.trials.max())
    if method == "grid":
        refuse_unseen(layout, "method='grid'", "use method='nuts'", most)
    if layout.joint:
        if method == "grid":
            raise FitError(
                f"method='grid': layout {layout.name!r} is fitted to all subjects together, which "
                "works with NUTS only; leave method out"
            )
        check_pytensor_folder()
        return Fit.of(
            fit_jointly(layout, chosen, options, seed, store, executor, reruns, progressbar)
        )
    if method is None:
        method = "grid" if _on_grid(layout, most) else "nuts"
    battery = Battery.of(layout, chosen)
    check_pytensor_folder()
    draw_prior(layout)  # raises an error before the sampler starts if a prior cannot be drawn from

    def prepare() -> None:
        if method == "nuts":
            with waiting("compiling the layout", show=progressbar):
                compile_sampler(battery)

    opened: AbstractContextManager[Collected | Store]
    if store is None:
        random = secrets.randbits(31) if seed is None else seed
        opened = nullcontext(Collected(layout, chosen, battery, options, random, method))
    else:
        if not Path(store).exists():
            prepare()  # if the layout does not compile, no store is created
        opened = Store.open(store, layout, chosen, battery, options, seed, reruns, method)
    with opened as results:
        finished = results.finished
        todo = [subject for subject in chosen.subjects if subject not in finished]
        if todo:
            prepare()
        job = partial(
            sample_subject,
            options=options,
            seed=results.seed,
            cores=max(1, min(options.chains, executor.workers // max(1, len(todo)))),
            reruns=reruns,
            method=method,
        )
        failures = []
        found = _sample_all(executor, job, battery, chosen, todo)
        watched = track(
            found,
            total=len(chosen.subjects),
            show=progressbar,
            before=len(chosen.subjects) - len(todo),
            not_converged=lambda sampled: (
                bool(sampled.reason) and status(sampled.reason.split("; ")) == "not converged"
            ),
        )
        with closing(found), closing(watched):  # also when an exception is raised below
            for sampled in watched:
                results.add(sampled)
                if sampled.draws is None:
                    failures.append(sampled.reason)
        if len(failures) == len(chosen.subjects):
            raise FitError(
                f"sampling failed for all {many(len(failures), 'subject')}; first reason: "
                f"{failures[0]}. Check that the layout's start has a finite probability: ranges, "
                "priors and custom linking functions"
            )
        return Fit.of(results.posterior())


def _on_grid(layout: Layout, trials: int) -> bool:
    """Whether a layout is integrated by default: few elements, a band and nothing unseen."""
    unseen = (layout.several if trials > 1 else layout).outcome.unseen
    return unseen is None and len(elements(layout)) <= MOST and bool(find_bands(layout))


class Collected:
    """Draws of subjects, kept in memory until all subjects are finished.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    evaluation : Evaluation
        Items and outcomes.
    battery : Battery
        The items as the layout reads them.
    options : SamplingOptions
        Numbers of draws and chains, and the target acceptance rate.
    seed : int
        Seed of the draws.
    method : str
        "nuts" or "grid".
    """

    def __init__(
        self,
        layout: Layout,
        evaluation: Evaluation,
        battery: Battery,
        options: SamplingOptions,
        seed: int,
        method: str = "nuts",
    ) -> None:
        self.seed, self._method = seed, method
        self._layout, self._evaluation, self._battery = layout, evaluation, battery
        self._options = options
        self._tried: dict[str, Tried] = {}
        self._posterior: dict[str, dict[str, np.ndarray]] = {}
        self._statistics: dict[str, dict[str, np.ndarray]] = {}

    @property
    def finished(self) -> set[str]:
        """Subjects that have draws."""
        return {subject for subject, tried in self._tried.items() if tried.failure is None}

    def add(self, sampled: Sampled) -> None:
        """Add the result of one subject."""
        self._tried[sampled.subject] = Tried.of(sampled)
        if sampled.draws is not None:
            for kept, arrays in (
                (self._posterior, sampled.draws.posterior),
                (self._statistics, sampled.draws.statistics),
            ):
                for name, values in arrays.items():
                    kept.setdefault(name, {})[sampled.subject] = values

    def posterior(self) -> Posterior:
        """Join the finished subjects; the draws are removed from here, so no copy of them remains.

        Returns
        -------
        Posterior
            Subjects in the evaluation's order.
        """
        finished = self.finished
        subjects = [subject for subject in self._evaluation.subjects if subject in finished]

        def joined(kept: dict[str, dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
            found = {}
            for name in list(kept):
                by_subject = kept.pop(name)
                found[name] = np.stack([by_subject[subject] for subject in subjects])
            return found

        return assemble(
            self._layout,
            Training.of(self._layout, self._battery.features, self._evaluation, subjects),
            {name: drawn[None] for name, drawn in draw_prior(self._layout).items()},
            joined(self._posterior),
            joined(self._statistics),
            marks(self._layout, self._options, self.seed, self._method),
            {
                subject: self._tried[subject]
                for subject in self._evaluation.subjects
                if subject in self._tried
            },
        )


def _sample_all(
    executor: Executor,
    job: Callable[..., Sampled],
    battery: Battery,
    evaluation: Evaluation,
    subjects: list[str],
) -> Generator[Sampled, None, None]:
    """Sample subjects in parallel, and yield results in the order in which they finish."""
    shared = executor.share(battery)

    def arguments(subject: str) -> tuple[object, ...]:
        return shared, subject, SubjectData.of(evaluation, subject)

    with closing(run_jobs(executor, job, subjects, arguments)) as done:
        for subject, outcome in done:
            if isinstance(outcome, WorkerDied):
                yield Sampled(subject, None, reason=outcome.reason)
            else:
                yield outcome
