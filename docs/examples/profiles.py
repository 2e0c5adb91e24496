"""What can each subject do? Profiles with their uncertainty."""

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics

cohort = animal_ai_olympics.simulated_cohort()
few = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::5])
layout = animal_ai_olympics.published_layout()
fit = ml.fit(layout, few, draws=500, tune=500, chains=2, seed=1, progressbar=False)

# %% profile_forest
# A row for each of 14 agents, by success rate, and a panel for each of four profile elements:
# posterior means with 90% intervals, and the true values as open diamonds. Navigation and vision
# fall with the success rate; the biases lie about 0.
axes = ml.plots.profile_forest(fit, truth=cohort.profiles)

# %% profile_heatmap
# A table of 14 agents by four profile elements and the success rate, coloured by the posterior
# mean, with the numbers in the cells. Agents on the left navigate and see well; a hatched cell is
# prior-dominated.
axes = ml.plots.profile_heatmap(fit)

# %% capability_scatter
# 14 agents by navigation and vision, with 90% intervals as grey lines. A group at the upper right
# is able in both, succeeds more often (larger points) and has less noise (darker points).
axes = ml.plots.capability_scatter(fit)

# %% prior_posterior
# Four panels with the prior (dashed) and posterior density of one agent's profile: the posteriors
# of navigation, vision and noise are narrower than their priors, that of the bias hardly is.
axes = ml.plots.prior_posterior(fit, fit.subjects[3])
