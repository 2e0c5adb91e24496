"""Reading of items and outcomes from evaluation logs and table files, with notes on changes."""
