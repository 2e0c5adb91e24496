"""Exact posteriors of layouts with one or two profile elements, by numerical integration."""
