"""Where the public names of `batteries` come from."""

from .curves.characteristic import characteristic_curves as characteristic_curves
from .demands.correlations import DemandCorrelations as DemandCorrelations
from .demands.correlations import demand_correlations as demand_correlations
from .demands.judgement import judge_benchmark as judge_benchmark
from .demands.profile import DemandProfile as DemandProfile
from .demands.profile import demand_profile as demand_profile
