"""Formulas by hand, and what calls machine code, lie beside the tests of other rooms."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]
sys.path += [
    str(TESTS / room) for room in ("inference", "inference/kernel", "linking", "scenarios")
]
