"""Where the public names of `layouts` come from."""

from .latent_kinds import Bias as Bias
from .latent_kinds import Capability as Capability
from .latent_kinds import Effect as Effect
from .latent_kinds import Noise as Noise
from .latent_kinds import Propensity as Propensity
from .latent_kinds import Slope as Slope
from .latent_kinds import Spread as Spread
from .latents import Latent as Latent
from .layout import Layout as Layout
from .nodes import Derived as Derived
from .nodes import MetaFeature as MetaFeature
from .nodes import Node as Node
from .outcomes.measured import Measured as Measured
from .outcomes.ordered import Graded as Graded
from .outcomes.ordered import Score as Score
from .outcomes.steps import Success as Success
from .outcomes.unseen import Unseen as Unseen
from .plates import Category as Category
from .priors import Prior as Prior
