"""Evaluations: items, and what each subject did on them; tables and logs they are read from."""
