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

# %% curve_panels
# Eighteen small panels, one for each dimension: one model's success falls with the demand level,
# with its ability and 90% interval below the curve.
axes = ml.plots.curve_panels(curves, open_models[1])

# %% curves_by_subject
# Falling curves of nine models over the demand levels of one dimension, coloured by ability. The
# legend lists the abilities with 90% intervals.
axes = ml.plots.curves_by_subject(curves, "QLl")

# %% ability_radar
# Eighteen abilities of three models on the spokes of a circle, as three rings. The largest
# model's ring is outermost.
axes = ml.plots.ability_radar(curves, subjects=[open_models[0], open_models[2], open_models[4]])

# %% scaling_plot
# Three panels of abilities with 90% intervals over the number of parameters, on a logarithmic
# scale: lines of two families rise and then flatten.
known = {name: adele.SUBJECTS[name] for name in open_models}
sizes = pd.Series({name: one.parameters for name, one in known.items()}, name="billions")
families = pd.Series({name: one.family for name, one in known.items()})
axes = ml.plots.scaling_plot(curves.table, sizes, families, dimensions=["QLl", "MCr", "KNa"])

# %% demand_profile_plot
# Two circles, each with eighteen sectors filled by the shares of the levels 0 to 5 of a demand:
# most items demand low levels.
first, second = evaluation.items.iloc[:2000], evaluation.items.iloc[2000:]
profiles = {
    "first half": ml.batteries.demand_profile(first, demands),
    "second half": ml.batteries.demand_profile(second, demands),
}
axes = ml.plots.demand_profile_plot(profiles)

# %% demand_correlation_plot
# Rank correlations of eighteen demands with each other (upper triangle of purple and orange
# cells) and with the success of nine models (lower rows, mostly negative).
axes = ml.plots.demand_correlation_plot(ml.batteries.demand_correlations(evaluation, demands))

# %% importance_plot
# How much the Brier score rises when each demand is shuffled, with 90% intervals, for two
# methods.
part = evaluation.select(subjects=open_models[1:2], items=evaluation.items.index[::4])
found = ml.validation.permutation_importance(
    {"forest": "forest", "regression": "logistic"},
    part,
    columns=demands,
    split=ml.validation.Items(folds=5),
    progressbar=False,
)
axes = ml.plots.importance_plot(found)

# %% rater_reliability_plot
# Reliability of one annotator and of two together, with 90% intervals, for three demands, beside
# the required 0.7. At the right stands how many annotators are needed.
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
axes = ml.plots.rater_reliability_plot(ml.estimation.rater_model(ratings))
