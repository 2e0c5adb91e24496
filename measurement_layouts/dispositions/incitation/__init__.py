"""Models incited to levels of a propensity: items, answers, and the options that are chosen."""
