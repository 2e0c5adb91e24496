"""Fit a layout to each subject on its own, or to all together where they share something."""

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
from ..evaluations.evaluation import Evaluation, SubjectData
from ..layouts import Layout
from .files.store import Store
from .fit import Fit
from .model.prior import draw_prior
from .model.unseen import refuse_unseen
from .population.fitting import fit_jointly
from .posterior.assembly import Training, Tried, assemble, marks
from .posterior.posterior import Posterior
from .sampling.convergence import status
from .sampling.draws import Sampled, SamplingOptions
from .sampling.engine import Battery, compile_sampler
from .sampling.executors import Executor, WorkerDied, choose_executor, run_jobs
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
    method: Literal["nuts", "grid"] = "nuts",
    starts: Literal["prior", "modes"] = "prior",
    reruns: int = 1,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Fit:
    """Infer every subject's cognitive profile, each from its own outcomes alone.

    The layout is compiled once; subjects are swapped in as data and run side by side. Nobody stops
    the others: a subject that does not converge is sampled again with more care, and one that
    fails, or still does not converge, is named in `Fit.diagnostics` with the reason.

    A layout in which something is shared (``per=``, `Layout.joint`) is fitted to all subjects
    together: its chains run side by side, each with a random stream of its own, and each is a file
    of the store. Profiles then lean on the other subjects; `Fit.items` and `Fit.population` list
    what is shared.

    Parameters
    ----------
    layout : Layout
        The layout to fit.
    evaluation : Evaluation
        Items and outcomes.
    subjects : iterable, optional
        Subjects to fit (default: all).
    draws, tune, chains : int
        Kept and discarded draws per chain, and chains: at least 4, 1 and 1. At most 2**63 - 1, as
        every whole number here; memory runs out long before.
    target_accept : float
        Aim of NUTS's step size, in (0, 1).
    seed : int, optional
        Makes the fit reproducible: a subject's draws depend on the seed and its name only, not on
        who else is fitted, in which order or where. At least 0. A random one is kept with the fit
        otherwise.
    method : {"nuts", "grid"}
        NUTS, or integration over a grid, for layouts of few latents and nothing unseen; the grid
        has no use for `tune`, `target_accept`, `starts` and `reruns`.
    starts : {"prior", "modes"}
        Where NUTS's chains start: about the middle of the prior (a chain that ends up where there
        is next to no mass is sampled again from beside the heaviest mode), or beside the modes of
        the subject's posterior, which are found first and dealt to the chains in turn, the heaviest
        first. Modes beyond the number of chains, and those of less than 1e-4 of the heaviest one's
        mass, have no chain. Chains that stay in different modes are named in `Fit.diagnostics`;
        how many there are in each says nothing about its probability.
    reruns : int
        How often a subject that failed, diverged or did not converge is sampled again: each time
        with twice the tuning, twice the draws thinned to as many, and a target three quarters of
        the way from `target_accept` to 1. In a joint fit, how often chains are sampled again that
        ended up where there is next to no mass.
    store : str or Path, optional
        Folder that each subject is written to as it finishes; draws stay there, not in memory. The
        same call with the same store goes on where an interrupted one stopped, and gives the same
        numbers. With more items or outcomes, subjects that have more are fitted anew, which a
        warning says; the others keep their draws, and the former call still gives the former fits.
    n_jobs : int, optional
        Subjects at a time. Without it `joblib.parallel_config` says how many and where (backends
        ``threading``, ``loky`` and ``dask``), and without that, threads on all processors. A worker
        process compiles the layout once; if it dies, its subjects are sampled elsewhere.
    progressbar : bool
        Show subjects done, time left and how many did not converge, in terminals and notebooks.

    Returns
    -------
    Fit
        Posteriors of all subjects.

    Raises
    ------
    DataError
        When the items do not fit the layout, or a subject is unknown.
    LayoutError
        When PyMC does not take a prior, or it cannot be drawn from.
    FitError
        When an option is out of range or the method does not work for the layout, the store holds
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
    if seed is not None:
        seed = whole("seed", seed)
    reruns = whole("reruns", reruns)
    if not isinstance(method, str) or method not in ("nuts", "grid"):
        raise FitError(f"method={method!r}; give 'nuts' or 'grid'")
    if not isinstance(starts, str) or starts not in ("prior", "modes"):
        raise FitError(f"starts={starts!r}; give 'prior' or 'modes'")
    executor = choose_executor(None if n_jobs is None else whole("n_jobs", n_jobs, 1))
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    if method == "grid":
        most = int(chosen.trials.to_numpy().max())
        refuse_unseen(layout, "method='grid'", "use method='nuts'", most)
    if layout.joint:
        for name, value, only in (("method", method, "nuts"), ("starts", starts, "prior")):
            if value != only:
                raise FitError(
                    f"{name}={value!r}: layout {layout.name!r} is fitted to all subjects together, "
                    f"which takes {name}={only!r} alone; leave it out"
                )
        check_pytensor_folder()
        return Fit.of(
            fit_jointly(layout, chosen, options, seed, store, executor, reruns, progressbar)
        )
    battery = Battery.of(layout, chosen)
    check_pytensor_folder()
    draw_prior(layout)  # a prior that cannot be drawn from is refused before the sampler starts

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
            prepare()  # a layout that is refused leaves no store behind
        opened = Store.open(store, layout, chosen, battery, options, seed, reruns, method, starts)
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
            starts=starts,
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
        with closing(found), closing(watched):  # whatever happens below
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


class Collected:
    """Draws of subjects kept in memory until all are there.

    Parameters
    ----------
    layout : Layout
        What is fitted.
    evaluation : Evaluation
        To what.
    battery : Battery
        Of both.
    options : SamplingOptions
        How subjects are sampled.
    seed : int
        From which seed.
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
        """Join what there is; the draws are handed over, so that they lie in memory once.

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
    """Sample subjects side by side, in the order they finish."""
    shared = executor.share(battery)

    def arguments(subject: str) -> tuple[object, ...]:
        return shared, subject, SubjectData.of(evaluation, subject)

    with closing(run_jobs(executor, job, subjects, arguments)) as done:
        for subject, outcome in done:
            if isinstance(outcome, WorkerDied):
                yield Sampled(subject, None, reason=outcome.reason)
            else:
                yield outcome
