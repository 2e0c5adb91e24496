"""Subjects side by side: how their profiles differ, and how surely."""
