"""Checks before a fit, criticism after it, calibration, comparison and cross-validation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
