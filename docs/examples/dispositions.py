"""How do models choose, compared with people? Dispositions, agreement and self-reports."""

import measurement_layouts as ml
from measurement_layouts.scenarios import dispositions

models = [f"sim-{number:02d}" for number in (1, 4, 8, 12, 16, 20)]
study = dispositions.simulated_study(per_statement=8, models=models)
judgments = study.judgments
groups = study.truth["size"]

# %% misalignment_plot
# Four panels, one for each trait: misalignment over people's rate, as arches of large (lower) and
# small models (higher) with 90% bands.
gaps = ml.dispositions.misalignment_by_group(judgments, groups=groups, resamples=200)
axes = ml.plots.misalignment_plot(gaps)

# %% confidence_plot
# Models' confidence over people's consensus: both groups of models are above 85% where people are
# divided.
confidence = ml.dispositions.confidence_by_group(judgments, groups=groups, resamples=200)
axes = ml.plots.confidence_plot(confidence)

# %% alignment_heatmap
# A table of six models by traits and consensus of people, coloured by the percentage of scenarios
# on the people's side: the large models are above the small ones.
alignment = ml.dispositions.directional_alignment(judgments)
axes = ml.plots.alignment_heatmap(alignment, groups)

# %% rate_distributions
# Four panels, one for each trait: mean rates of six models with 90% intervals where people are
# divided, and above them the density over models.
rates = ml.dispositions.divided_rates(judgments, resamples=200)
axes = ml.plots.rate_distributions(rates, groups)

# %% self_report_plot
# Four panels, one for each trait: revealed rate over reported rating of six models, with 90%
# intervals and rank correlations in the titles. The models lie close together.
reports = ml.dispositions.self_reports(judgments, divided_below=None)
rho = ml.dispositions.self_report_correlations(judgments, divided_below=None)
axes = ml.plots.self_report_plot(reports, rho, groups)

# %% self_report_panels
# Three panels, one for each model: agreement in action over the rating of a statement, for four
# traits. Solid lines slope clearly, dashed ones do not.
three, options = judgments.select(models[:3]), {"by": "statement", "divided_below": None}
statements = ml.dispositions.self_reports(three, **options)
rho = ml.dispositions.self_report_correlations(three, **options)
axes = ml.plots.self_report_panels(statements, rho)
