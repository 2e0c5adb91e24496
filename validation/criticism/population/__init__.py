"""What a layout with a population misses: persons, items, groups of subjects, pairs of items."""
