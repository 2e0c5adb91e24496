"""Fits on disk: one file per fit, or a folder to which subjects are written one by one."""
