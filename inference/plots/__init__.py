"""Figures of fits, forecasts and scores: each takes a result and returns matplotlib axes.

Nothing is computed here; the numbers come from the modules beside this folder. A figure is made for
you unless you pass ``ax=``. matplotlib's settings are left as they are.
"""

from .agent_characteristic_grid import agent_characteristic_grid
from .brier_against_success import brier_against_success
from .capability_scatter import capability_scatter
from .criticism_map import criticism_map
from .forecast_plot import forecast_plot
from .prior_posterior import prior_posterior
from .profile_bars import profile_bars
from .profile_forest import profile_forest
from .profile_heatmap import profile_heatmap
from .reliability import reliability
from .residual_plot import residual_plot

__all__ = [
    "agent_characteristic_grid",
    "brier_against_success",
    "capability_scatter",
    "criticism_map",
    "forecast_plot",
    "prior_posterior",
    "profile_bars",
    "profile_forest",
    "profile_heatmap",
    "reliability",
    "residual_plot",
]
