"""Fit a layout to each subject separately, or to all jointly where subjects share values."""

from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal

from ..common.cache import check_pytensor_folder
from ..common.errors import FitError
from ..common.messages import many, some
from ..common.options import whole
from ..common.progress import track, waiting
from ..common.threads import thread_count
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_evaluation, refuse_no_layout
from ..evaluations.subject_data import SubjectData
from ..layouts import Layout
from ..layouts.elements import elements
from ..layouts.plates import ITEM
from .files.store import Store
from .fit import Fit
from .loop import Alone, Jointly, Problems, Vectorised, solve
from .model.bands import find_bands
from .model.cohort import Cohort
from .model.prior import draw_prior
from .posterior.assembly import data_alone, data_jointly
from .sampling.draws import SamplingOptions
from .sampling.engine import Battery
from .sampling.grid import MOST
from .sampling.stopping import DaemonThreads

_UNKNOWN = 256  # jobs that are submitted to an executor whose number of workers is not known


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
    sampler: Literal["numpyro"] | None = None,
    reruns: int = 2,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    executor: Executor | None = None,
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
        NUTS, or a grid for layouts of at most two profile elements. By default, the grid if such a
        layout has a band, whose posterior may have several modes, and NUTS otherwise. The grid
        ignores `tune`, `target_accept` and `reruns`; subjects whose posterior it cannot resolve are
        sampled by NUTS, which `Fit.diagnostics` reports. With bands, NUTS's chains start at the
        maxima of a scan along each propensity; if the chains do not move between all maxima, if
        they differ from the grid of at most two elements, or in a joint fit, which has no scan, the
        status is ``modes not searched``.
    sampler : {"numpyro"}, optional
        Program that runs NUTS on a joint layout (default: the compiled code of this library).
        ``"numpyro"`` samples the model of `to_pymc` with NumPyro, all chains at once, on a GPU if
        JAX has one: for a million outcomes and more. It needs ``pip install
        'measurement-layouts[gpu]'``, and takes none of `method`, `n_jobs` and `executor`. Numbers
        are of 64 bits; ``jax.config.update("jax_enable_x64", False)`` after ``import
        pymc.sampling.jax`` makes them of 32 bits, which most GPUs compute much faster.
    reruns : int
        How often a subject that failed, diverged or did not converge is sampled again. Each time
        tuning is doubled, twice as many draws are made and thinned to the same number, and the
        target is moved three quarters of the way to 1. In a joint fit: how often all chains are
        sampled again in this way if one failed or they did not converge.
    store : str or Path, optional
        Folder to which each subject, or each chain of a joint fit, is written when it is sampled;
        draws of subjects that are fitted alone are then not kept in memory. The same call with the
        same store continues an interrupted fit and gives the same numbers. A store holds the fit of
        one call: with other subjects, items, outcomes or options it is refused.
    n_jobs : int, optional
        Number of jobs at a time: subjects, or chains of a joint fit (default: one per processor or
        worker, or the number set by `joblib.parallel_config`).
    executor : concurrent.futures.Executor, optional
        Executor of the jobs, which is not shut down (default: threads): processes, started by
        ``ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))``, or the workers of
        a Dask cluster, ``client.get_executor()``. A process compiles the layout once, and
        keeps it for its other jobs. If a worker dies, the error names the
        jobs in flight; with `store`, the same call then continues.
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
        another fit, PyTensor has no folder to compile in, the executor failed, or sampling failed
        for every subject.

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
    if not isinstance(executor, Executor | None):
        raise FitError(
            f"executor={executor!r}; give an executor of concurrent.futures, such as "
            "ProcessPoolExecutor(), or that of a Dask cluster, client.get_executor()"
        )
    if sampler is not None:
        others = {"method": method, "n_jobs": n_jobs, "executor": executor}
        _refuse_sampler(sampler, layout, [name for name in others if others[name] is not None])
        n_jobs = 1  # it draws all chains at once
    most = _most_jobs(executor) if n_jobs is None else whole("n_jobs", n_jobs, 1)
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    if method == "grid" and layout.joint:
        raise FitError(
            f"method='grid': layout {layout.name!r} is fitted to all subjects together, which "
            "works with NUTS only; leave method out"
        )
    if method is None:
        small = not layout.joint and len(elements(layout)) <= MOST
        method = "grid" if small and find_bands(layout) else "nuts"
    if layout.joint:
        cohort = Cohort.of_evaluation(layout, chosen)
        tried = chosen.select(items=cohort.levels[ITEM])
        data = data_jointly(cohort, list(tried.items.index) if tried.rows else None)
        model = Vectorised(cohort, options) if sampler else Jointly(cohort, options)
        problems = Problems(model, ["all subjects"], lambda _: None, options.chains)
    else:
        battery = Battery.of(layout, chosen)
        data = data_alone(layout, battery.features, chosen)
        side_by_side = max(1, min(options.chains, most // len(chosen.subjects)))
        cores = side_by_side if executor is None else 1
        alone = Alone(battery, options, method, cores)
        problems = Problems(alone, chosen.subjects, partial(SubjectData.of, chosen))
    check_pytensor_folder()
    draw_prior(layout)  # raises an error before the sampler starts if a prior cannot be drawn from
    if store is None or not Path(store).exists():
        _prepare(problems, progressbar)  # if the layout does not compile, no store is created
    with Store.open(store, layout, data, options, seed, reruns, sampler or method) as results:
        todo = [results.next_units(problem) for problem in range(len(problems.names))]
        if any(todo):
            _prepare(problems, progressbar)
        total = len(problems.names) * problems.blocks
        remaining = sum(len(units) if units[0].attempt == 1 else 1 for units in todo if units)
        solved = solve(problems, results, executor or DaemonThreads(), most)
        watched = track(
            solved,
            total=total,
            show=progressbar,
            what="chains" if layout.joint else "subjects",
            before=total - remaining,
            not_converged=bool,
        )
        with closing(solved), closing(watched):  # also when an exception is raised
            for _ in watched:
                pass
        failures = results.failures
        if len(failures) == len(problems.names):
            all_of = "" if layout.joint else f" for all {many(len(failures), 'subject')}"
            raise FitError(
                f"sampling failed{all_of}; first reason: {next(iter(failures.values()))}. Check "
                "that the layout's start has a finite probability: ranges, priors and custom "
                "linking functions"
            )
        return Fit.of(results.posterior())


def _refuse_sampler(sampler: object, layout: Layout, options: list[str]) -> None:
    """Refuse another sampler than NumPyro, a layout that is not joint, and some options."""
    if sampler != "numpyro":
        raise FitError(f"sampler={sampler!r}; give 'numpyro', or leave it out")
    if not layout.joint:
        raise FitError(
            f"sampler='numpyro': under layout {layout.name!r} each subject is fitted alone, which "
            "is faster without it; leave sampler out"
        )
    if options:
        raise FitError(
            f"sampler='numpyro' takes no {some(options)}: it runs NUTS, all chains at once; leave "
            f"{'it' if len(options) == 1 else 'them'} out"
        )


def _prepare(problems: Problems, progressbar: bool) -> None:
    """Compile the layout, once in a process."""
    with waiting("compiling the layout", show=progressbar):
        problems.model.prepare()


def _most_jobs(executor: Executor | None) -> int:
    """Return the number of jobs that are submitted at a time."""
    if executor is None:
        return thread_count()
    return int(2 * getattr(executor, "_max_workers", _UNKNOWN // 2))
