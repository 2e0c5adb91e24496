"""Reports: a fit on one page to hand on, as HTML or Markdown, and its tables as CSV."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
