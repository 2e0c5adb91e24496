"""Fit a layout to each subject on its own."""

import os
import secrets
from collections.abc import Iterable, Iterator

import joblib

from ..layouts import Layout
from .assembly import assemble
from .compiler import SubjectData
from .data import Evaluation
from .engine import Battery, compile_sampler
from .errors import FitError
from .options import whole
from .prior import draw_prior
from .progress import track, waiting
from .results import Fit
from .sampling import Draws, SamplingOptions, sample, subject_seed
from .wording import many


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
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Fit:
    """Infer every subject's cognitive profile by NUTS, each from its own outcomes alone.

    The layout is compiled once; subjects are swapped in as data and run side by side on threads. A
    subject whose sampling fails is named in `Fit.diagnostics` and stops no other.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    evaluation : Evaluation
        Items and outcomes.
    subjects : iterable, optional
        Whom to fit; everybody by default.
    draws, tune, chains : int
        Kept and discarded draws per chain, and chains.
    target_accept : float
        Aim of NUTS's step size, in (0, 1).
    seed : int, optional
        Makes the fit reproducible: a subject's draws depend on the seed and its name only, not on
        who else is fitted, in which order or on how many threads. A random one is kept with the
        fit otherwise.
    n_jobs : int, optional
        Subjects at a time; as many as processors by default. They are threads of this process
        unless `joblib.parallel_config` says otherwise; a worker elsewhere compiles the layout once.
    progressbar : bool
        Show subjects done and time left.

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
        When an option is out of range, or sampling failed for every subject.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> result.subjects
    ['sim-01']
    """
    options = SamplingOptions(draws, tune, chains, target_accept)
    seed = secrets.randbits(31) if seed is None else whole("seed", seed)
    jobs = _processors() if n_jobs is None else whole("n_jobs", n_jobs, 1)
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    battery = Battery.of(layout, chosen)
    with waiting("compiling the layout", show=progressbar):
        draw_prior(layout)  # a prior that cannot be drawn from is refused before the sampler starts
        compile_sampler(battery)
    found: dict[str, Draws] = {}
    failures: dict[str, str] = {}
    outcomes = _sample_all(battery, chosen, options, seed, jobs)
    for subject, result in track(outcomes, total=len(chosen.subjects), show=progressbar):
        if isinstance(result, Draws):
            found[subject] = result
        else:
            failures[subject] = result
    if not found:
        raise FitError(
            f"sampling failed for all {many(len(failures), 'subject')}; first reason: "
            f"{next(iter(failures.values()))}. Check that the layout's start has a finite "
            "probability: ranges, priors and custom linking functions"
        )
    named = {subject: failures[subject] for subject in chosen.subjects if subject in failures}
    return assemble(layout, chosen, battery.features, found, named, options, seed)


def _sample_all(
    battery: Battery,
    evaluation: Evaluation,
    options: SamplingOptions,
    seed: int,
    jobs: int,
) -> Iterator[tuple[str, Draws | str]]:
    """Sample subjects side by side, in the order they finish."""
    cores = max(1, min(options.chains, jobs // len(evaluation.subjects)))
    one = joblib.delayed(_sample_one)
    pool = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered")
    yield from pool(
        one(battery, subject, SubjectData.of(evaluation, subject), options, seed, cores)
        for subject in evaluation.subjects
    )


def _sample_one(
    battery: Battery,
    subject: str,
    data: SubjectData,
    options: SamplingOptions,
    seed: int,
    cores: int,
) -> tuple[str, Draws | str]:
    """Sample one subject; whatever stops it must not stop the others, so a reason is returned."""
    try:
        sampler = compile_sampler(battery)  # at hand, unless this is another process
        return subject, sample(sampler, data, options, subject_seed(seed, subject), cores)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic inside nutpie is no Exception
        return subject, f"{type(error).__name__}: {error}"


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
