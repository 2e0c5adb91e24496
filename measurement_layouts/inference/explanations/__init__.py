"""Explanations of one forecast: which part is likely to fail, and which changes would help."""
