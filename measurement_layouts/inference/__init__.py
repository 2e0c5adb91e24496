"""Inference with PyMC: from a layout and outcomes to profiles and forecasts."""
