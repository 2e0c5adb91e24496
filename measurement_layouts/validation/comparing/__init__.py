"""Comparison of subjects: differences of success on the same items, and of profiles."""
