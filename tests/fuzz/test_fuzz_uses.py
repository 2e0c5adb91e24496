"""Items and profiles that nobody means, where a layout reads them; options of fits."""

import functools
import math
import random

import pandas as pd
import pytest
from helpers.odd_frames import damaged
from helpers.odd_values import odd
from helpers.trying import counts, need, try_many
from test_fuzz_frames import SUBJECTS, items_of, wide_of

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation, FitError
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.linking import logistic, mean_failure, mixture, presence, product


@functools.cache
def layout() -> ml.Layout:
    """Use levels, labels, a flag, and noise that pulls towards the mean failure."""
    skill = ml.Capability("skill", low=0, high=3, labels=("x", "y"))
    demand = ml.MetaFeature("demand", low=0, high=3, labels=("x", "y"))
    there = ml.MetaFeature("there", levels=(0, 1))
    size = ml.MetaFeature("size", low=0, high=3, given=there)
    sees = logistic(ml.Capability("sight", low=0, high=3) - size)
    joined = product(product(logistic(skill - demand), over="dimension"), presence(sees, there))
    return ml.Layout(
        "of frames",
        ml.Success("solved", mixture(joined, by=ml.Noise("noise"), toward=mean_failure)),
    )


@functools.cache
def known() -> Evaluation:
    """Make an evaluation that nothing is wrong with."""
    choice = random.Random(1)
    items = items_of(choice).assign(there=[0, 1, 1, 0], size=[0.5, 1, 1.5, 2], day=[1, 2, 1, 2])
    return Evaluation.from_wide(wide_of(choice), items)


@functools.cache
def fitted() -> ml.Fit:
    """Fit it, in a moment."""
    short = {"draws": 50, "tune": 20, "chains": 2, "reruns": 0}
    return ml.fit(layout(), known(), **short, seed=1, progressbar=False)


def profiles_of(choice: random.Random) -> pd.DataFrame:
    columns = ("skill[x]", "skill[y]", "sight")
    found = {name: [choice.uniform(0, 3) for _ in SUBJECTS] for name in columns}
    return pd.DataFrame(found | {"noise": [choice.random() for _ in SUBJECTS]}, index=SUBJECTS)


def _number(cell: object) -> float:
    return float(cell)  # type: ignore[arg-type]


def same_items(items: pd.DataFrame) -> None:
    """Hold what is read of accepted items against a plain reading of their cells."""
    found = read_features(layout(), items)
    cells = {str(column): list(items[column]) for column in items.columns}
    for place, flag in enumerate(cells["there"]):
        need(abs(found["there"][place] - _number(flag)) < 1e-6, "another flag")
        if found["there"][place]:
            need(found["size"][place] == _number(cells["size"][place]), "another size")
        for own, label in enumerate("xy"):
            meant = _number(cells[f"demand[{label}]"][place])
            need(found["demand"][place, own] == meant, "another demand")


def forecast(choice: random.Random) -> None:
    items = damaged(items_of(choice), choice)
    found = fitted().forecast(items)
    same_items(items)
    means = found.data["mean"].to_numpy()
    need(bool(((means >= 0) & (means <= 1)).all()), f"means {means}")
    need([str(name) for name in items.index] == list(found.data["item"].to_numpy()), "other items")


def simulate(choice: random.Random) -> None:
    items, profiles = items_of(choice), profiles_of(choice)
    if choice.random() < 0.5:
        items = damaged(items, choice)
    else:
        profiles = damaged(profiles, choice)
    trials = 3 if choice.random() < 0.9 else odd(choice)
    made = ml.simulate(layout(), items, profiles, seed=1, trials=trials)
    same_items(items)
    need(made.subjects == [str(name) for name in profiles.index], "other subjects")
    need(bool((made.trials == trials).to_numpy().all()), "other trials")


def evaluations(choice: random.Random) -> Evaluation:
    items = items_of(choice)
    items = items.assign(there=[0, 1, 1, 0], size=[0.5, 1, 1.5, 2], day=[1, 2, 1, 2])
    return Evaluation.from_wide(wide_of(choice), damaged(items, choice))


def checked(choice: random.Random) -> None:
    evaluation = evaluations(choice)
    found = ml.check(layout(), evaluation)
    need(bool(str(found).strip()), "nothing is said")
    same_items(evaluation.items)


def criticised(choice: random.Random) -> None:
    candidates = None if choice.random() < 0.9 else odd(choice)
    found = ml.validation.criticise(fitted(), evaluations(choice), candidates=candidates)
    told = found.table["p"].between(0, 1) | found.table["remark"].ne("")
    need(bool(told.all()), "a candidate without a p value, and without a reason")


def scored(choice: random.Random) -> None:
    made = fitted().forecast(items_of(choice).set_axis([*"abxy"], axis=0))
    evaluation = Evaluation.from_wide(wide_of(choice), evaluations(choice).items)
    found = ml.score_forecast(made, evaluation, training_items=True)
    need(bool(found["brier"].between(0, 1).all()), "Brier scores")


_QUIET = {"seed": 1, "progressbar": False}
_SHORT = {"draws": 4, "tune": 1, "chains": 1, "n_jobs": 1, "reruns": 0, **_QUIET}
OPTIONS = {
    "fit": {**_SHORT, "target_accept": 0.8, "method": "nuts", "subjects": None},
    "estimate": {"prob": 0.9, "subjects": None},
    "forecast": {"subjects": None, "prob": 0.9, "memory_mib": 256},
    "profiles": {"prob": 0.9},
    "check": {"seed": 1},
    "criticise": {"alpha": 0.05, "prob": 0.9, "seed": 1, "subjects": None},
    "simulate": {"seed": 1, "trials": 1},
    "compare": {"prob": 0.9, "subjects": None},
    "describe": {"subjects": None},
    "select": {"items": None, "subjects": None},
}
WRONG = (-1, 0, 2.5, None, "a", math.nan, math.inf, 10**30, True, [], ["nobody"], "", {}, "Ann")


def options(choice: random.Random) -> None:
    """Call with one wrong option; what is no option at all must not be accepted."""
    called = choice.choice(list(OPTIONS))
    given = dict(OPTIONS[called])
    name = choice.choice(list(given))
    given[name] = choice.choice(WRONG) if choice.random() < 0.6 else odd(choice)
    if name in ("draws", "tune", "n_jobs", "reruns", "chains") and choice.random() < 0.5:
        given[name] = -given[name] if isinstance(given[name], int) else "many"
    whole, data, rng = fitted(), known(), random.Random(1)
    if called in ("forecast", "profiles"):
        table = (items_of(rng),) if called == "forecast" else ()
        getattr(whole, called)(*table, **given)
    elif called == "select":
        data.select(**given)
    elif called == "simulate":
        ml.simulate(layout(), items_of(rng), profiles_of(rng), **given)
    else:
        first = {"criticise": (whole, data), "compare": (whole,), "describe": (whole,)}
        packages = (ml, ml.validation, ml.estimation)
        function = next(getattr(one, called) for one in packages if called in one.__all__)
        function(*first.get(called, (layout(), data)), **given)


@pytest.mark.filterwarnings("ignore:left out, without any outcome")
@pytest.mark.parametrize(
    ("name", "count"),
    counts(
        forecast=(20, 150),
        simulate=(20, 150),
        checked=(10, 50),
        criticised=(10, 50),
        scored=(15, 50),
    ),
)
def test_odd_items_are_refused_or_used_right(name, count, more):
    fitted()  # not within the time of an input
    tried = try_many(globals()[name], count * more, (DataError, FitError))
    tried.hold(accepted=0.1, refused=0.2)


@pytest.mark.parametrize(("name", "count"), counts(options=(60, 300)))
def test_odd_options_are_refused(name, count, more):
    fitted()
    tried = try_many(globals()[name], count * more, (DataError, FitError))
    tried.hold(accepted=0.01, refused=0.2)
