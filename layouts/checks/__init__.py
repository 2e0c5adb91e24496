"""Checks of a layout that need neither data nor a sampler."""
