"""Fit a layout to each subject on its own."""

import os
import secrets
from collections.abc import Iterator, Sequence

import joblib

from ..layouts import Layout
from .compiler import Sampler, SubjectData, compile_sampler, training_features
from .data import Evaluation
from .errors import FitError
from .features import Features
from .progress import track
from .results import Fit, assemble
from .sampling import Draws, SamplingOptions, sample, subject_seed


def fit(
    layout: Layout,
    evaluation: Evaluation,
    *,
    subjects: Sequence[object] | None = None,
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
    subjects : sequence, optional
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
        Subjects at a time; as many as processors by default.
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
    seed = secrets.randbits(31) if seed is None else _whole(seed)
    chosen = evaluation if subjects is None else evaluation.select(subjects=subjects)
    features = training_features(layout, chosen)
    sampler = compile_sampler(layout)
    outcomes = _sample_all(sampler, features, chosen, options, seed, _jobs(n_jobs))
    found: dict[str, Draws] = {}
    failures: dict[str, str] = {}
    for subject, result in track(outcomes, total=len(chosen.subjects), show=progressbar):
        if isinstance(result, Draws):
            found[subject] = result
        else:
            failures[subject] = result
    if not found:
        raise FitError(
            f"sampling failed for all {len(failures)} subject(s); first reason: "
            f"{next(iter(failures.values()))}. Check that the layout's start has a finite "
            "probability: ranges, priors and custom linking functions"
        )
    return assemble(layout, chosen, features, found, failures, options, seed)


def _sample_all(
    sampler: Sampler,
    features: Features,
    evaluation: Evaluation,
    options: SamplingOptions,
    seed: int,
    jobs: int,
) -> Iterator[tuple[str, Draws | str]]:
    """Sample subjects on threads, in the order they finish."""
    cores = max(1, min(options.chains, jobs // len(evaluation.subjects)))

    def one(subject: str) -> tuple[str, Draws | str]:
        data = SubjectData.of(evaluation, subject)
        try:
            own_seed = subject_seed(seed, subject)
            return subject, sample(sampler, features, data, options, own_seed, cores)
        except Exception as error:  # whatever stopped one subject must not stop the others
            return subject, f"{type(error).__name__}: {error}"

    pool = joblib.Parallel(n_jobs=jobs, backend="threading", return_as="generator_unordered")
    yield from pool(joblib.delayed(one)(subject) for subject in evaluation.subjects)


def _jobs(n_jobs: int | None) -> int:
    if n_jobs is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if n_jobs < 1:
        raise FitError(f"n_jobs={n_jobs}; give at least 1, or leave it out for all processors")
    return n_jobs


def _whole(seed: int) -> int:
    try:
        whole = int(seed)
    except (TypeError, ValueError):
        whole = -1
    if whole < 0 or whole != seed:
        raise FitError(f"seed={seed!r}; give a whole number of at least 0")
    return whole
