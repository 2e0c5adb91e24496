"""Where the public names of `estimation` come from."""

from .collapse import point_collapse as point_collapse
from .estimate import estimate as estimate
from .estimates import Estimates as Estimates
from .horizons import HorizonTrend as HorizonTrend
from .horizons import horizon_trend as horizon_trend
from .horizons import time_horizons as time_horizons
