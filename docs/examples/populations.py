"""What do subjects and items share? Shared values, and effects of subjects and items."""

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import animal_ai_olympics

evaluation = animal_ai_olympics.simulated_cohort().evaluation
distance = ml.MetaFeature("rewardDistance", low=-2.4, high=2.4, unit="sd")
mean = ml.Bias("navigationMean", unit="sd", per="population")
spread = ml.Spread("navigationSpread", unit="sd", prior=ml.Prior("HalfNormal", sigma=2))
navigation = ml.Capability("navigation", unit="sd", prior=ml.Prior("Normal", mu=mean, sigma=spread))
own = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
ease = ml.Bias("ease", per="item", prior=own)
found = ml.Success("found", logistic(navigation - distance + ease))
layout = ml.Layout("navigation of a population", found)
fit = ml.fit(layout, evaluation, draws=500, tune=500, chains=2, seed=1, progressbar=False)

# %% wright_map
axes = ml.plots.wright_map(fit)

# %% population_forest
axes = ml.plots.population_forest(fit)

# %% caterpillar_plot
axes = ml.plots.caterpillar_plot(fit.items())

# %% weights_plot
axes = ml.plots.weights_plot(fit.population(), layout=layout)

# %% explained_plot
axes = ml.plots.explained_plot(ml.validation.explained(fit))

# %% misfit_plot
axes = ml.plots.misfit_plot(ml.validation.criticise(fit, evaluation))
