"""General scales of cognitive demands: what items ask of whoever answers them, level by level."""
