"""Is too much as bad as too little? Propensities, and the bands in which items succeed."""

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

# %% band_curves
# Success over the propensity for a wide and a narrow band. A product of two logistics stays far
# below 1 in the narrow band, where the scaled and steeper band reaches 1.
axes = ml.plots.band_curves([(-2, 4), (0.5, 1)], unit="level")

# %% incited_against_obtained
# Four panels, one for each model: the propensity obtained over the level that was asked for. Most
# points rise along the dashed diagonal, some far from it.
four = table[table["propensity"] == "introversion"].groupby("model").head(8)
few = four[four["model"].isin(four["model"].unique()[:4])]
found = ml.estimation.estimate(layout, evaluation, subjects=few.index).table.set_index("subject")
shown = few[["model", "incited"]].join(found[["estimate", "low", "high", "identified"]])
axes = ml.plots.incited_against_obtained(shown, "introversion")
