"""Simulation-based calibration: whether posteriors hold known profiles as often as they say."""
