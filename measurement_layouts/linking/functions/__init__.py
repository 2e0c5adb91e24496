"""The linking functions, one in each file."""
