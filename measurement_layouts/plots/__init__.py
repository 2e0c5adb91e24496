"""Figures of fits, forecasts and scores: each takes a result and returns matplotlib axes.

Figures do not compute results; these come from the other packages. Each function makes a new
figure unless axes are given as ``ax=``. It does not change matplotlib's settings.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
