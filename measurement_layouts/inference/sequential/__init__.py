"""Posteriors of one subject that are updated after each answer."""
