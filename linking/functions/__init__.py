"""The linking functions, one a file."""
