"""What batteries ask for: demand profiles, correlations, whether a benchmark keeps its claims."""
