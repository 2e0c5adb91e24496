"""Adaptive tests: items that they need, coverage at their stop, and the time of an answer."""

import sys
import time

import numpy as np
import pandas as pd
from adaptive_reference import Reference, needs, randomly
from banks import BANKS, Bank, drawn

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics as aaio

LONGEST = 55
"""Items that are asked of a subject; random choice's 200 were reached by 41."""
RULER = 12
"""Seed of the draws that judge."""
COVERED, LIMIT = 0.9, 40
STOP_AT = 0.5
"""Part of the prior's sd of what is judged, at which a test stops."""
TIMED, WARM = 40, 3


def items_needed(seed: int, subjects: int = 300) -> list[float]:
    """Count items for what random choice gives at 40, 80 and 200 items of three capabilities."""
    bank = BANKS["three"]()
    answers = bank.answers(subjects)
    chosen = np.empty((subjects, LONGEST), dtype=int)
    for place, own in enumerate(answers):
        test = ml.AdaptiveTest(bank.layout, bank.items, seed=seed + place)
        for step in range(LONGEST):
            chosen[place, step] = _answered(test, bank, own)
        print(f"items: subject {place + 1} of {subjects}", file=sys.stderr, flush=True)
    ruler = Reference(bank, RULER + seed)
    random = ruler.judged(answers, randomly(answers, max(bank.reached), seed)).mean(axis=0)
    ours = ruler.judged(answers, chosen).mean(axis=0)
    return [needs(ours, random[count]) for count in bank.reached]


def coverage(seed: int, subjects: int = 300) -> list[float]:
    """Stop tests: share of 90 % intervals that hold the truth, for three banks.

    Three capabilities, bands and Animal-AI; subjects are drawn from the prior.
    """
    tasks = Bank(
        *("Animal-AI tasks", aaio.recommended_layout(), aaio.battery(seed=1)),
        *(("navigationAbility",), (), 2331),
    )
    return [_covered(bank, seed, subjects) for bank in (BANKS["three"](), BANKS["bands"](), tasks)]


def milliseconds_of_an_answer(seed: int) -> list[float]:
    """Time `next` and `record` on 2,000 items with nine latents: median, of the processor."""
    bank, seconds = BANKS["nine"](), []
    answers = bank.answers(1)[0]
    test = ml.AdaptiveTest(bank.layout, bank.items, seed=seed)
    for _ in range(WARM + TIMED):
        start = time.process_time()
        _answered(test, bank, answers)
        seconds.append(time.process_time() - start)
    return [1000 * float(np.median(seconds[WARM:]))]


def _answered(test: ml.AdaptiveTest, bank: Bank, answers: np.ndarray) -> int:
    """Answer the next item; its place in the bank."""
    (item,) = test.next()
    place = int(bank.items.index.get_loc(item))
    test.record(item, int(answers[place]))
    return place


def _covered(bank: Bank, seed: int, subjects: int) -> float:
    """Stop when what is judged is known to half the prior's sd, or at a limit of items."""
    scale = drawn(bank.layout, 1000, bank.seed)[list(bank.judged)].std()
    stop = ml.batteries.Stop(sd=(STOP_AT * scale).to_dict(), items=LIMIT)
    truth, answers, held = bank.profiles(subjects), bank.answers(subjects), []
    for place in range(subjects):
        test = ml.AdaptiveTest(bank.layout, bank.items, seed=seed + place, stop=stop)
        while not test.done:
            _answered(test, bank, answers[place])
        own = _by_element(test.profile(prob=COVERED)).loc[truth.columns]
        known = truth.iloc[place]
        held.append(((own["low"] <= known) & (known <= own["high"])).mean())
        print(f"coverage, {bank.name}: {np.mean(held):.3f} of {place + 1}", file=sys.stderr)
    return float(np.mean(held))


def _by_element(profiles: pd.DataFrame) -> pd.DataFrame:
    """Index a profile by its elements."""
    labels = profiles["label"].map(lambda label: f"[{label}]" if label else "")
    return profiles.set_index(profiles["node"] + labels)
