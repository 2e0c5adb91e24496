"""Where the public names of `decisions` come from."""

from .accept import Acceptance as Acceptance
from .accept import accept as accept
from .claim import Claim as Claim
from .claim import claim as claim
from .region import Region as Region
from .region import reliable_region as reliable_region
from .risk_coverage import RiskCoverage as RiskCoverage
from .risk_coverage import risk_coverage as risk_coverage
from .route import Routing as Routing
from .route import route as route
from .suitability import Suitability as Suitability
from .suitability import job as job
from .suitability import suitability as suitability
