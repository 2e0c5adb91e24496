"""What to do with a profile: accept items, route them, claim something, judge a job."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
