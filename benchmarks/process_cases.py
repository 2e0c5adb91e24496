"""Cases measured in processes of their own: cold starts, and the growth of time and memory."""

import itertools
import statistics
import tempfile

import battery_cases as batteries
import numpy as np
import processes
from lines import Line, at_most, in_words, times_faster, values_agree
from processes import MIB
from rivals import compared, evenly

FLAT = 32.0  # MiB; the draws of a thousand subjects are 122 MiB


def cold_start(quick: bool, seed: int) -> list[Line]:
    """Sixty-eight Animal-AI agents from an empty process: imports and compilation included.

    Of the rival, three agents are sampled in one process, and the mean of the later two stands
    for those left out. Both have caches of their own, empty at first and filled then.
    """
    everybody = batteries.animal_ai(seed).evaluation.subjects
    watched = evenly(everybody, 3)
    lines = []
    with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as other:
        for caches in ("empty", "filled"):
            environment = processes.caches(own)
            ours = processes.run(
                "fit_everybody", environment=environment, watched=watched, seed=seed
            )
            environment = processes.caches(other)
            theirs = processes.run(
                "loop_over", environment=environment, subjects=watched, seed=seed
            )
            _, *later = theirs["seconds"]
            left_out = (len(everybody) - len(watched)) * statistics.mean(later)
            case = f"{len(everybody)} Animal-AI agents from an empty process, caches {caches}"
            lines += [
                times_faster(
                    case,
                    "a loop of `pm.sample`, from an empty process",
                    ours=ours["wall"],
                    theirs=theirs["wall"] + left_out,
                    least=6,
                    answers=compared(ours["moments"], theirs["moments"]),
                ),
                at_most(case, "seconds of the process", ours["wall"], 20, "s"),
            ]
            if quick:
                break
    return lines


def growth(quick: bool, seed: int) -> list[Line]:
    """Ten, a hundred and a thousand subjects into a store: time per subject, and memory."""
    counts = (10, 30) if quick else (10, 100, 1000)
    found = {
        count: processes.run("fit_copies", count=count, rounds=5 if count == 10 else 1, seed=seed)
        for count in counts
    }
    each = {count: found[count]["seconds"] / count for count in counts}
    lines = []
    for fewer, more in itertools.pairwise(counts):
        lines.append(
            at_most(
                f"{more:,} subjects into a store",
                f"seconds per subject, over those at {fewer:,}",
                each[more] / each[fewer],
                1.15,
                "times",
                ours=f"{in_words(each[more])} each",
                answers=values_agree(
                    "posterior means",
                    np.array(found[more]["means"]),
                    np.array(found[fewer]["means"]),
                ),
            )
        )
    least, most = counts[0], counts[-1]
    grown = {count: found[count]["growth"] / MIB for count in counts}
    lines.append(
        at_most(
            f"{most:,} subjects into a store",
            f"growth of memory, beyond that at {least:,}",
            grown[most] - grown[least],
            FLAT,
            "MiB",
            ours=f"{grown[most]:.0f} MiB",
        )
    )
    return lines
