"""Designs: which items of a bank tell most."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, product

labels = ("reading", "reasoning", "recall", "planning")
demand = ml.MetaFeature("demand", low=0, high=5, unit="level", labels=labels)
ability = ml.Capability("ability", low=0, high=6, unit="level", labels=labels)
able = product(logistic(ability - demand, 2), over="dimension")
layout = ml.Layout("four abilities", ml.Success("solved", able))
levels = np.random.default_rng(1).binomial(5, 0.3, (300, 4))
bank = pd.DataFrame(levels, columns=[f"demand[{label}]" for label in labels])
design = ml.batteries.design(layout, bank, n=40)

# %% design_plot
axes = ml.plots.design_plot(design)

# %% chosen_items_plot
axes = ml.plots.chosen_items_plot(design)
