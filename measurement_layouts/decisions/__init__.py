"""Decisions based on profiles: accepting and routing items, making claims, judging jobs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
