"""What can each subject do? Profiles with their uncertainty."""

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics

cohort = animal_ai_olympics.simulated_cohort()
few = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::5])
layout = animal_ai_olympics.published_layout()
fit = ml.fit(layout, few, draws=500, tune=500, chains=2, seed=1, progressbar=False)

# %% profile_forest
axes = ml.plots.profile_forest(fit)

# %% profile_heatmap
axes = ml.plots.profile_heatmap(fit)

# %% profile_bars
axes = ml.plots.profile_bars(fit, fit.subjects[:4], truth=cohort.profiles)

# %% capability_scatter
axes = ml.plots.capability_scatter(fit)

# %% prior_posterior
axes = ml.plots.prior_posterior(fit, fit.subjects[3])
