"""Cross-validation: how well layouts and other methods predict held-out outcomes."""
