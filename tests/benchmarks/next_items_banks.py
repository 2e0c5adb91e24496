"""Simulated banks: how many items a test needs to know as much as random choice does at n."""

import sys
from dataclasses import dataclass

import numpy as np
from banks import BANKS, Bank
from lines import Line, at_most, reported
from next_items_irt import calibrated
from next_items_reference import CHOOSING, DRAWS, RULER, Reference, needs, needs_of, randomly
from next_items_tests import Carried, asked

from measurement_layouts.layouts.elements import elements

SHARE = 0.4
SHARED = ("three", "permanence")
"""Simulated banks where the share of random choice's items has a goal."""
LONGEST = 80
"""Items that are asked of a subject by any way but at random."""
MARGIN, FEW = 1.3, 5
FOLLOWED = 10
"""Elements of a profile of which weighted draws of the prior can follow the posterior."""
NEVER = 1e6
"""Items where a level is not reached."""
CROWD = 300
"""Other simulated subjects on whose answers to all items the rival is calibrated."""


@dataclass(frozen=True)
class Curves:
    """Mean relative posterior sds of one bank, shape (subjects, answers + 1) each.

    Attributes
    ----------
    randomly, reference, ours, rival : ndarray
        By way to choose.
    apart : dict of str to ndarray
        By way, distances of posterior means from the truth; empty where there is no truth.
    crowd : int
        Subjects on whom the rival is calibrated.
    """

    randomly: np.ndarray
    reference: np.ndarray
    ours: np.ndarray
    rival: np.ndarray
    apart: dict[str, np.ndarray]
    crowd: int


def simulated(name: str, subjects: int, quick: bool, seed: int) -> list[Line]:
    """Ask simulated subjects; the rival is calibrated on others of their kind."""
    bank = BANKS[name]()
    answers = bank.answers(subjects + CROWD)
    truth = None if bank.rules else bank.profiles(subjects)[list(bank.judged)].to_numpy()
    return needed(
        bank,
        answers[:subjects],
        answers[subjects:],
        quick,
        seed,
        truth,
        found_only=name not in SHARED,
    )


def needed(
    bank: Bank,
    answers: np.ndarray,
    crowd: np.ndarray,
    quick: bool,
    seed: int,
    truth: np.ndarray | None = None,
    *,
    found_only: bool = False,
) -> list[Line]:
    """Ask all subjects by all ways; hold ours to the reference, to random choice and to a rival.

    Parameters
    ----------
    bank : Bank
        The items, and what is judged.
    answers, crowd : ndarray
        Subjects x items, of those who are asked, and of others for the rival.
    quick : bool
        Whether to take few draws and a tenth of the items.
    seed : int
        Of random choice and of the tests.
    truth : ndarray, optional
        Subjects x what is judged, where it is known.
    found_only : bool
        Whether the share of random choice's items has no goal.
    """
    draws = 500 if quick else DRAWS
    reached = [count // 10 for count in bank.reached] if quick else list(bank.reached)
    found = _curves(bank, answers, crowd, reached, draws, seed, truth)
    subjects = len(answers)
    lines = []
    for count in reached:
        ways = [found.ours, found.reference, found.rival]
        (ours, reference, rival), again = needs_of(found.randomly[:, count], ways, seed)
        error = float(np.nanstd(again[:, 0] - again[:, 1]))
        case = f"{bank.name}, as much as random-{count}"
        middle = [
            needs(np.median(way, axis=0), float(np.median(found.randomly[:, count])))
            for way in ways[:2]
        ]
        told = (
            f"{_said(ours, ways[0])} items, the reference {_said(reference, ways[1])} (difference "
            f"+- {error:.1f}), {subjects} subjects, mean relative sd "
            f"{found.randomly[:, count].mean():.3f}; by medians over subjects "
            f"{_said(middle[0], ways[0])} and {_said(middle[1], ways[1])}"
        )
        limit, share = reference + 2 * error, "share of random choice's"
        lines += [
            _most(case, "items beside greedy mutual information", ours, limit, ours=told),
            reported(case, share, or_never(ours / count), "")
            if found_only
            else _most(case, share, ours / count, SHARE),
            _most(case, "items beside two-parameter IRT", ours, rival, ours=_irt(rival, found)),
        ]
    for way, apart in found.apart.items():
        after = ", ".join(f"{apart[:, n].mean():.3f} after {n}" for n in _shown(apart))
        end = float(apart[:, -1].mean())
        lines.append(reported(f"{bank.name}, {way}", "distance from the truth", end, after))
    return lines


def _irt(rival: float, found: Curves) -> str:
    told = _said(rival, found.rival)
    return f"it needs {told}, calibrated on {found.crowd} others' answers to all items"


def _said(needed: float, curves: np.ndarray) -> str:
    return f"more than {curves.shape[1] - 1}" if np.isnan(needed) else f"{needed:.1f}"


def _shown(curve: np.ndarray) -> list[int]:
    return [count for count in (10, 20, 40, 80, 200) if count < curve.shape[1]]


def _most(case: str, what: str, found: float, most: float, **line: str) -> Line:
    """Hold a number of items that may not have been reached."""
    return at_most(case, what, or_never(found), or_never(most), "", **line)


def or_never(count: float) -> float:
    """Say a number of items that JSON can hold, also where a level was not reached."""
    return NEVER if np.isnan(count) else float(count)


def _curves(
    bank: Bank,
    answers: np.ndarray,
    crowd: np.ndarray,
    reached: list[int],
    draws: int,
    seed: int,
    truth: np.ndarray | None,
) -> Curves:
    """Choose by all ways, and judge all by one ruler."""
    many = len(elements(bank.layout)) > FOLLOWED
    ruler = Carried(bank, RULER + seed) if many else Reference(bank, RULER + seed, draws)
    random = randomly(answers, max(reached), seed)
    of_random = ruler.judged(answers, random)
    most = min(LONGEST, max(reached))
    informed = Reference(bank, CHOOSING + seed, draws).informed(answers, most)
    of_reference = ruler.judged(answers, informed)
    told = [needs(of_reference.mean(axis=0), of_random[:, count].mean()) for count in reached]
    print(f"{bank.name}: the reference needs {told} for {reached}", file=sys.stderr, flush=True)
    enough = most if np.isnan(told[-1]) else min(most, int(MARGIN * told[-1]) + FEW)
    ours = asked(bank.layout, bank.items, answers, enough, seed)
    rival = calibrated(crowd).informed(answers, most)
    ways = {"at random": random, "greedy": informed, "adaptive": ours}
    apart = {}
    if truth is not None and isinstance(ruler, Reference):
        apart = {way: ruler.distances(answers, places, truth) for way, places in ways.items()}
    of_rival = ruler.judged(answers, rival)
    return Curves(of_random, of_reference, ruler.judged(answers, ours), of_rival, apart, len(crowd))
