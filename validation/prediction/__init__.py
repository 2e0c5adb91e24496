"""One cross-validation: what predicts who succeeds on outcomes held out, and how well."""
