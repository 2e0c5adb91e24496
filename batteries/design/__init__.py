"""Batteries designed: the items that are expected to leave the least uncertainty."""
