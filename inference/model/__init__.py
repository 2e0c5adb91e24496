"""From a layout and its data to a PyMC model: features, priors, likelihood."""
