"""How subjects are sampled: NUTS, grids, starts, retries and executors."""
