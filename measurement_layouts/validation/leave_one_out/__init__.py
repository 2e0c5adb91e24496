"""Leave-one-out: how well a layout predicts items or subjects that are left out."""
