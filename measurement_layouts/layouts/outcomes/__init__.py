"""Outcomes of a layout: successes, graded answers and scores."""
