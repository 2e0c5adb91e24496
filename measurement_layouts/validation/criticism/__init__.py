"""Criticism of a layout: how much of its residuals other properties of the items explain."""
