"""Which subject, or which layout, is better? Comparisons with intervals, and growth over time."""

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics, weirdml

cohort = animal_ai_olympics.simulated_cohort()
few = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::7])
options = {"draws": 500, "tune": 500, "chains": 2, "seed": 1, "progressbar": False}
published = ml.fit(animal_ai_olympics.published_layout(), few, **options)
recommended = ml.fit(animal_ai_olympics.recommended_layout(), few, **options)

# %% comparison_plot
comparison = ml.validation.compare_profiles(published, reference=published.subjects[0])
axes = ml.plots.comparison_plot(comparison, nodes=["navigationAbility", "visualAbility"])

# %% superiority_heatmap
everybody = ml.validation.compare_profiles(published)
axes = ml.plots.superiority_heatmap(everybody, "navigationAbility")

# %% layout_comparison_plot
compared = ml.validation.compare_layouts({"published": published, "recommended": recommended})
axes = ml.plots.layout_comparison_plot(compared)

# %% horizon_plot
models = weirdml.dated(weirdml.simulated_cohort().evaluation, weirdml.release_dates())
fit = ml.fit(weirdml.trend_layout(), models, draws=300, tune=300, seed=1, progressbar=False)
horizons = ml.estimation.time_horizons(fit, weirdml.release_dates())
until = "2023-07-01", "2026-07-01"
trend = ml.estimation.joint_trend(fit, since=weirdml.SINCE, between=until)
axes = ml.plots.horizon_plot(horizons, trend=trend)
