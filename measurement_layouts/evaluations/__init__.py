"""Evaluations (items and the outcomes of subjects), and the tables and logs they are read from."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
