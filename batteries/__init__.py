"""What a battery of items asks: demand profiles, characteristic curves, grids; no fit is needed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
