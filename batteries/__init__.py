"""What a battery of items asks: demand profiles, characteristic curves, grids; no fit is needed."""
