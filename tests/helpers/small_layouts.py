"""Small layouts, batteries and subjects that tests share, and fits without a sampler."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference.posterior.assembly import data_alone
from measurement_layouts.inference.sampling.draws import Draws, SamplingOptions, Unit
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.linking import logistic, mean_failure, mixture, product


def animal_ai(toward=mean_failure):
    """Declare the published layout, node by node as the paper has it."""
    size = ml.MetaFeature("rewardSize", low=-1.9, high=1.9, unit="sd")
    distance = ml.MetaFeature("rewardDistance", low=-2.4, high=2.4, unit="sd")
    behind = ml.MetaFeature("rewardBehind", levels=(0, 0.5, 1))
    x_pos = ml.MetaFeature("XPos", levels=(-1, 0, 1))
    navigation = ml.Capability("navigationAbility", low=0, high=5.3, unit="sd")
    visual = ml.Capability("visualAbility", low=0, high=1.9, unit="sd")
    side_bias, noise = ml.Bias("rightLeftBias"), ml.Noise("noiseLevel")
    effect = ml.Derived("rightLeftEffect", side_bias * x_pos)
    margin = navigation - distance * (0.5 * behind + 1) + effect
    navigate = ml.Derived("navigationPerformance", logistic(margin))
    see = ml.Derived("visualPerformance", logistic(visual - size))
    outcome = ml.Success("taskPerformance", mixture(navigate * see, by=noise, toward=toward))
    return ml.Layout("animal-ai", outcome)


def battery(count=24, seed=3):
    """Design items for it; a property that it does not use is among the columns."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "rewardSize": np.linspace(-1.8, 1.8, count),
            "colour": np.resize(["green", "red"], count),
            "rewardDistance": rng.permutation(np.linspace(-2.3, 2.3, count)),
            "rewardBehind": np.resize([0.0, 0.5, 0.5, 1.0], count),
            "XPos": np.resize([0, -1, 1, 0], count),
        },
        index=[f"item-{number:02d}" for number in range(count)],
    )


def profiles():
    """Give some subjects a profile."""
    columns = ["navigationAbility", "rightLeftBias", "visualAbility", "noiseLevel"]
    rows = {"Ann": [4.0, 0.5, 1.5, 0.1], "Bob": [1.5, -1.0, 0.8, 0.2], "Cyd": [0.3, 0.0, 1.0, 0.5]}
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def coin():
    """Declare the simplest layout: its posterior is known in closed form."""
    return ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))


def labelled(labels=("AS", "CEc")):
    """Declare an ability against a demand for each label, all needed."""
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    ability = ml.Capability("ability", low=0, high=5, labels=labels)
    success = product(logistic(ability - demand), over="dimension")
    return ml.Layout("labelled", ml.Success("ok", success))


def counts(successes, trials, subject="Ann", items=None):
    """Make an evaluation of one subject from counts per item."""
    names = [f"toss-{number}" for number in range(len(successes))]
    items = pd.DataFrame(index=names) if items is None else items
    one = {"index": [subject], "columns": items.index}
    return ml.Evaluation(items, pd.DataFrame([successes], **one), pd.DataFrame([trials], **one))


def crafted(layout, evaluation, posterior, diverging=0, failures=None, attempts=None):
    """Make a fit from given draws, by latent of shape (subject, chain, draw, ...)."""
    chains, draws = next(iter(posterior.values())).shape[1:3]
    options = SamplingOptions(draws=draws, tune=1, chains=chains)
    data = data_alone(layout, Battery.of(layout, evaluation).features, evaluation)
    most = max((attempts or {}).values(), default=1)
    with Store.open(None, layout, data, options, seed=1, reruns=most - 1) as store:
        for result in outcomes(evaluation, posterior, diverging, failures, attempts):
            store.add(*result)
        return ml.Fit.of(store.posterior())


def outcomes(evaluation, posterior, diverging=0, failures=None, attempts=None):
    """Give what sampling would have added to a store, from given draws.

    What remains is that of the last attempt; those before it have failed.
    """
    failures, attempts = failures or {}, attempts or {}
    chains, draws = next(iter(posterior.values())).shape[1:3]
    for place, subject in enumerate(evaluation.subjects):
        flags = np.arange(chains * draws).reshape(chains, draws) < diverging
        last = attempts.get(subject, 1)
        for attempt in range(1, last):
            yield Unit(place, attempt, 0), None, "RuntimeError: no start"
        values = {name: values[place] for name, values in posterior.items()}
        if subject in failures:
            yield Unit(place, last, 0), None, failures[subject]
        else:
            yield Unit(place, last, 0), Draws(values, {"diverging": flags}), ""


def six_subjects(layout):
    """Give outcomes of three with a profile, one on half the items, all right and all wrong."""
    items = battery()
    simulated = ml.simulate(layout, items, profiles(), seed=5)
    outcomes = simulated.successes.astype(float)
    outcomes.loc["Dot"] = outcomes.loc["Ann"].where(np.arange(len(items)) % 2 == 0)
    outcomes.loc["ace"], outcomes.loc["nil"] = 1, 0
    return ml.Evaluation.from_wide(outcomes, items)


SAMPLING = {
    "draws": 150,
    "tune": 200,
    "chains": 2,
    "seed": 1,
    "reruns": 0,  # with so few draws everybody would be sampled again
    "progressbar": False,
}
