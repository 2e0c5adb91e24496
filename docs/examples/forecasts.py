"""Will a subject succeed on a new item? Forecasts, their reasons, and their reliability."""

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics

cohort = animal_ai_olympics.simulated_cohort()
few = cohort.evaluation.select(subjects=cohort.evaluation.subjects[::5])
layout = animal_ai_olympics.published_layout()
fit = ml.fit(layout, few, draws=500, tune=500, chains=2, seed=1, progressbar=False)

new_items = animal_ai_olympics.battery(seed=2).rename(lambda name: f"new-{name}")
truth = cohort.profiles.loc[fit.subjects]
later = ml.simulate(layout, new_items, truth, seed=2)
forecast = fit.forecast(new_items)

# %% forecast_plot
# Forecast success of one agent on 30 new items, in ascending order, with 90% intervals. Ticks at
# the top and bottom show on which items it later succeeded and failed.
axes = ml.plots.forecast_plot(fit.forecast(new_items.head(30)), fit.subjects[3], later)

# %% calibration_plot
# Observed success rate over the mean forecast, in bins, with 90% intervals: the points follow the
# diagonal. Grey bars below count the trials of each bin.
axes = ml.plots.calibration_plot(forecast, later)

# %% brier_against_success
# Brier scores of 14 agents over their success rates, for the layout and for the aggregate, with
# curves of local averages. The layout's curve is below that of the aggregate.
aggregate = few.success_rates()
happened = later.success_rates()
flat = (aggregate**2 - 2 * aggregate * happened + happened).rename("brier")
scores = {
    "layout": ml.score_forecast(forecast, later)[["success", "brier"]],
    "aggregate": happened.rename("success").to_frame().join(flat),
}
axes = ml.plots.brier_against_success(scores)

# %% agent_characteristic_grid
# A grid of reward sizes by distances, coloured by one agent's success rate, with the numbers of
# trials in the cells. Failures are in the top row, of the smallest rewards.
subject = fit.subjects[3]
axes = ml.plots.agent_characteristic_grid(
    few, subject, "rewardDistance", "rewardSize", layout=layout
)

# %% calibration_panels
# Four panels, one for each agent: success rate over predicted probability with 90% intervals,
# beside the diagonal of a calibrated forecast. Larger circles have more items.
methods = {"logistic regression": "logistic"}
four = few.select(subjects=few.subjects[3:7])
found = ml.validation.cross_validate(
    methods,
    four,
    split=ml.validation.Items(folds=5),
    columns=["rewardDistance", "rewardSize"],
    progressbar=False,
)
axes = ml.plots.calibration_panels(found)
