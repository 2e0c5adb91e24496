"""How does success fall with a demand? Characteristic curves, and the demands of a battery."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.scenarios import adele
from measurement_layouts.scenarios.adele.battery import simulated_cohort

cohort = simulated_cohort(items=4000)
open_models = cohort.evaluation.subjects[6:]
evaluation = cohort.evaluation.select(subjects=open_models)
evaluation = ml.Evaluation(
    evaluation.items.rename(columns=lambda name: name.removeprefix("demand[").removesuffix("]")),
    evaluation.successes,
    evaluation.trials,
)
demands = list(adele.DEMANDS)
curves = ml.batteries.characteristic_curves(evaluation, demands, resamples=30)

# %% curve_plot
axes = ml.plots.curve_plot(curves, open_models[1], "QLl")

# %% curve_panels
axes = ml.plots.curve_panels(curves, open_models[1])

# %% curves_by_subject
axes = ml.plots.curves_by_subject(curves, "QLl")

# %% ability_radar
axes = ml.plots.ability_radar(curves, subjects=[open_models[0], open_models[2], open_models[4]])

# %% scaling_plot
known = {name: adele.SUBJECTS[name] for name in open_models}
sizes = pd.Series({name: one.parameters for name, one in known.items()}, name="billions")
families = pd.Series({name: one.family for name, one in known.items()})
axes = ml.plots.scaling_plot(curves, sizes, families, dimensions=["QLl", "MCr", "KNa"])

# %% demand_profile_plot
first, second = evaluation.items.iloc[:2000], evaluation.items.iloc[2000:]
profiles = {
    "first half": ml.batteries.demand_profile(first, demands),
    "second half": ml.batteries.demand_profile(second, demands),
}
axes = ml.plots.demand_profile_plot(profiles)

# %% demand_correlation_plot
axes = ml.plots.demand_correlation_plot(ml.batteries.demand_correlations(evaluation, demands))

# %% importance_plot
part = evaluation.select(subjects=open_models[1:2], items=evaluation.items.index[::4])
found = ml.validation.permutation_importance(
    {"forest": demands, "regression": ml.validation.Regression(demands)},
    part,
    split=ml.validation.Items(folds=5),
    progressbar=False,
)
axes = ml.plots.importance_plot(found)

# %% rater_reliability_plot
random = np.random.default_rng(1)
noises = {"planning": 0.5, "working memory": 0.9, "inhibitory control": 2.5}
truth = random.normal(2.5, 1, (400, 3))
said = {
    name: pd.DataFrame(random.normal(truth + bias, [*noises.values()]).round().clip(0, 5))
    for name, bias in {"one": -0.2, "two": 0.2}.items()
}
ratings = ml.annotation.Ratings.from_wide(
    {name: table.set_axis([*noises], axis=1) for name, table in said.items()}
)
axes = ml.plots.rater_reliability_plot(ratings.rater_model())
