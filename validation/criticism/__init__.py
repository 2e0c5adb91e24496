"""What a layout misses: how much of what is left over other properties of the items explain."""
