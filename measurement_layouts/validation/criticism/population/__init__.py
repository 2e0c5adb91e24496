"""Criticism of a layout with a population: subjects, items, groups of subjects, pairs of items."""
