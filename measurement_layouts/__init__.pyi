"""Where the names of the front door come from."""

from . import annotation as annotation
from . import batteries as batteries
from . import decisions as decisions
from . import dispositions as dispositions
from . import estimation as estimation
from . import evaluations as evaluations
from . import linking as linking
from . import plots as plots
from . import reports as reports
from . import validation as validation
from .batteries.adaptive.asking import AdaptiveTest as AdaptiveTest
from .common.errors import DataError as DataError
from .common.errors import FitError as FitError
from .evaluations.evaluation import Evaluation as Evaluation
from .inference.explanations.explanation import Explanation as Explanation
from .inference.fit import Fit as Fit
from .inference.fit import load as load
from .inference.fitting import fit as fit
from .inference.forecasts.forecasting import Forecast as Forecast
from .inference.model.pymc_model import to_pymc as to_pymc
from .inference.simulate import simulate as simulate
from .layouts import Bias as Bias
from .layouts import Capability as Capability
from .layouts import Category as Category
from .layouts import Derived as Derived
from .layouts import Graded as Graded
from .layouts import Layout as Layout
from .layouts import Measured as Measured
from .layouts import MetaFeature as MetaFeature
from .layouts import Noise as Noise
from .layouts import Prior as Prior
from .layouts import Propensity as Propensity
from .layouts import Score as Score
from .layouts import Slope as Slope
from .layouts import Spread as Spread
from .layouts import Success as Success
from .layouts import Unseen as Unseen
from .linking import LayoutError as LayoutError
from .reports.description.describe import describe as describe
from .reports.description.sentences import Description as Description
from .reports.report import report as report
from .validation.checking.check import check as check
from .validation.checking.result import Check as Check
from .validation.prediction.score import score_forecast as score_forecast

__version__: str
