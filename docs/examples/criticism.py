"""What does the layout not explain? Criticism of a layout, and calibration of its intervals."""

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.scenarios import object_permanence

everybody = object_permanence.simulated_cohort().evaluation
few = everybody.select(subjects=everybody.subjects[10:22])
layout = object_permanence.published_layout()
fit = ml.fit(layout, few, draws=300, tune=500, chains=2, reruns=0, seed=1, progressbar=False)
criticism = ml.validation.criticise(fit, few, candidates=object_permanence.CANDIDATES)

# %% criticism_map
axes = ml.plots.criticism_map(criticism)

# %% residual_plot
missed = criticism.table.query("flagged and kind == 'candidate'")
most = missed.sort_values("gain").iloc[-1]
axes = ml.plots.residual_plot(criticism, most["subject"], most["property"], "lavaPresence")

# %% rank_ecdf
cases = scenarios.get("animal-ai-olympics").calibration()
published = "published layout", "published layout, pull towards a half"
found = {
    name: ml.validation.sbc(
        cases[name].layout, cases[name].items, simulations=150, progressbar=False
    )
    for name in published
}
axes = ml.plots.rank_ecdf(found)
