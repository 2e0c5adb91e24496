"""False alarms and power of `criticise`, table by table, on simulated data of known truth.

Run with `python benchmarks/criticism.py --studies 200`; a number of studies for each row. With
`--sizes`, it prints instead how much is tested, with seconds and memory, and how the effects of DIF
agree with those of logistic regressions on the total score (Swaminathan and Rogers 1990).
"""

import argparse
import resource
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import measurement_layouts as ml
from measurement_layouts.linking import guessing, logistic

warnings.simplefilter("ignore")
TABLES = ("table", "subjects", "items", "groups", "pairs", "overdispersion", "agreement", "cells")


def rasch() -> ml.Layout:
    """Return a layout with abilities from a population, and an ease of each item."""
    mean, spread = ml.Bias("mean", per="population"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    prior = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    ease = ml.Bias("ease", per="item", prior=prior)
    return ml.Layout("Rasch", ml.Success("ok", logistic(ability + ease)))


def two_effects() -> ml.Layout:
    """Add a second effect of each subject, on half of the items."""

    def prior(name: str) -> ml.Prior:
        mean = ml.Bias(f"{name}Mean", per="population")
        return ml.Prior("Normal", mu=mean, sigma=ml.Spread(f"{name}Spread"))

    ability = ml.Capability("ability", prior=prior("ability"))
    gain = ml.Effect("gain", per="subject", prior=prior("gain"))
    of_items = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    ease = ml.Bias("ease", per="item", prior=of_items)
    half = ml.MetaFeature("half", low=-0.5, high=0.5)
    return ml.Layout("two effects", ml.Success("ok", logistic(ability + gain * half + ease)))


def searching(chance: float) -> ml.Layout:
    """Return a layout with a demand and a probability of success by chance."""
    demand = ml.MetaFeature("demand", low=0, high=6)
    mean = ml.Bias("mean", per="population", prior=ml.Prior("Normal", mu=4, sigma=2))
    span = ml.Capability("span", prior=ml.Prior("Normal", mu=mean, sigma=ml.Spread("spread")))
    knows = logistic(span - demand, 1.7)
    return ml.Layout("true", ml.Success("found", guessing(knows, chance) if chance else knows))


def evaluation(
    outcomes: np.ndarray, trials: int = 1, items: object = None, subjects: object = None
) -> ml.Evaluation:
    """Name subjects and items by number."""
    successes = pd.DataFrame(outcomes).rename("s{}".format).rename("i{}".format, axis=1)
    properties = pd.DataFrame(items, index=successes.columns)
    people = pd.DataFrame(subjects, index=successes.index)
    return ml.Evaluation(properties, successes, successes * 0 + trials, subjects=people)


def logits(rng: np.random.Generator, subjects: int, items: int) -> np.ndarray:
    """Draw log-odds of a Rasch model with standard normal abilities and eases."""
    return rng.normal(size=(subjects, 1)) + rng.normal(size=items)


def passed(rng: np.random.Generator, eta: np.ndarray) -> np.ndarray:
    """Draw outcomes."""
    return (rng.logistic(size=eta.shape) < eta).astype(int)


def clean(rng: np.random.Generator, subjects: int, items: int) -> tuple:
    """Simulate a Rasch model and a column of subjects that is unrelated to outcomes."""
    groups = {"group": np.arange(subjects) % 2}
    eta = logits(rng, subjects, items)
    return rasch(), evaluation(passed(rng, eta), subjects=groups), {}


def clean_two(rng: np.random.Generator) -> tuple:
    """Simulate the layout with two effects, 60 x 16."""
    half = np.repeat([-0.5, 0.5], 8)
    eta = logits(rng, 60, 16) + rng.normal(0, 0.8, (60, 1)) * half
    return two_effects(), evaluation(passed(rng, eta), items={"half": half}), {}


def counts(rng: np.random.Generator, subjects: int, trials: int, chance: float) -> tuple:
    """Simulate counts of small cohorts on 25 items at five levels of a demand."""
    demand = np.repeat(np.log2([1, 6, 16, 31, 61]), 5)
    eta = 1.7 * (rng.normal(4.2, 1, (subjects, 1)) - demand)
    p = chance + (1 - chance) / (1 + np.exp(-eta))
    data = evaluation(rng.binomial(trials, p), trials, {"demand": demand})
    return searching(chance), data, {}


def alone(rng: np.random.Generator, subjects: int) -> tuple:
    """Simulate subjects that are fitted alone to 69 items with properties that do not matter."""
    demand, span = ml.MetaFeature("demand", low=0, high=6), ml.Capability("span", low=0, high=6)
    items = {"demand": rng.uniform(0, 6, 69), "size": rng.normal(size=69)}
    items |= {"colour": rng.integers(0, 3, 69).astype(str), "follows": items["demand"] // 2}
    eta = 1.7 * (rng.uniform(1, 5, (subjects, 1)) - items["demand"])
    layout = ml.Layout("alone", ml.Success("found", logistic(span - demand, 1.7)))
    return layout, evaluation(passed(rng, eta), items=items), {}


def dif(rng: np.random.Generator, subjects: int) -> tuple:
    """Make one item of 15 easier by 1.2 for half of the subjects."""
    group = np.repeat([0, 1], subjects)
    eta = logits(rng, 2 * subjects, 15)
    eta[:, 0] += 1.2 * group
    return rasch(), evaluation(passed(rng, eta), subjects={"group": group}), {}


def inverse(rng: np.random.Generator) -> tuple:
    """Let one item of 16 discriminate inversely among 100 subjects."""
    ability, ease = rng.normal(size=(100, 1)), rng.normal(size=16)
    slopes = np.where(np.arange(16) == 0, -1, 1)
    return rasch(), evaluation(passed(rng, slopes * ability + ease)), {}


def random_responders(rng: np.random.Generator) -> tuple:
    """Let ten of 100 subjects answer 40 items whatever their difficulty."""
    eta = logits(rng, 100, 40)
    eta[:10] = rng.normal(size=(10, 1))
    return rasch(), evaluation(passed(rng, eta)), {}


def together(rng: np.random.Generator) -> tuple:
    """Add effects of each subject, of sd 0.7, on four testlets of four items."""
    eta = logits(rng, 200, 16) + np.repeat(rng.normal(0, 0.7, (200, 4)), 4, axis=1)
    data = evaluation(passed(rng, eta), items={"testlet": np.repeat(list("ABCD"), 4)})
    return rasch(), data, {"testlets": "testlet"}


def sized(rng: np.random.Generator, subjects: int, items: int) -> tuple:
    """Simulate a Rasch model of any size."""
    return rasch(), evaluation(passed(rng, logits(rng, subjects, items))), {}


def three_effects(rng: np.random.Generator) -> tuple:
    """Simulate 316 subjects with an ability and two more effects each, on 24 items."""

    def per_subject(name: str) -> ml.Effect:
        mean = ml.Bias(f"{name}Mean", per="population")
        prior = ml.Prior("Normal", mu=mean, sigma=ml.Spread(f"{name}Spread"))
        return ml.Effect(name, per="subject", prior=prior)

    first, second = np.tile([-0.5, 0.5], 12), np.repeat([-0.5, 0.5], 12)
    of_items = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    margin = per_subject("ability") + ml.Effect("ease", per="item", prior=of_items)
    margin = margin + per_subject("otherGain") * ml.MetaFeature("other", low=-0.5, high=0.5)
    margin = margin + per_subject("doingGain") * ml.MetaFeature("doing", low=-0.5, high=0.5)
    eta = logits(rng, 316, 24) + rng.normal(0, 0.8, (316, 1)) * first
    eta += rng.normal(0, 0.8, (316, 1)) * second
    groups = {"group": np.arange(316) % 2}
    items = {"other": first, "doing": second}
    layout = ml.Layout("three effects", ml.Success("ok", logistic(margin)))
    return layout, evaluation(passed(rng, eta), items=items, subjects=groups), {}


def logistic_dif(rng: np.random.Generator) -> float:
    """Correlate effects of DIF on 20 items with those of logistic regressions."""
    group = np.repeat([0, 1], 300)
    eta = logits(rng, 600, 20) + np.outer(group, rng.normal(0, 0.7, 20))
    outcomes = passed(rng, eta)
    data = evaluation(outcomes, subjects={"group": group})
    fit = ml.fit(rasch(), data, seed=1, progressbar=False)
    table = ml.validation.criticise(fit, data, progressbar=False).groups
    effects = table[table["what"] == "level"].set_index("item")["effect"]
    columns = np.column_stack([outcomes.sum(axis=1), group])
    regression = LogisticRegression(C=np.inf, max_iter=1000)
    others = [regression.fit(columns, passes).coef_[0, 1] for passes in outcomes.T]
    return float(np.corrcoef(effects, others)[0, 1])


def dif_beside_effects(seed: int) -> tuple[float, float]:
    """Estimate DIF of -.35 under effects of a subject on an item: by criticism, and by a refit."""
    rng = np.random.default_rng(seed)
    minority, trials = rng.integers(0, 2, 300), np.array([14, 18, 16])
    eta = rng.normal(-0.4 * minority, 0.5)[:, None] + np.array([0, 0.2, -0.2])
    eta = eta - 0.35 * minority[:, None] * np.array([0, 1, 0]) + rng.normal(0, 0.35, (300, 3))
    outcomes = rng.binomial(trials, 1 / (1 + np.exp(-eta)))
    people, second = {"minority": minority}, {"second": [0, 1, 0]}
    data = evaluation(outcomes, trials, items=second, subjects=people)

    def effect(name: str, per: object, mean: object, sd: object) -> ml.Effect:
        return ml.Effect(name, per=per, prior=ml.Prior("Normal", mu=mean, sigma=sd))

    group = ml.MetaFeature("minority", levels=(0, 1), per="subject")
    impact = effect("impact", "population", 0, 2) * group
    margin = effect("ability", "subject", impact, ml.Spread("sd")) + effect("ease", "item", 0, 3)
    margin = margin + effect("own", ("subject", "item"), 0, ml.Spread("ownSd"))
    dif = effect("dif", "population", 0, 2) * ml.MetaFeature("second", levels=(0, 1)) * group
    without, refit = (
        ml.fit(ml.Layout("dif", ml.Success("y", logistic(of))), data, seed=1, progressbar=False)
        for of in (margin, margin + dif)
    )
    table = ml.validation.criticise(without, data, by="minority", progressbar=False).groups
    found = table.set_index(["item", "what"]).loc[("i1", "level"), "effect"]
    return float(found), float(refit.population().set_index("node").loc["dif", "mean"])


SIZES = {
    "2 x 2,000": lambda rng: sized(rng, 2, 2000),
    "300 x 24": lambda rng: sized(rng, 300, 24),
    "316 x 24, three effects": three_effects,
}


def sizes() -> None:
    """Print shares of tested rows, seconds of the processor, and the largest memory so far."""
    for name, make in SIZES.items():
        layout, data, options = make(np.random.default_rng(1))
        fit = ml.fit(layout, data, seed=1, progressbar=False)
        start = time.process_time()
        found = ml.validation.criticise(fit, data, progressbar=False, **options)
        seconds = time.process_time() - start
        shares = {
            key: round(float(one["p"].notna().mean()), 3)
            for key, one in found.tables.items()
            if len(one)
        }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{name}: tested {shares}; {seconds:.0f} s, peak {peak} MiB", flush=True)
    r = [logistic_dif(np.random.default_rng(seed)) for seed in range(5)]
    print(f"DIF against logistic regression, five data sets: r = {np.round(r, 3).tolist()}")


CLEAN = {
    "10 x 15": lambda rng: clean(rng, 10, 15),
    "20 x 10": lambda rng: clean(rng, 20, 10),
    "60 x 16": lambda rng: clean(rng, 60, 16),
    "60 x 16, two effects": clean_two,
    "2 x 69, each alone": lambda rng: alone(rng, 2),
    "20 x 69, each alone": lambda rng: alone(rng, 20),
} | {
    f"{n} x 25, {trials} trials, chance {chance:.2f}": (
        lambda rng, n=n, trials=trials, chance=chance: counts(rng, n, trials, chance)
    )
    for n in (12, 40)
    for trials in (1, 5, 12)
    for chance in (0, 1 / 3)
}
POWER = {
    "DIF of 1.2, 60 + 60": (lambda rng: dif(rng, 60), "groups", lambda t: t["item"] == "i0"),
    "DIF of 1.2, 200 + 200": (lambda rng: dif(rng, 200), "groups", lambda t: t["item"] == "i0"),
    "inverse item": (inverse, "items", lambda t: t["item"] == "i0"),
    "random responders": (
        random_responders,
        "subjects",
        lambda t: t["subject"].str[1:].astype(int) < 10,
    ),
    "testlets": (together, "pairs", lambda t: t["testlet"].str.len() == 1),
}


def criticised(make: object, seed: int) -> object:
    """Simulate, fit and criticise one data set."""
    layout, data, options = make(np.random.default_rng(seed))
    fit = ml.fit(layout, data, draws=250, tune=500, chains=4, seed=seed, progressbar=False)
    return ml.validation.criticise(fit, data, progressbar=False, **options)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--effects", action="store_true", help="DIF of -.35 under effects of cells")
    chosen = parser.parse_args()
    if chosen.effects:
        found = [dif_beside_effects(seed) for seed in range(chosen.studies)]
        means, errors = np.mean(found, axis=0), np.std(found, axis=0) / chosen.studies**0.5
        print(
            f"criticism {means[0]:.3f} (se {errors[0]:.3f}), refit {means[1]:.3f} ({errors[1]:.3f})"
        )
        return
    if chosen.sizes:
        sizes()
        return
    print(f"share of {chosen.studies} clean data sets with a false alarm, by table", flush=True)
    for name, make in CLEAN.items():
        if chosen.only in name:
            start, alarms = time.perf_counter(), []
            for seed in range(chosen.studies):
                found = criticised(make, seed)
                alarms.append([bool(getattr(found, table)["flagged"].any()) for table in TABLES])
            rates = dict(zip(TABLES, np.mean(alarms, axis=0).round(3).tolist(), strict=True))
            print(f"{name:36s} {rates} {time.perf_counter() - start:.0f} s", flush=True)
    print("share of misfits found, and of other rows flagged", flush=True)
    for name, (make, table, right) in POWER.items():
        if chosen.only in name:
            shares = []
            for seed in range(chosen.studies):
                rows = getattr(criticised(make, seed), table)
                wanted = right(rows).to_numpy()
                if table == "groups":
                    wanted = wanted & (rows["what"] == "level").to_numpy()
                flagged = rows["flagged"].to_numpy()
                shares.append((flagged[wanted].mean(), flagged[~wanted].mean()))
            hit, other = np.mean(shares, axis=0)
            print(f"{name:36s} {hit:.3f} {other:.4f}", flush=True)


if __name__ == "__main__":
    main()
