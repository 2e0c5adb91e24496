"""Settings that all tests share."""

from hypothesis import settings

# the same examples each time, and no clock: a busy machine must not fail a test
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("fast")
