"""What subjects share: joint fits, their tables and forecasts, and newcomers."""
