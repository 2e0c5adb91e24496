"""Posteriors of adaptive tests: beside fresh fits, at the stop, their modes, and their time."""

import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from banks import BANKS, Bank, drawn
from lines import Line, at_least, at_most, failed, reported
from next_items_reference import randomly
from next_items_replayed import risk_aversion, spread_evenly
from next_items_tests import table

import measurement_layouts as ml
from measurement_layouts.inference.sequential.running import Running
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from measurement_layouts.scenarios import propensities

AFTER = (10, 50, 200)
RMS, APART = 0.1, 0.1
WEIGHTED = 200_000
"""Draws of the prior that stand for exact posteriors."""
FIT = {"draws": 1000, "tune": 1000, "chains": 4}
SHORT = {"draws": 100, "tune": 150, "chains": 2}
COVERED, LIMIT, ERRORS = 0.9, 40, 3
STOP_AT = 0.5
"""Part of the prior's sd of a test's first element, at which it stops."""
TIMES = {"nine": 0.050, "large": 0.300}
TIMED, WARM = 40, 3
PROPENSITIES = np.linspace(-7, 7, 281)
NOISES = (np.arange(40) + 0.5) / 40
WHOLE, LOW = 0.95, 0.01
HELD_FROM, HELD = 20, 0.95


def beside_fits(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Carry posteriors on by adaptive tests, and fit the same answers afresh."""
    bank, rows = BANKS["three"](), []
    answers = bank.answers(subjects)
    after = AFTER[:1] if quick else AFTER
    for place in range(subjects):
        test = ml.AdaptiveTest(bank.layout, bank.items, subject="one", seed=seed + place)
        for count in range(1, max(after) + 1):
            (item,) = test.next()
            test.record(item, int(answers[place, bank.items.index.get_loc(item)]))
            if count in after:
                own, known = table(test.profile()), test.evaluation()
                fit = ml.fit(
                    bank.layout, known, seed=seed, progressbar=False, **(SHORT if quick else FIT)
                )
                fresh = table(fit.profiles())
                apart = (own["mean"] - fresh["mean"]) / fresh["sd"]
                ratio = own["sd"] / fresh["sd"]
                rows.append(pd.DataFrame({"after": count, "apart": apart, "ratio": ratio}))
        print(f"beside fits: subject {place + 1} of {subjects}", file=sys.stderr, flush=True)
    found, lines = pd.concat(rows), []
    for count, part in found.groupby("after"):
        rms = float(np.sqrt((part["apart"] ** 2).mean()))
        most = float((part["ratio"] - 1).abs().max())
        told = f"largest {part['apart'].abs().max():.3f}, {subjects} subjects"
        sds = f"mean ratio {part['ratio'].mean():.3f}, {len(part)} elements"
        case = f"posterior after {count} answers, beside a fit"
        lines += [
            at_most(case, "RMS difference of means, in sds", rms, RMS, "", ours=told),
            at_most(case, "largest relative difference of sds", most, APART, "", ours=sds),
        ]
    return lines


def beside_exact(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Hold tests, and fits of the same answers, to exact posteriors after the first answers.

    The exact ones are draws of the prior, weighted by the answers' likelihood; after ten answers
    thousands of them are effective. So it is seen which of a test and its fit is off.
    """
    bank, count, rows = BANKS["three"](), AFTER[0], []
    answers = bank.answers(subjects)
    profiles = drawn(bank.layout, 2_000 if quick else WEIGHTED, seed)
    for place in range(subjects):
        test = ml.AdaptiveTest(bank.layout, bank.items, subject="one", seed=seed + place)
        for _ in range(count):
            (item,) = test.next()
            test.record(item, int(answers[place, bank.items.index.get_loc(item)]))
        known = test.evaluation()
        fit = ml.fit(bank.layout, known, seed=seed, progressbar=False, **(SHORT if quick else FIT))
        tried = known.item_table.index[:count]
        chances = Bank("asked", bank.layout, bank.items.loc[tried], (), (), 0).chances(profiles)
        right = known.successes.loc["one", tried].to_numpy().astype(bool)
        logs = np.log(np.where(right, chances, 1 - chances).clip(1e-12)).sum(axis=1)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        mean = weights @ profiles
        sd = np.sqrt(weights @ (profiles - mean) ** 2)
        for way, own in (("test", table(test.profile())), ("fit", table(fit.profiles()))):
            found = {"apart": (own["mean"] - mean) / sd, "ratio": own["sd"] / sd}
            rows.append(pd.DataFrame(found | {"way": way}))
        print(f"beside exact: subject {place + 1} of {subjects}", file=sys.stderr, flush=True)
    lines = []
    for way, part in pd.concat(rows).groupby("way", sort=False):
        off, apart = part["ratio"] - 1, float(np.sqrt((part["apart"] ** 2).mean()))
        far = (off.abs() > APART).mean()
        told = (
            f"mean {off.mean():+.4f}, largest {off.abs().max():.3f}, {far:.3f} of {len(off)} above "
            f"{APART}, {subjects} subjects; means RMS {apart:.3f} sds"
        )
        case = f"posterior after {count} answers, {way} beside exact values"
        rms = float(np.sqrt((off**2).mean()))
        lines.append(reported(case, "RMS relative difference of sds", rms, told))
    return lines


def coverage(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Stop tests of subjects drawn from the prior, and look whether intervals hold the truth."""
    lines = []
    for bank in _of_coverage():
        stop = _stop(bank, LIMIT // 10 if quick else LIMIT)
        truth, answers = bank.profiles(subjects), bank.answers(subjects)
        hits, lengths = [], []
        for place in range(subjects):
            test = ml.AdaptiveTest(bank.layout, bank.items, seed=seed + place, stop=stop)
            while not test.done:
                (item,) = test.next()
                test.record(item, int(answers[place, bank.items.index.get_loc(item)]))
            found = table(test.profile(prob=COVERED)).loc[truth.columns]
            own = truth.iloc[place]
            hits.append(((found["low"] <= own) & (own <= found["high"])).to_numpy())
            lengths.append(len(test.history))
            each = np.mean(hits, axis=1)
            so_far = f"{each.mean():.3f}, sd {each.std():.3f}, of {place + 1} tests"
            print(f"coverage, {bank.name}: {so_far}", file=sys.stderr, flush=True)
        error = float(each.std(ddof=1) / np.sqrt(subjects))
        rates = ", ".join(
            f"{name} {rate:.2f}"
            for name, rate in zip(truth.columns, np.mean(hits, axis=0), strict=True)
        )
        told = f"{each.mean():.3f} +- {error:.3f}; {subjects} tests of {np.mean(lengths):.1f} items"
        lines.append(
            at_most(
                f"coverage of 90 % intervals at the stop, {bank.name}",
                "distance from .90",
                float(abs(each.mean() - COVERED)),
                ERRORS * error,
                "",
                ours=f"{told}; {rates}",
            )
        )
    return lines


def _of_coverage() -> list[Bank]:
    items = aaio.battery(seed=1)
    layout = aaio.recommended_layout()
    tasks = Bank("Animal-AI tasks", layout, items, ("navigationAbility",), (), seed=2331)
    return [BANKS["three"](), BANKS["bands"](), tasks]


def _stop(bank: Bank, items: int) -> ml.batteries.Stop:
    """Stop when what is judged is known to half the prior's sd, or at a limit of items."""
    scale = drawn(bank.layout, 1000, bank.seed)[list(bank.judged)].std()
    return ml.batteries.Stop(sd=(STOP_AT * scale).to_dict(), items=items)


def times(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Time `next` and `record` together, answer by answer, on two banks of nine latents."""
    lines = []
    for name, most in TIMES.items():
        bank = BANKS[name]()
        answers = bank.answers(1)[0]
        test, seconds = ml.AdaptiveTest(bank.layout, bank.items, seed=seed), []
        for _ in range(WARM + (2 if quick else TIMED)):
            start, used = time.perf_counter(), time.process_time()
            (item,) = test.next()
            test.record(item, int(answers[bank.items.index.get_loc(item)]))
            seconds.append((time.perf_counter() - start, time.process_time() - used))
        wall, cpu = np.array(seconds[WARM:]).T
        told = (
            f"longest {wall.max():.3f} s, median of the process's own time {np.median(cpu):.3f} s"
        )
        lines.append(
            at_most(
                f"next + record, {bank.name}",
                "seconds",
                float(np.median(wall)),
                most,
                "s",
                ours=told,
            )
        )
    return lines


def modes(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Replay risk aversion: is the mode that the whole battery names held by the particles?

    The posterior of all answers is computed on a grid. Where it has a mode of .95 of the mass (all
    that stands above a hundredth of the peak, without a gap), particles that take the answers in an
    adaptive test's order must give it at least half of its exact mass at every number of answers.
    """
    cohort, layout = risk_aversion(), propensities.recommended_layout()
    bank = Bank(cohort.name, layout, cohort.evaluation.items, ("propensity",), (), seed)
    places, noises = (part.ravel() for part in np.meshgrid(PROPENSITIES, NOISES, indexing="ij"))
    grid = pd.DataFrame({"propensity": places, "noise": noises})
    chances = bank.chances(grid).clip(1e-12, 1 - 1e-12)
    prior = -(places**2) / 8 + 8 * np.log1p(-noises)
    most, held, exactly, at_random = (25 if quick else 80), [], 0, 0
    who = spread_evenly(cohort, subjects)
    for place, one in enumerate(who):
        outcomes = cohort.evaluation.successes.loc[one].to_numpy()
        gained = np.where(outcomes, np.log(chances), np.log1p(-chances)).T
        mode = _mode(_marginal(prior + gained.sum(axis=0)))
        if mode is None:
            continue
        test = ml.AdaptiveTest(layout, bank.items, seed=seed + place)
        running = Running.of(layout, bank.items, seed=seed + place + 1)
        order, parts = [], []
        for _ in range(most):
            order.append(int(bank.items.index.get_loc(test.next()[0])))
            test.record(bank.items.index[order[-1]], int(outcomes[order[-1]]))
            running.record([order[-1]], [int(outcomes[order[-1]])], [1])
            inside = (running.values[:, 0] >= mode[0]) & (running.values[:, 0] <= mode[1])
            parts.append(float(running.weights[inside].sum()))
        exact = _masses(prior, gained[order], mode)
        anyhow = randomly(outcomes[None], most, seed + place)[0]
        held.append(bool((np.array(parts[HELD_FROM - 1 :]) >= exact / 2).all()))
        exactly += exact.min() >= 0.5
        at_random += _masses(prior, gained[anyhow], mode).min() >= 0.5
        print(f"modes: subject {place + 1}", file=sys.stderr, flush=True)
    case = "risk aversion, the mode of the whole battery"
    told = (
        f"{len(held)} of {len(who)} subjects have such a mode; the exact posterior gives it half "
        f"throughout for {exactly}, in random order for {at_random}"
    )
    share = "share of subjects whose particles hold it"
    if not held:
        return [failed(case)]
    return [at_least(case, share, float(np.mean(held)), HELD, "", ours=told)]


def _masses(prior: np.ndarray, gained: np.ndarray, mode: tuple[float, float]) -> np.ndarray:
    """Say what exact posteriors give a mode, from the 20th answer on."""
    own = (mode[0] <= PROPENSITIES) & (mode[1] >= PROPENSITIES)
    logs = prior + np.cumsum(gained, axis=0)[HELD_FROM - 1 :]
    return np.array([_marginal(log)[own].sum() for log in logs])


def _marginal(logs: np.ndarray) -> np.ndarray:
    weights = np.exp(logs - np.max(logs)).reshape(len(PROPENSITIES), len(NOISES))
    return np.asarray(weights.sum(axis=1) / weights.sum())


def _mode(density: np.ndarray) -> tuple[float, float] | None:
    """Find the ends of the mode about the peak, where it has enough of the mass."""
    peak = int(density.argmax())
    low = np.flatnonzero(density[: peak + 1] < LOW * density[peak])
    high = np.flatnonzero(density[peak:] < LOW * density[peak])
    start = int(low[-1]) + 1 if len(low) else 0
    end = peak + int(high[0]) if len(high) else len(density)
    if density[start:end].sum() < WHOLE:
        return None
    return float(PROPENSITIES[start]), float(PROPENSITIES[end - 1])


CASES: Mapping[str, Callable[[int, bool, int], list[Line]]] = {
    "posterior": beside_fits,
    "posterior-exact": beside_exact,
    "coverage": coverage,
    "times": times,
    "modes": modes,
}
