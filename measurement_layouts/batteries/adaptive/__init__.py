"""Adaptive tests: which item to ask next, and when to stop."""
