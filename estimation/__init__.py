"""Where each subject stands on one latent, by likelihood, collapse, integration or sampling."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
