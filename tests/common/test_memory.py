"""Free memory goes back to the operating system where the C library can give it."""

from pathlib import Path

import numpy as np
import pytest

from measurement_layouts.common import memory

STATUS = Path("/proc/self/status")
MIB = 2**20


def resident():
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return 1024 * int(line.split()[1])


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(memory.trimming() is None or not STATUS.exists(), reason="glibc on Linux trims")
def test_what_is_free_is_returned():
    """Small blocks that the C library keeps, under one that is still held."""
    memory.return_free_memory()
    before = resident()
    blocks = [np.ones(2_000) for _ in range(4_000)]  # 61 MiB
    held = blocks[-1]
    assert resident() - before > 50 * MIB
    blocks.clear()
    assert resident() - before > 30 * MIB  # the twin: nobody returns it by itself
    memory.return_free_memory()
    assert resident() - before < 10 * MIB
    assert held.sum() == 2_000
