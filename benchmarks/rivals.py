"""What users have without us: a loop of `pm.sample`, and nutpie on the plain model.

Each is called as a user would call it, with both chains at a time. Their answers, and ours, are
posterior means with Monte Carlo standard errors.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import nutpie
import pymc as pm
import xarray as xr
from arviz_stats.base import array_stats
from battery_cases import OPTIONS, Study
from lines import Agreement, means_agree

import measurement_layouts as ml

type Moments = dict[str, tuple[float, float]]
"""Posterior mean and its Monte Carlo standard error, by profile element."""


@dataclass
class Loop:
    """What a loop over subjects took, and found; by subject."""

    seconds: dict[str, float] = field(default_factory=dict)
    moments: dict[str, Moments] = field(default_factory=dict)

    @property
    def each(self) -> float:
        """Seconds per subject."""
        return float(np.mean(list(self.seconds.values())))


type Rival = Callable[[Study, Sequence[str], int], Loop]


def pm_sample(study: Study, subjects: Sequence[str], seed: int) -> Loop:
    """Build the plain model of each subject and sample it by `pm.sample` with its defaults."""
    loop = Loop()
    for subject in subjects:
        start = time.perf_counter()
        model = ml.to_pymc(study.layout, study.evaluation, subject)
        trace = pm.sample(model=model, **OPTIONS, cores=2, random_seed=seed, progressbar=False)
        loop.seconds[subject] = time.perf_counter() - start
        loop.moments[subject] = moments(study.layout, trace["posterior"])
    return loop


def nutpie_compiled_once(study: Study, subjects: Sequence[str], seed: int) -> Loop:
    """Compile the plain model by nutpie and swap the subjects in; only their sampling counts."""
    layout, evaluation, loop = study.layout, study.evaluation, Loop()
    compiled = nutpie.compile_pymc_model(ml.to_pymc(layout, evaluation, subjects[0]))
    for subject in subjects:
        model = ml.to_pymc(layout, evaluation, subject)
        data = {variable.name: variable.get_value() for variable in model.data_vars}
        start = time.perf_counter()
        swapped = compiled.with_data(**data)
        trace = nutpie.sample(swapped, **OPTIONS, cores=2, seed=seed, progress_bar=False)
        loop.seconds[subject] = time.perf_counter() - start
        loop.moments[subject] = moments(layout, trace["posterior"])
    return loop


def our_fit(
    study: Study, subjects: Sequence[str] | None = None, *, seed: int
) -> tuple[ml.Fit, float]:
    """Fit by `ml.fit`, nobody twice, since the rivals sample once; also the seconds that took."""
    start = time.perf_counter()
    fit = ml.fit(
        study.layout,
        study.evaluation,
        subjects=subjects,
        seed=seed,
        reruns=0,
        progressbar=False,
        **OPTIONS,
    )
    return fit, time.perf_counter() - start


@dataclass(frozen=True)
class SideBySide:
    """Ours beside a rival's.

    Attributes
    ----------
    ours, theirs : float
        Seconds per subject.
    answers : Agreement
        Of the posterior means of the subjects that both sampled.
    """

    ours: float
    theirs: float
    answers: Agreement


def side_by_side(
    study: Study,
    rival: Rival,
    sampled: Sequence[str],
    subjects: Sequence[str] | None = None,
    *,
    seed: int,
) -> SideBySide:
    """Sample by both, everything imported and compiled before.

    Parameters
    ----------
    study : Study
        Layout and outcomes.
    rival : callable
        Given the study and subjects.
    sampled : sequence of str
        Subjects that the rival samples.
    subjects : sequence of str, optional
        Subjects that we sample, those among them; everybody by default. We go before and after the
        rival, and the mean counts, so that a change of the machine's pace meets both.
    seed : int
        Of both.
    """
    our_fit(study, sampled[:1], seed=seed)
    rival(study, sampled[:1], seed)
    fit, before = our_fit(study, subjects, seed=seed)
    loop = rival(study, sampled, seed)
    _, after = our_fit(study, subjects, seed=seed)
    ours = {name: moments(study.layout, fit.posterior.sel(subject=name)) for name in sampled}
    each = (before + after) / 2 / len(fit.subjects)
    return SideBySide(each, loop.each, compared(ours, loop.moments))


def moments(layout: ml.Layout, posterior: xr.Dataset) -> Moments:
    """Summarise one subject's draws, of shape (chain, draw, labels)."""
    found = {}
    for latent in layout.latents:
        drawn = posterior[latent.name].to_numpy()
        for place, element in enumerate(np.moveaxis(drawn.reshape(*drawn.shape[:2], -1), 2, 0)):
            error = float(array_stats.mcse(np.ascontiguousarray(element)))
            found[f"{latent.name}[{place}]"] = (float(element.mean()), error)
    return found


def compared(
    ours: Mapping[str, Moments], theirs: Mapping[str, Mapping[str, Sequence[float]]]
) -> Agreement:
    """Hold posterior means against each other, for the subjects in `theirs`."""
    return means_agree(
        abs(mean - ours[subject][name][0]) / np.hypot(error, ours[subject][name][1])
        for subject, found in theirs.items()
        for name, (mean, error) in found.items()
    )


def evenly(subjects: Sequence[str], count: int) -> list[str]:
    """Choose some, evenly spread over the list."""
    places = np.linspace(0, len(subjects) - 1, min(count, len(subjects)))
    return [subjects[round(place)] for place in places]
