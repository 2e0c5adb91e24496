"""Is too much as bad as too little? Propensities, and the bands in which items succeed."""

import pandas as pd

import measurement_layouts as ml
from measurement_layouts.scenarios import propensities

table = propensities.obtained()
chosen = table.query("model == 'Qwen 3-4B-I' and propensity == 'introversion'")
subjects = list(chosen.sort_values("incited").index)  # unprompted last
evaluation = propensities.simulated_cohort().evaluation
layout = propensities.published_layout()
estimates = ml.estimation.estimate(layout, evaluation, subjects=subjects)

# %% characteristic_surface
# Eight panels of success rates (red to blue) by the lower and upper ends of the items' bands, one
# for each prompt. A black corner, the estimate, moves upwards with the prompt.
titles = {name: name.split(",")[0].removeprefix("Qwen 3-4B-I ") for name in subjects}
axes = ml.plots.characteristic_surface(
    evaluation, subjects=subjects, estimates=estimates, titles=titles
)

# %% likelihood_curve
# The log-likelihood over the propensity is an arch with its maximum at the estimate; the grey
# band around it is what the data allow.
axes = ml.plots.likelihood_curve(estimates, subjects[1])

# %% collapse_plot
# A staircase: the success rate of the bands around each level of propensity, with its peak
# shaded, beside a vertical line at the estimate.
items = evaluation.items
counts = evaluation.successes.loc[subjects[1]], evaluation.trials.loc[subjects[1]]
collapse = ml.estimation.point_collapse(items["lower"], items["upper"], *counts)
axes = ml.plots.collapse_plot(collapse, estimates, subjects[1])

# %% item_response_curves
# Success over the propensity for a wide and a narrow band. A product of two logistics stays far
# below 1 in the narrow band, where the scaled and steeper band reaches 1.
axes = ml.plots.item_response_curves([(-2, 4), (0.5, 1)], unit="level")

# %% incited_against_obtained
# Four panels, one for each model: the propensity obtained over the level that was asked for. Most
# points rise along the dashed diagonal, some far from it.
four = table[table["propensity"] == "introversion"].groupby("model").head(8)
few = four[four["model"].isin(four["model"].unique()[:4])]
found = ml.estimation.estimate(layout, evaluation, subjects=few.index).table.set_index("subject")
shown = few[["model", "incited"]].join(found[["estimate", "low", "high", "identified"]])
axes = ml.plots.incited_against_obtained(shown, "introversion")

# %% firmness_plot
# Two models under three prompts each, by the place of their leaning and its wobble, with 90%
# intervals. One moves little and wobbles little, the other moves far and wobbles more.
firm, who = propensities.firmness_layout(), ["steady"] * 3 + ["easily led"] * 3
names = [f"{model} {level}" for model, level in zip(who, [-2, 0, 2] * 2, strict=True)]
conditions = pd.DataFrame({"model": who, "incited": [-2, 0, 2] * 2}, names)
truth = pd.DataFrame(
    {"propensity": [-0.6, 0, 0.6, -2, 0, 2], "wobble": [0.3] * 3 + [0.9] * 3}, names
)
answers = ml.simulate(firm, propensities.battery("risk_aversion"), truth.assign(noise=0.05), seed=1)
sampling = {"draws": 200, "tune": 200, "chains": 2, "reruns": 0, "progressbar": False}
firmness = ml.estimation.firmness(ml.fit(firm, answers, seed=1, **sampling))
axes = ml.plots.firmness_plot(firmness, conditions)
