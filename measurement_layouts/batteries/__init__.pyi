"""Where the public names of `batteries` come from."""

from .adaptive.adaptive_test import AdaptiveTest as AdaptiveTest
from .adaptive.inspect_task import adaptive_task as adaptive_task
from .adaptive.stop import Stop as Stop
from .characteristic import CharacteristicCurves as CharacteristicCurves
from .characteristic import characteristic_curves as characteristic_curves
from .demands import DemandCorrelations as DemandCorrelations
from .demands import DemandProfile as DemandProfile
from .demands import demand_correlations as demand_correlations
from .demands import demand_profile as demand_profile
from .design.design import design as design
from .design.result import Design as Design
from .judgement import BenchmarkJudgement as BenchmarkJudgement
from .judgement import judge_benchmark as judge_benchmark
from .next_items import next_items as next_items
from .power import power as power
