"""How do models choose, compared with people? Dispositions, agreement and self-reports."""

import measurement_layouts as ml
from measurement_layouts.scenarios import dispositions

models = [f"sim-{number:02d}" for number in (1, 4, 8, 12, 16, 20)]
study = dispositions.simulated_study(per_statement=8, models=models)
judgments = study.judgments
groups = study.truth["size"]

# %% misalignment_plot
gaps = ml.dispositions.misalignment_by_group(judgments, groups=groups, resamples=200)
axes = ml.plots.misalignment_plot(gaps)

# %% confidence_plot
confidence = ml.dispositions.confidence_by_group(judgments, groups=groups, resamples=200)
axes = ml.plots.confidence_plot(confidence)

# %% alignment_heatmap
alignment = ml.dispositions.alignment_by_group(judgments, groups=groups)
axes = ml.plots.alignment_heatmap(alignment)

# %% rate_distributions
rates = ml.dispositions.rates_by_group(judgments, groups=groups, resamples=200)
axes = ml.plots.rate_distributions(rates)

# %% population_alignment_plot
beside = ml.dispositions.alignment_by_population(judgments, "nationality", resamples=200)
axes = ml.plots.population_alignment_plot(beside)

# %% self_report_plot
reports = ml.dispositions.self_reports_by_group(judgments, groups=groups, divided_below=None)
axes = ml.plots.self_report_plot(reports)

# %% self_report_panels
statements = ml.dispositions.self_reports_by_group(
    judgments, by="statement", models=models[:3], divided_below=None
)
axes = ml.plots.self_report_panels(statements)
