"""Where the public names of `estimation` come from."""

from .collapse import collapse_peak as collapse_peak
from .collapse import point_collapse as point_collapse
from .estimate import Estimates as Estimates
from .estimate import estimate as estimate
from .horizons import HorizonTrend as HorizonTrend
from .horizons import horizon_trend as horizon_trend
from .horizons import time_horizons as time_horizons
from .raters import RaterModel as RaterModel
from .raters import rater_model as rater_model
