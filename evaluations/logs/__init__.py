"""From evaluation logs and table files to items and outcomes; what was changed is listed."""
