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
titles = {name: name.split(",")[0].removeprefix("Qwen 3-4B-I ") for name in subjects}
axes = ml.plots.characteristic_surface(
    evaluation, subjects=subjects, estimates=estimates, titles=titles
)

# %% likelihood_curve
axes = ml.plots.likelihood_curve(estimates, subjects[1])

# %% collapse_plot
items = evaluation.items
counts = evaluation.successes.loc[subjects[1]], evaluation.trials.loc[subjects[1]]
collapse = ml.estimation.point_collapse(items["lower"], items["upper"], *counts)
axes = ml.plots.collapse_plot(collapse, estimates, subjects[1])

# %% item_response_curves
axes = ml.plots.item_response_curves([(-2, 4), (0.5, 1)], unit="level")

# %% incited_against_obtained
four = table[table["propensity"] == "introversion"].groupby("model").head(8)
few = four[four["model"].isin(four["model"].unique()[:4])]
found = ml.estimation.estimate(layout, evaluation, subjects=few.index).table.set_index("subject")
shown = few[["model", "incited"]].join(found[["estimate", "low", "high", "identified"]])
axes = ml.plots.incited_against_obtained(shown, "introversion")

# %% firmness_plot
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
