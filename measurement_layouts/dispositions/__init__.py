"""Behavioural dispositions: choices of people and models in situations, and under incitation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
