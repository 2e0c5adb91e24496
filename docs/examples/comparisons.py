"""Which subject is better? Comparisons with intervals, and growth over time."""

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics, weirdml

cohort = animal_ai_olympics.simulated_cohort()
few = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::7])
options = {"draws": 500, "tune": 500, "chains": 2, "seed": 1, "progressbar": False}
published = ml.fit(animal_ai_olympics.published_layout(), few, **options)

# %% comparison_plot
# Differences of nine agents to the best one in expected success on these items and on more like
# them, and in outcomes, with 90% intervals. The shaded agents cannot be told apart from the best;
# to the right are intervals of ranks.
comparison = ml.compare(published)
axes = ml.plots.comparison_plot(comparison)

# %% horizon_plot
# Time horizons of 24 models on a logarithmic scale from minutes to hours, with 90% intervals,
# over their dates of release, and a rising trend with its band.
models = weirdml.simulated_cohort().evaluation
fit = ml.fit(weirdml.published_layout(), models, draws=300, tune=300, seed=1, progressbar=False)
horizons = ml.estimation.time_horizons(fit, weirdml.release_dates())
axes = ml.plots.horizon_plot(horizons, trend=ml.estimation.horizon_trend(horizons))
