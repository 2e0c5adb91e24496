"""Subject characteristic curves: success over one demand, and the ability that shows."""
