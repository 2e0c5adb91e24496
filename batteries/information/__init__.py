"""What items are expected to tell about a profile; no outcome is needed."""
