"""Dispositions: what models advise, beside what people would."""

import measurement_layouts as ml
from measurement_layouts.scenarios import dispositions

models = [f"sim-{number:02d}" for number in (1, 4, 8, 12, 16, 20)]
study = dispositions.simulated_study(per_statement=8, models=models)
judgments = study.judgments
groups = study.truth["size"]

# %% misalignment_plot
axes = ml.plots.misalignment_plot(judgments, groups=groups, resamples=200)

# %% confidence_plot
axes = ml.plots.confidence_plot(judgments, groups=groups, resamples=200)

# %% alignment_heatmap
axes = ml.plots.alignment_heatmap(judgments, groups=groups)

# %% rate_distributions
axes = ml.plots.rate_distributions(judgments, groups=groups, resamples=200)

# %% self_report_plot
axes = ml.plots.self_report_plot(judgments, groups=groups, divided_below=None)

# %% self_report_panels
axes = ml.plots.self_report_panels(judgments, models=models[:3], divided_below=None)
