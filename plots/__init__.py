"""Figures of fits, forecasts and scores: each takes a result and returns matplotlib axes.

Figures do not compute results; these come from the other packages. Each function makes a new
figure unless axes are given as ``ax=``. It does not change matplotlib's settings.
"""

from .ability_radar import ability_radar
from .adaptive_plot import adaptive_plot
from .agent_characteristic_grid import agent_characteristic_grid
from .alignment_heatmap import alignment_heatmap
from .brier_against_success import brier_against_success
from .calibration_panels import calibration_panels
from .capability_scatter import capability_scatter
from .caterpillar_plot import caterpillar_plot
from .characteristic_surface import characteristic_surface
from .chosen_items_plot import chosen_items_plot
from .collapse_plot import collapse_plot
from .comparison_plot import comparison_plot
from .confidence_plot import confidence_plot
from .criticism_map import criticism_map
from .curve_panels import curve_panels
from .curve_plot import curve_plot
from .curves_by_subject import curves_by_subject
from .demand_correlation_plot import demand_correlation_plot
from .demand_profile_plot import demand_profile_plot
from .design_plot import design_plot
from .explained_plot import explained_plot
from .explanation_plot import explanation_plot
from .firmness_plot import firmness_plot
from .forecast_plot import forecast_plot
from .horizon_plot import horizon_plot
from .importance_plot import importance_plot
from .incited_against_obtained import incited_against_obtained
from .item_response_curves import item_response_curves
from .layout_comparison_plot import layout_comparison_plot
from .likelihood_curve import likelihood_curve
from .misalignment_plot import misalignment_plot
from .misfit_plot import misfit_plot
from .population_alignment_plot import population_alignment_plot
from .population_forest import population_forest
from .prior_posterior import prior_posterior
from .profile_bars import profile_bars
from .profile_forest import profile_forest
from .profile_heatmap import profile_heatmap
from .rank_ecdf import rank_ecdf
from .rate_distributions import rate_distributions
from .rater_reliability_plot import rater_reliability_plot
from .reliability import reliability
from .residual_plot import residual_plot
from .risk_coverage_plot import risk_coverage_plot
from .scaling_plot import scaling_plot
from .self_report_panels import self_report_panels
from .self_report_plot import self_report_plot
from .suitability_plot import suitability_plot
from .superiority_heatmap import superiority_heatmap
from .weights_plot import weights_plot
from .wright_map import wright_map

__all__ = [
    "ability_radar",
    "adaptive_plot",
    "agent_characteristic_grid",
    "alignment_heatmap",
    "brier_against_success",
    "calibration_panels",
    "capability_scatter",
    "caterpillar_plot",
    "characteristic_surface",
    "chosen_items_plot",
    "collapse_plot",
    "comparison_plot",
    "confidence_plot",
    "criticism_map",
    "curve_panels",
    "curve_plot",
    "curves_by_subject",
    "demand_correlation_plot",
    "demand_profile_plot",
    "design_plot",
    "explained_plot",
    "explanation_plot",
    "firmness_plot",
    "forecast_plot",
    "horizon_plot",
    "importance_plot",
    "incited_against_obtained",
    "item_response_curves",
    "layout_comparison_plot",
    "likelihood_curve",
    "misalignment_plot",
    "misfit_plot",
    "population_alignment_plot",
    "population_forest",
    "prior_posterior",
    "profile_bars",
    "profile_forest",
    "profile_heatmap",
    "rank_ecdf",
    "rate_distributions",
    "rater_reliability_plot",
    "reliability",
    "residual_plot",
    "risk_coverage_plot",
    "scaling_plot",
    "self_report_panels",
    "self_report_plot",
    "suitability_plot",
    "superiority_heatmap",
    "weights_plot",
    "wright_map",
]
