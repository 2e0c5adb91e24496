"""Fits on disk: one file each, or a folder written subject by subject."""
