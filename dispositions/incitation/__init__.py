"""Models incited to levels of a propensity: their items, what they choose, and how it is read."""
