"""Sampling of subjects: NUTS, grids, starts, repetitions and executors."""
