"""Public names of `validation`, with the files that define them."""

from .calibration.result import SimulationBasedCalibration as SimulationBasedCalibration
from .calibration.run import draw_truth as draw_truth
from .calibration.run import sbc as sbc
from .comparing.result import Comparison as Comparison
from .criticism.criticise import Criticism as Criticism
from .criticism.criticise import criticise as criticise
from .criticism.explained import explained as explained
from .leave_one_out.compare import compare_layouts as compare_layouts
from .leave_one_out.loo import loo as loo
from .prediction.algebraic import Algebraic as Algebraic
from .prediction.assessor import Assessor as Assessor
from .prediction.chosen import ChosenLayout as ChosenLayout
from .prediction.cross_validate import cross_validate as cross_validate
from .prediction.estimators import Estimator as Estimator
from .prediction.importance import permutation_importance as permutation_importance
from .prediction.layouts import FittedLayout as FittedLayout
from .prediction.result import CrossValidation as CrossValidation
from .prediction.shuffled import Shuffled as Shuffled
from .prediction.splits import Cells as Cells
from .prediction.splits import Given as Given
from .prediction.splits import Groups as Groups
from .prediction.splits import Items as Items
from .prediction.splits import Split as Split
from .prediction.splits import Subjects as Subjects
from .prediction.splits import masked as masked
