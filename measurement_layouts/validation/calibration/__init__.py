"""Simulation-based calibration: whether intervals contain known profiles as often as stated."""
