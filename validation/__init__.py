"""Checks before a fit, criticism after it, calibration, comparison and cross-validation."""
