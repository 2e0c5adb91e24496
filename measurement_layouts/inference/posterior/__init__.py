"""Posteriors in memory or on disk: their arrays, elements, densities and diagnostics."""
