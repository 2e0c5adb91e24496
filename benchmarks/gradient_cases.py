"""Cases that time the compiled log-density with its gradient."""

import battery_cases as batteries
import log_density
import numpy as np
from hand_kernel import by_hand
from lines import Agreement, Line, at_most, in_words, times_faster, values_agree
from log_density import LogDensity


def labelled_demands(quick: bool, seed: int) -> list[Line]:
    """Eighteen demands of 16,108 items against the plain model."""
    study = batteries.demands(items=2_000 if quick else 16_108, seed=seed)
    who = study.layout, study.evaluation, study.evaluation.subjects[7]
    own, other = log_density.ours(*who), log_density.plain(*who)
    times = log_density.microseconds([own, other])
    ours, theirs = np.median(times, axis=0) * 1e-6
    return [
        times_faster(
            f"{len(study.evaluation.items):,} items x 18 demands, log-density and gradient",
            "the plain model, compiled by nutpie",
            ours=ours,
            theirs=theirs,
            least=8,
            answers=densities_agree(own, other),
            ratio=log_density.ratio(times),
        )
    ]


def animal_ai_by_hand(quick: bool, seed: int) -> list[Line]:
    """Time the published Animal-AI layout against a kernel written for it by hand."""
    study = batteries.animal_ai(seed)
    subject = study.evaluation.subjects[30]
    hand = by_hand(study.evaluation, subject)
    own = log_density.ours(study.layout, study.evaluation, subject)
    times = log_density.microseconds([hand, own])
    theirs, ours = np.median(times, axis=0) * 1e-6
    return [
        at_most(
            "Animal-AI, log-density and gradient",
            "a loop in Numba, written by hand",
            log_density.ratio(times),
            2,
            "times its time",
            ours=f"{in_words(ours)} beside {in_words(theirs)}",
            answers=densities_agree(own, hand),
        )
    ]


def densities_agree(ours: LogDensity, theirs: LogDensity) -> Agreement:
    """Hold values, up to a constant, and gradients against each other at some points."""
    pairs = []
    for density in (ours, theirs):
        values, gradients = zip(*map(density, log_density.points(density.size)), strict=True)
        pairs.append((np.subtract(values[1:], values[0]), np.array(gradients), max(np.abs(values))))
    (own_values, own_gradients, _), (values, gradients, size) = pairs
    steepest = np.abs(gradients).max()
    return values_agree(
        "log-densities and slopes",
        np.append(own_values / size, own_gradients / steepest),
        np.append(values / size, gradients / steepest),
    )
