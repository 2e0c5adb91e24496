"""What does the layout not explain? Criticism of a layout."""

import measurement_layouts as ml
from measurement_layouts.scenarios import object_permanence

everybody = object_permanence.simulated_cohort().evaluation
few = everybody.select(subjects=everybody.subjects[10:22])
layout = object_permanence.published_layout()
fit = ml.fit(layout, few, draws=300, tune=500, chains=2, reruns=0, seed=1, progressbar=False)
criticism = ml.validation.criticise(fit, few, candidates=object_permanence.CANDIDATES)

# %% criticism_map
# A table of twelve agents by eight properties of the items. Dark cells are properties that
# explain what the layout misses of an agent; framed cells are flagged.
axes = ml.plots.criticism_map(criticism)

# %% residual_plot
# Success rates of one agent at four levels of a property, with and without lava (points), far
# from the 90% intervals that the layout expects (bars).
missed = criticism.table.query("flagged and kind == 'candidate'")
most = missed.sort_values("gain").iloc[-1]
axes = ml.plots.residual_plot(criticism, most["subject"], most["property"], "lavaPresence")
