"""Analysis and design of batteries of items: demands, curves, grids, and items to run next."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
