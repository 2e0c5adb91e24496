"""PyMC models of a layout and its data: features, priors and likelihood."""
