"""Leave-one-out: how well a layout foresees the items that a subject has attempted."""
