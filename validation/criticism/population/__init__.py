"""What a population of subjects misses, and what its demands explain."""
