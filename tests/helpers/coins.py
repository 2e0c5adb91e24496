"""Coins with known chances: what each subject was seen to throw."""

PASSED = {"Ann": (39, 2), "Bob": (30, 0), "Cy": (38, 3), "Dee": (20, 21)}
"""Successes and failures; of at most 41 attempts, one at each item."""
