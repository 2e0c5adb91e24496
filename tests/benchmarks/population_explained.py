"""Share of the items' difficulty that demands explain: simulated truth, and Animal-AI as found."""

import numpy as np
import pandas as pd
from lines import Line, reported
from population_data import COHORTS
from population_layouts import LAYOUTS, normal
from population_rows import QUICK, SHORT

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios.figures import Figure

SHARES = (0.2, 0.5, 0.8)
SUBJECTS, ITEMS, STUDIES = 60, 40, 30
TRUE_WEIGHTS = (1.0, 0.6)
PROB = 0.9


def two_demands() -> ml.Layout:
    """One ability against two demands, with weights of all, and an ease of each item."""
    ability = ml.Capability(
        "ability", prior=normal(ml.Bias("mean", per="population"), ml.Spread("spread"))
    )
    effort = sum(
        ml.Bias(f"{name}Weight", per="population") * ml.MetaFeature(name, low=-2, high=2)
        for name in ("length", "depth")
    )
    spread = ml.Spread("easeSpread")
    ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=spread))
    return ml.Layout("two demands", ml.Success("solved", logistic(ability - effort + ease)))


def simulated(
    share: float, seed: int, subjects: int = SUBJECTS, items: int = ITEMS
) -> tuple[ml.Evaluation, dict[str, float]]:
    """Draw a study in which demands explain a share of a variance of 1; its two true shares.

    The demands' part has the variance `share`; that of new items' own parts is the rest, so that
    their true share is `share`. These items' own parts have the variance that they happen to have.
    """
    rng = np.random.default_rng([seed, round(100 * share)])
    table = rng.uniform(-1, 1, (items, 2))
    part = table @ np.array(TRUE_WEIGHTS)
    scale = np.sqrt(share) / part.std()
    own = rng.normal(0, np.sqrt(1 - share), items)
    logits = rng.normal(0.3, 1, (subjects, 1)) - scale * (part - part.mean()) + own - own.mean()
    solved = (rng.random((subjects, items)) < 1 / (1 + np.exp(-logits))).astype(int)
    names = [f"i{place}" for place in range(items)]
    demands = pd.DataFrame(table, names, ["length", "depth"])
    outcomes = pd.DataFrame(solved, [f"s{place}" for place in range(subjects)], names)
    truth = {"these items": share / (share + own.var()), "new items": share}
    return ml.Evaluation.from_wide(outcomes, demands), truth


def covered(share: float, studies: int, length: dict[str, int], seed: int) -> pd.DataFrame:
    """Say for each study whether its intervals hold the true shares, and the shares found."""
    rows = []
    for study in range(studies):
        evaluation, truth = simulated(share, 1000 * seed + study)
        fit = ml.fit(two_demands(), evaluation, seed=study, progressbar=False, **length)
        table = ml.validation.explained(fit, prob=PROB).table
        inside = {
            name: table["low"][name] <= value <= table["high"][name]
            for name, value in truth.items()
        }
        found = table["share"].add_prefix("found, ").to_dict()
        rows.append(inside | found)
    return pd.DataFrame(rows)


def simulated_shares(quick: bool, seed: int) -> list[Line]:
    """Cover the true shares of simulated studies."""
    studies = 3 if quick else STUDIES
    length = QUICK if quick else {"draws": 300, "tune": 300, "chains": 2}
    found = {share: covered(share, studies, length, seed) for share in SHARES}
    lines = []
    for name in ("these items", "new items"):
        every = pd.concat(found.values())[name]
        error = np.sqrt(PROB * (1 - PROB) / len(every))
        means = ", ".join(
            f"{table[f'found, {name}'].mean():.2f} of {share:g}" for share, table in found.items()
        )
        case = f"share explained by demands, {name}"
        figure = Figure(
            f"{case}: distance of coverage from {PROB:.2f}",
            abs(float(every.mean()) - PROB),
            "<=",
            3 * float(error),
            f"{PROB:.2f} +- 3 standard errors of {len(every)} studies",
        )
        lines.append(Line(case, "simulated truth", figure, f"({every.mean():.2f} covered)", means))
    return lines


def of_cohort(name: str, quick: bool, seed: int) -> list[Line]:
    """Say the shares of a cohort, as found."""
    cohort = COHORTS[name]()
    length = QUICK if quick else SHORT
    fit = ml.fit(LAYOUTS[name](), cohort.evaluation, seed=seed, progressbar=False, **length)
    table = ml.validation.explained(fit, prob=PROB).table
    case = f"{cohort.name}: share explained by demands"
    return [
        reported(
            case,
            kind,
            row["share"],
            f"{row['low']:.2f} to {row['high']:.2f}; demands' sd {row['demands_sd']:.2f}, own "
            f"{row['own_sd']:.2f} log-odds",
        )
        for kind, row in table.to_dict("index").items()
    ]


def animal_ai(quick: bool, seed: int) -> list[Line]:
    """Say how much of the tasks' difficulty the declared demands explain."""
    return of_cohort("animal-ai", quick, seed)


ROWS = {"explained-simulated": simulated_shares, "explained-animal-ai": animal_ai}
"""By case."""
