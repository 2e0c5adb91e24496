"""Known models as layouts: values, effective draws and seconds beside those of a reference.

    python benchmarks/known_models.py [--json] [--model NAME ...] [--seed 1]

Each model is written as a layout and, by hand, in PyMC. Outcomes of 200 subjects on 24 items (3PL:
1,000 on 40) are drawn from the hand-written model with true values of what is shared. The layout is
fitted by the default call; the reference is the hand-written model sampled by nutpie, of
inference_gym's 1PL the published means, and of InstEval the estimates of lme4. `error` is the
largest difference of a mean of a shared value (all but those of subjects), in Monte Carlo errors;
of InstEval, in posterior standard deviations. `draws` are the least effective ones of shared
values. Seconds are of the clock, with compilation; `ratio` compares the effective draws per second
of both calls, and `sampled` those of our call with those of nutpie without its compilation.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import nutpie
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
from bigger_machine import errors, moments
from ratings import LME4, ratings
from ratings import layout as of_ratings

import measurement_layouts as ml
from measurement_layouts.linking import guessing, logistic

DATA = Path(os.environ.get("MEASUREMENT_LAYOUTS_DATA", "../shared/data"))
RASCH = {"mean": 0.5, "spread": 1.0, "easeSpread": 1.0}
type Row = dict[str, Any]


class Model(NamedTuple):
    """A known model.

    Attributes
    ----------
    outcome : callable
        The layout's outcome, or its log-odds.
    by_hand : callable
        The outcome's log-odds in PyMC, and thresholds of grades, given subjects and items.
    truth : mapping
        True values of the shared parameters.
    subjects, items, trials : int
        Numbers of subjects, items and attempts at each item.
    """

    outcome: Callable[[], Any]
    by_hand: Callable[[pd.DataFrame, pd.DataFrame], Any]
    truth: Mapping[str, float]
    subjects: int = 200
    items: int = 24
    trials: int = 1


def normal(mean: Any, sd: Any) -> ml.Prior:
    """Return a normal prior."""
    return ml.Prior("Normal", mu=mean, sigma=sd)


def spread(name: str) -> ml.Spread:
    """Return a spread with the prior HalfNormal(1)."""
    return ml.Spread(name, prior=ml.Prior("HalfNormal", sigma=1))


def weight(name: str) -> ml.Effect:
    """Return a value of the population, with the prior Normal(0, 2)."""
    return ml.Effect(name, prior=normal(0, 2))


def ability(mean: Any = 0) -> ml.Capability:
    """Return an ability with an inferred spread about a mean."""
    return ml.Capability("ability", prior=normal(mean, spread("spread")))


def standard() -> ml.Capability:
    """Return an ability that is standard normal."""
    return ml.Capability("ability", prior=normal(0, 1))


def ease(mean: Any = 0, sd: Any = 2) -> ml.Effect:
    """Return an ease of each item."""
    return ml.Effect("ease", per="item", prior=normal(mean, sd))


def slope(mean: Any = 0, sd: Any = 0.5) -> ml.Slope:
    """Return a slope of each item."""
    return ml.Slope("slope", per="item", prior=ml.Prior("LogNormal", mu=mean, sigma=sd))


def of(name: str, per: str) -> ml.MetaFeature:
    """Return a property of subjects or of items."""
    return ml.MetaFeature(name, low=-5, high=5, per=per)


def hand(name: str, mean: Any, sd: Any, shape: Any = None) -> Any:
    """Add a normal variable to the PyMC model, as a deviation where its scale is unknown."""
    if shape is None or isinstance(sd, int | float):
        return pm.Normal(name, mean, sd, shape=shape)
    return pm.Deterministic(name, mean + sd * pm.Normal(f"{name}_", 0, 1, shape=shape))


def persons(subjects: pd.DataFrame, mean: Any = 0, sd: Any = None) -> Any:
    """Add abilities to the PyMC model; a column."""
    sd = pm.HalfNormal("spread", 1) if sd is None else sd
    return hand("ability", mean, sd, len(subjects))[:, None]


def eases(items: pd.DataFrame, mean: Any = 0, sd: Any = 2) -> Any:
    """Add eases to the PyMC model."""
    sd = pm.HalfNormal("easeSpread", 1) if sd is None else sd
    return hand("ease", mean, sd, len(items))


def zero_sum() -> Any:
    """Return Rasch with eases that sum to zero."""
    by_item = ml.Prior("ZeroSumNormal", sigma=spread("easeSpread"))
    return ability(weight("mean")) + ml.Effect("ease", per="item", prior=by_item)


def zero_sum_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write the same in PyMC."""
    by_item = pm.ZeroSumNormal("ease", pm.HalfNormal("easeSpread", 1), shape=len(items))
    return persons(subjects, pm.Normal("mean", 0, 2)) + by_item


def slopes_by_hand(items: pd.DataFrame, mean: Any = 0, sd: Any = 0.5) -> Any:
    """Add slopes to the PyMC model."""
    return pm.Deterministic("slope", pt.exp(hand("log", mean, sd, len(items))))


def inferred_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write a 2PL with an inferred spread of slopes in PyMC."""
    slopes = slopes_by_hand(items, pm.Normal("meanLogSlope", 0, 2), pm.HalfNormal("slopeSpread", 1))
    return slopes * persons(subjects, sd=1) + eases(items)


def three() -> ml.Success:
    """Return a 3PL, with a chance of guessing of each item."""
    chance = ml.Effect("chance", per="item", prior=ml.Prior("Beta", alpha=5, beta=17))
    able = logistic(slope(sd=0.3) * standard() + ease())
    return ml.Success("solved", guessing(able, chance))


def three_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write the same in PyMC; the log-odds of the mixture."""
    slopes, chance = slopes_by_hand(items, sd=0.3), pm.Beta("chance", 5, 17, shape=len(items))
    solved = pm.math.sigmoid(slopes * persons(subjects, sd=1) + eases(items))
    return pm.math.logit(chance + (1 - chance) * solved)


def graded() -> ml.Graded:
    """Return a graded response model."""
    prior = ml.Prior("LogNormal", mu=0, sigma=0.4)
    gap = ml.Slope("gap", labels=("1-2", "2-3"), per="item", prior=prior)
    chance = logistic(slope() * standard() + ease())
    return ml.Graded("solved", chance, grades=tuple("0123"), gap=gap)


def graded_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> tuple[Any, Any]:
    """Write the same in PyMC; the log-odds and the thresholds, whose mean is 0."""
    gap = pm.LogNormal("gap", 0, 0.4, shape=(len(items), 2))
    steps = pt.concatenate([pt.zeros((len(items), 1)), pt.cumsum(gap, axis=1)], axis=1)
    odds = slopes_by_hand(items) * persons(subjects, sd=1) + eases(items)
    return odds, steps - steps.mean(axis=1, keepdims=True)


def testlets() -> Any:
    """Return a testlet model."""
    per = ("subject", ml.Category("testlet"))
    return ability() + ml.Effect("interest", per=per, prior=normal(0, spread("apart"))) + ease()


def testlets_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write the same in PyMC."""
    codes, names = pd.factorize(items["testlet"])
    interest = hand("interest", 0, pm.HalfNormal("apart", 1), (len(subjects), len(names)))
    return persons(subjects) + interest[:, codes] + eases(items)


def random_slopes() -> Any:
    """Return an effect of a demand that differs between subjects."""
    prior = normal(weight("weight"), spread("weightSpread"))
    own = ml.Effect("ownWeight", per="subject", prior=prior)
    return ability() + own * of("demand", "item") + ease()


def random_slopes_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write the same in PyMC."""
    about = pm.Normal("weight", 0, 2), pm.HalfNormal("weightSpread", 1)
    own = hand("ownWeight", *about, len(subjects))
    return persons(subjects) + own[:, None] * items["demand"].to_numpy() + eases(items)


def schools() -> Any:
    """Return abilities in schools."""
    school = ml.Category("school", per="subject")
    return ability(ml.Effect("effect", per=school, prior=normal(0, spread("apart")))) + ease()


def schools_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write the same in PyMC."""
    codes, names = pd.factorize(subjects["school"])
    effect = hand("effect", 0, pm.HalfNormal("apart", 1), len(names))
    return persons(subjects, effect[codes]) + eases(items)


def dif() -> Any:
    """Return an ability of two groups, and items that are harder for one of them."""
    group = of("group", "subject")
    return ability(weight("impact") * group) + ease() + weight("dif") * group * of("isB", "item")


def dif_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write the same in PyMC."""
    group, studied = subjects["group"].to_numpy(), items["isB"].to_numpy()
    effect = pm.Normal("dif", 0, 2) * group[:, None] * studied
    return persons(subjects, pm.Normal("impact", 0, 2) * group) + eases(items) + effect


def lltm_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write weights of demands with residual eases in PyMC."""
    explained = pm.Normal("weight", 0, 2) * items["demand"].to_numpy()
    return persons(subjects, pm.Normal("mean", 0, 2)) + explained + eases(items, 0, None)


def regression_by_hand(subjects: pd.DataFrame, items: pd.DataFrame) -> Any:
    """Write a regression of abilities on a covariate in PyMC."""
    return persons(subjects, pm.Normal("gain", 0, 2) * subjects["tests"].to_numpy()) + eases(items)


MODELS = {
    "Rasch, eases sum to zero": Model(zero_sum, zero_sum_by_hand, RASCH),
    "Rasch, eases about a mean": Model(
        lambda: ability() + ease(weight("mean"), spread("easeSpread")),
        lambda subjects, items: persons(subjects) + eases(items, pm.Normal("mean", 0, 2), None),
        RASCH,
    ),
    "Rasch, mean of abilities 0": Model(
        lambda: ability() + ease(),
        lambda subjects, items: persons(subjects) + eases(items),
        {"spread": 1},
    ),
    "2PL, given spread of slopes": Model(
        lambda: slope() * standard() + ease(),
        lambda subjects, items: slopes_by_hand(items) * persons(subjects, sd=1) + eases(items),
        {},
    ),
    "2PL, inferred spread of slopes": Model(
        lambda: slope(weight("meanLogSlope"), spread("slopeSpread")) * standard() + ease(),
        inferred_by_hand,
        {"meanLogSlope": 0, "slopeSpread": 0.4},
    ),
    "3PL, 1,000 x 40": Model(three, three_by_hand, {}, subjects=1000, items=40),
    "LLTM with residual ease": Model(
        lambda: (
            ability(weight("mean"))
            + weight("weight") * of("demand", "item")
            + ease(0, spread("easeSpread"))
        ),
        lltm_by_hand,
        {"mean": 0.5, "weight": -0.8, "spread": 1, "easeSpread": 0.5},
    ),
    "graded response": Model(graded, graded_by_hand, {}),
    "testlets": Model(testlets, testlets_by_hand, {"spread": 1, "apart": 0.7}),
    "random slopes of persons": Model(
        random_slopes, random_slopes_by_hand, {"spread": 1, "weight": -0.8, "weightSpread": 0.5}
    ),
    "schools": Model(schools, schools_by_hand, {"spread": 1, "apart": 0.6}),
    "latent regression": Model(
        lambda: ability(weight("gain") * of("tests", "subject")) + ease(),
        regression_by_hand,
        {"spread": 1, "gain": 0.6},
    ),
    "DIF": Model(dif, dif_by_hand, {"spread": 1, "impact": -0.4, "dif": -0.6}),
    "counts of 5": Model(
        lambda: ability() + ease(),
        lambda subjects, items: persons(subjects) + eases(items),
        {"spread": 1},
        trials=5,
    ),
}


def study(model: Model, seed: int) -> tuple[ml.Layout, ml.Evaluation, list[str], pm.Model]:
    """Return a layout, outcomes drawn from the hand-written model, items, and this model."""
    rng = np.random.default_rng(seed)
    count, length = model.subjects, model.items
    subjects = pd.DataFrame(
        {
            "school": rng.permutation([f"school {k % 20}" for k in range(count)]),
            "tests": rng.normal(size=count).clip(-4, 4),
            "group": rng.integers(0, 2, count),
        },
        [f"subject {k}" for k in range(count)],
    )
    items = pd.DataFrame(
        {
            "demand": rng.uniform(-1.5, 1.5, length),
            "testlet": [f"testlet {k // 3}" for k in range(length)],
            "isB": 1 * (np.arange(length) % 6 == 0),
        },
        [f"item {k}" for k in range(length)],
    )
    outcome = model.outcome()
    if not isinstance(outcome, ml.Graded | ml.Success):
        outcome = ml.Success("solved", logistic(outcome))
    layout = ml.Layout("known", outcome)
    with pm.Model() as drawn:
        odds = model.by_hand(subjects, items)
        if isinstance(odds, tuple):
            pm.OrderedLogistic("y", *odds)
        else:
            pm.Binomial("y", n=model.trials, logit_p=odds)
    true = pm.do(drawn, {name: float(value) for name, value in model.truth.items()})
    answers = pm.draw(true["y"], random_seed=seed)
    table = pd.DataFrame(answers, subjects.index, items.index)
    if isinstance(odds, tuple):
        evaluation = ml.Evaluation.of_outcomes(layout, {"solved": table}, items, subjects=subjects)
    else:
        trials = pd.DataFrame(model.trials, table.index, table.columns)
        evaluation = ml.Evaluation(items, table, trials, subjects=subjects)
    return layout, evaluation, list(items.index), pm.observe(drawn, {"y": answers})


def fitted(layout: ml.Layout, evaluation: ml.Evaluation, items: list[str], seed: int) -> Row:
    """Fit by the default call; returns a row, with the moments of shared values."""
    started = time.perf_counter()
    fit = ml.fit(layout, evaluation, seed=seed, progressbar=False)
    seconds = time.perf_counter() - started
    of_items = fit.posterior.sel(item=items)
    shared = {str(k): moments(v) for k, v in of_items.items() if "subject" not in v.dims}
    least = min(values[3].min() for values in shared.values())
    (row,) = fit.diagnostics().to_dict("records")
    status = row["status"], int(row["divergences"])
    return {"shared": shared, "draws": least, "status": status, "seconds": seconds}


def by_nutpie(model: pm.Model, shared: Mapping[str, Any], seed: int) -> Row:
    """Sample the hand-written model by nutpie; returns its moments and seconds."""
    started = time.perf_counter()
    compiled = nutpie.compile_pymc_model(model)
    between = time.perf_counter()
    trace = nutpie.sample(compiled, draws=1000, tune=1000, chains=4, seed=seed, progress_bar=False)
    ended = time.perf_counter()
    values = {name: moments(trace["posterior"][name]) for name in shared}
    least = min(one[3].min() for one in values.values())
    return {"shared": values, "draws": least, "times": (between - started, ended - between)}


def row(ours: Row, error: float, theirs: Row) -> Row:
    """Return a row of the table."""
    compiling, sampling = theirs["times"]
    rate, draws = ours["draws"] / ours["seconds"], theirs["draws"]
    return {
        "status": ours["status"][0],
        "divergences": ours["status"][1],
        "error": round(error, 1),
        "draws": round(ours["draws"]),
        "seconds": round(ours["seconds"], 1),
        "nutpie draws": round(draws),
        "nutpie seconds": f"{compiling:.0f} + {sampling:.0f}",
        "ratio": round(rate * (compiling + sampling) / draws, 1),
        "sampled": round(rate * sampling / draws, 1),
    }


def known(name: str, seed: int) -> Row:
    """Fit a model and its reference."""
    layout, evaluation, items, model = study(MODELS[name], seed)
    ours = fitted(layout, evaluation, items, seed)
    theirs = by_nutpie(model, ours["shared"], seed)
    error = max(errors(values, theirs["shared"][key]) for key, values in ours["shared"].items())
    return row(ours, error, theirs)


def gym(seed: int) -> Row:
    """Fit the 1PL of inference_gym, and compare with the published means."""
    files = (DATA / "inference_gym_1pl" / f"{name}.csv" for name in ("answers", "truth"))
    answers, truth = (pd.read_csv(file, index_col=0) for file in files)
    evaluation = ml.Evaluation.from_wide(answers, pd.DataFrame(index=answers.columns))
    cells = evaluation.coded
    mean = ml.Effect("mean", prior=normal(0.75, 1))
    skill = ml.Capability("ability", prior=normal(mean, 1))
    difficulty = ml.Bias("difficulty", per="item", prior=normal(0, 1))
    layout = ml.Layout("1PL", ml.Success("right", logistic(skill - difficulty)))
    with pm.Model() as model:
        students = pm.Normal("mean", 0.75, 1) + pm.Normal("ability", 0, 1, shape=len(answers))
        hard = pm.Normal("difficulty", 0, 1, shape=answers.shape[1])
        odds = students[cells.subject] - hard[cells.item]
        pm.Bernoulli("y", logit_p=odds, observed=cells.successes)
    ours = fitted(layout, evaluation, list(answers.columns), seed)
    names = {"mean": ["mean"], "difficulty": list(answers.columns)}
    error = 0.0
    for key, values in ours["shared"].items():
        right = truth.loc[names[key]]
        published = right["mean"], right["mean_standard_error"], np.ones(len(right))
        error = max(error, errors(values, np.stack(published)))
    return row(ours, error, by_nutpie(model, ours["shared"], seed))


def inst_eval(seed: int) -> Row:
    """Fit the ratings of lecturers, and compare with the estimates of lme4."""
    evaluation = ratings(DATA)
    cells, items = evaluation.coded, evaluation.items
    codes, names = pd.factorize(items["lecturer"])
    ours = fitted(of_ratings(), evaluation, list(items.index), seed)
    with pm.Model() as model:
        prior = pm.Normal("mean", 0, 2), pm.HalfNormal("studentSpread", 2.5)
        students = hand("generosity", *prior, len(evaluation.subjects))
        lecturer = hand("lecturerEffect", 0, pm.HalfNormal("lecturerSpread", 2.5), len(names))
        effect = pm.Normal("serviceEffect", 0, 2) * items["service"].to_numpy()
        odds = students[cells.subject] + (effect + lecturer[codes])[cells.item]
        pm.Binomial("y", n=cells.trials, logit_p=odds, observed=cells.successes)
    shared = {key: ours["shared"][key] for key in LME4}
    error = max(abs(shared[key][0, 0] - value) / shared[key][1, 0] for key, value in LME4.items())
    ours["draws"] = min(values[3].min() for values in shared.values())
    return row(ours, float(error), by_nutpie(model, shared, seed))


def main() -> None:
    """Print a row for each model."""
    rows = {"1PL (inference_gym)": gym} | {name: partial(known, name) for name in MODELS}
    rows |= {"ratings (InstEval)": inst_eval}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON for each model")
    parser.add_argument("--model", action="append", choices=sorted(rows))
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    table = {}
    for name in chosen.model or rows:
        table[name] = rows[name](chosen.seed)
        if chosen.json:
            print(json.dumps({"model": name, **table[name]}), flush=True)
    if not chosen.json:
        print(pd.DataFrame(table).T.to_string())


if __name__ == "__main__":
    main()
