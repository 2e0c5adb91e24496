"""Comparison of a layout with data before sampling: how much the data inform each latent."""
