"""Where the public names of `validation` come from."""

from .calibration.result import SimulationBasedCalibration as SimulationBasedCalibration
from .calibration.run import sbc as sbc
from .calibration.truth import draw_truth as draw_truth
from .comparison import ProfileComparison as ProfileComparison
from .comparison import compare_profiles as compare_profiles
from .criticism.criticise import Criticism as Criticism
from .criticism.criticise import criticise as criticise
from .leave_one_out.loo import LayoutComparison as LayoutComparison
from .leave_one_out.loo import LeaveOneOut as LeaveOneOut
from .leave_one_out.loo import compare_layouts as compare_layouts
from .leave_one_out.loo import loo as loo
from .prediction.assessor import Assessor as Assessor
from .prediction.baselines import Aggregate as Aggregate
from .prediction.baselines import Algebraic as Algebraic
from .prediction.baselines import Classifier as Classifier
from .prediction.baselines import Regression as Regression
from .prediction.cross_validate import cross_validate as cross_validate
from .prediction.forests import Forest as Forest
from .prediction.layouts import ChosenLayout as ChosenLayout
from .prediction.layouts import FittedLayout as FittedLayout
from .prediction.result import CrossValidation as CrossValidation
from .prediction.splits import Cells as Cells
from .prediction.splits import Given as Given
from .prediction.splits import Groups as Groups
from .prediction.splits import Items as Items
from .prediction.splits import masked as masked
