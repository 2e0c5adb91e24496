"""What tests share: layouts, data, and oracles written by hand."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "measurement_layouts"
