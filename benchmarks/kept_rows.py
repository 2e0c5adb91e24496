"""What computes the rows of `kept.py` that no other file computes: figures, in their order."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import battery_cases
import import_time
import processes
from battery_cases import DATA

import measurement_layouts as ml

PUBLISHED = "MEASUREMENT_LAYOUTS_PUBLISHED"
PAPERS = ("animal-ai-olympics", "object-permanence", "propensities", "adele", "dispositions")


def reproduced(name: str, seed: int) -> list[float]:
    """Count the figures of a study that reach their goals."""
    command = [Path(sys.executable).parent / "measurement-layouts", "reproduce", name, "--json"]
    command += ["--data", os.environ[DATA], "--published", os.environ[PUBLISHED]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return [float(sum(figure["holds"] for figure in json.loads(done.stdout)["figures"]))]


def assessed(split: str, seed: int) -> list[float]:
    """Score forecasts of ADeLe's chosen layout: means over the models."""
    from measurement_layouts.scenarios import adele
    from measurement_layouts.scenarios.adele import reproduction as study

    whole, places = study.prepared(adele.load())
    layout, column = study.methods(split, places)[study.LAYOUT], study.SPLITS[split]
    held = ml.validation.Items(folds=10) if column is None else ml.validation.Groups(column, 10)
    scores = ml.validation.cross_validate(
        {"layout": layout}, whole, split=held, seed=seed, progressbar=False
    )
    return scores.scores[["auroc", "ece", "brier"]].mean().tolist()


def agents(seed: int) -> list[float]:
    """Fit 68 Animal-AI agents, beside rivals that sample four of them."""
    from rivals import evenly, nutpie_compiled_once, pm_sample, side_by_side

    study = battery_cases.animal_ai(seed)
    sampled = evenly(study.evaluation.subjects, 4)
    loop, once = (
        side_by_side(study, rival, sampled, seed=seed)
        for rival in (pm_sample, nutpie_compiled_once)
    )
    apart = max(both.answers.largest / both.answers.limit for both in (loop, once))
    return [loop.theirs / loop.ours, once.theirs / once.ours, apart]


def cold_start(seed: int) -> list[float]:
    """Start empty processes with empty caches."""
    import process_cases

    return [process_cases.cold_start(True, seed)[0].figure.obtained]


def object_permanence(seed: int) -> list[float]:
    """Fit three of the subjects of both cohorts, beside the plain model by nutpie."""
    from rivals import evenly, nutpie_compiled_once, side_by_side

    ratios = []
    for repeating in (False, True):
        study = battery_cases.object_permanence(repeating=repeating, seed=seed)
        subjects = evenly(study.evaluation.subjects, 3)
        both = side_by_side(study, nutpie_compiled_once, subjects, subjects, seed=seed)
        ratios.append(both.theirs / both.ours)
    return ratios


def gradients(seed: int) -> list[float]:
    """Time log-densities with their gradients."""
    import gradient_cases as cases

    both = cases.labelled_demands(False, seed) + cases.animal_ai_by_hand(False, seed)
    return [line.figure.obtained for line in both]


def store(seed: int) -> list[float]:
    """Fit a thousand subjects into a store."""
    few, many = (
        processes.run("fit_copies", count=count, rounds=rounds, seed=seed)
        for count, rounds in ((10, 5), (1000, 1))
    )
    return [many["seconds"], (many["growth"] - few["growth"]) / processes.MIB]


def forecasts(seed: int) -> list[float]:
    """Forecast the battery of eighteen demands."""
    import forecast_cases

    ours = forecast_cases.foreseen(battery_cases.demands(seed=seed), seed)
    return [ours["seconds"], ours["growth"] / forecast_cases.MIB]


def draws(name: str, seed: int) -> list[float]:
    """Sample a cohort jointly: GSM8K with all of its problems, the others as they are."""
    from population_data import COHORTS, word_problems
    from population_layouts import LAYOUTS
    from population_rows import FULL, effective_draws

    cohort = word_problems(1319) if name == "gsm8k" else COHORTS[name]()
    return effective_draws(LAYOUTS[name](), cohort.evaluation, FULL, seed)


def draws_of_scalars(seed: int) -> list[float]:
    """Sample Animal-AI jointly with three seeds, 4 x 3,000 draws each."""
    from population_data import COHORTS
    from population_layouts import LAYOUTS
    from population_rows import FULL, effective_draws

    cohort, length = COHORTS["animal-ai"](), FULL | {"draws": 3000}
    given = LAYOUTS["animal-ai"](), cohort.evaluation, length
    return [statistics.median(effective_draws(*given, seed + k, items=False)[0] for k in range(3))]


def imported(seed: int) -> list[float]:
    """Import and declare in fresh processes, beside `import pymc`."""
    tasks = (import_time.DECLARE, "import pymc")
    turns = [[import_time.seconds_of(code) for code in tasks] for _ in range(8)][1:]
    ours, pymc = (statistics.median(turn) for turn in zip(*turns, strict=True))
    print(f"`import pymc`: {pymc:.2f} s", file=sys.stderr)
    return [ours]


def calibration(seed: int) -> list[float]:
    """Check the papers' layouts and the three populations of the exam by simulation."""
    wrong = 0
    for name in (*PAPERS, "math-exam"):
        scenario = ml.scenarios.get(name)
        for layout, case in scenario.calibration().items():
            checked = ml.validation.sbc(
                *(case.layout, case.items),
                **{"subjects": case.subjects, "simulations": max(20, round(100 * case.share))},
                **{"alpha": 0.001, "method": scenario.method, "seed": seed, "progressbar": False},
            )
            print(f"{name}, {layout}: {checked.verdict()}", file=sys.stderr, flush=True)
            wrong += not (checked.calibrated or checked.uses_outcomes_twice)
    return [float(wrong)]
