"""Where the public names of `layouts` come from."""

from .latents import Bias as Bias
from .latents import Capability as Capability
from .latents import Effect as Effect
from .latents import Latent as Latent
from .latents import Noise as Noise
from .latents import Propensity as Propensity
from .latents import Slope as Slope
from .latents import Spread as Spread
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
