"""Estimates of each subject's latents by likelihood, point collapse, integration or sampling."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
