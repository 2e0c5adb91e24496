"""Tests that adapt: what to ask next, and when it is enough."""
