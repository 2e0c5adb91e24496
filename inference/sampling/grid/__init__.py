"""Exact posteriors of layouts with one or two profile elements: integrated, not sampled."""
