"""What do subjects and items share? Shared values, and effects of subjects and items."""

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import animal_ai_olympics

evaluation = animal_ai_olympics.simulated_cohort().evaluation
distance = ml.MetaFeature("rewardDistance", low=-2.4, high=2.4, unit="sd")
mean = ml.Effect("navigationMean", unit="sd")
spread = ml.Spread("navigationSpread", unit="sd", prior=ml.Prior("HalfNormal", sigma=2))
navigation = ml.Capability("navigation", unit="sd", prior=ml.Prior("Normal", mu=mean, sigma=spread))
own = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
ease = ml.Effect("ease", per="item", prior=own)
found = ml.Success("found", logistic(navigation - distance + ease))
layout = ml.Layout("navigation of a population", found)
fit = ml.fit(layout, evaluation, draws=500, tune=500, chains=2, seed=1, progressbar=False)

# %% wright_map
# Left, a histogram of 68 subjects by navigation; right, on the same scale, the level at which
# each of 69 items is solved half of the time, with 90% intervals, in ascending order.
axes = ml.plots.wright_map(fit)

# %% item_curves
# Success on eight items over navigation: rising curves with 90% bands, from easy to hard items, and
# the observed success rates of six groups of subjects along them.
axes = ml.plots.item_curves(fit, fit.item_names[::9], node="navigation")

# %% information_plot
# Left, a hill: the information of 69 items is greatest for navigation in the middle; right, the
# standard error is least there. Ticks at the bottom are 68 subjects.
axes = ml.plots.information_plot(fit)

# %% population_forest
# The navigation of every fourth of 68 subjects, by success rate, with 90% intervals, over the
# grey band of the population. Means fall from the top to the bottom.
axes = ml.plots.population_forest(fit, subjects=evaluation.subjects[::4])

# %% effects_plot
# The effects of 23 items with 90% intervals, from the easiest to the hardest. Those whose interval
# contains 0 are pale.
axes = ml.plots.effects_plot(fit.items().iloc[::3])

# %% misfit_plot
# Effects with 90% intervals, sorted, of how the patterns of subjects and the slopes of items
# depart from the layout. Few or none are dark, which means flagged.
criticism = ml.validation.criticise(fit, evaluation)
axes = ml.plots.misfit_plot(criticism, tables=["subjects", "items"])
