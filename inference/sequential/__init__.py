"""One subject's posterior, carried on answer by answer."""
