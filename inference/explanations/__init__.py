"""Explanations of one forecast: which part is likely to fail, and what would change that."""
