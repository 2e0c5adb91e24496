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
axes = ml.plots.forecast_plot(forecast, fit.subjects[3], later)

# %% explanation_plot
hard = forecast.data["mean"].sel(subject=fit.subjects[3]).idxmin().item()
why = fit.explain(
    new_items.loc[[hard]], fit.subjects[3], changes={"visualAbility": 0.5, "rewardDistance": -1}
)
axes = ml.plots.explanation_plot(why)

# %% reliability
axes = ml.plots.reliability(forecast, later)

# %% brier_against_success
aggregate = few.success_rates()
happened = later.success_rates()
flat = (aggregate**2 - 2 * aggregate * happened + happened).rename("brier")
scores = {
    "layout": ml.score_forecast(forecast, later)[["success", "brier"]],
    "aggregate": happened.rename("success").to_frame().join(flat),
}
axes = ml.plots.brier_against_success(scores)

# %% agent_characteristic_grid
subject = fit.subjects[3]
axes = ml.plots.agent_characteristic_grid(
    few, subject, "rewardDistance", "rewardSize", layout=layout
)

# %% calibration_panels
methods = {"logistic regression": ml.validation.Regression(["rewardDistance", "rewardSize"])}
four = few.select(subjects=few.subjects[3:7])
found = ml.validation.cross_validate(
    methods, four, split=ml.validation.Items(folds=5), progressbar=False
)
axes = ml.plots.calibration_panels(found)

# %% risk_coverage_plot
order = ml.decisions.risk_coverage(forecast, later)
axes = ml.plots.risk_coverage_plot(order, success=0.8)

# %% suitability_plot
job = animal_ai_olympics.battery(seed=3).head(25)
suits = ml.decisions.suitability(fit, job.rename(lambda name: f"job-{name}"))
axes = ml.plots.suitability_plot(suits)
