"""Declaring a layout is light: it needs no sampler, no tables and no plots."""

import subprocess
import sys

HEAVY = ("arviz", "matplotlib", "nutpie", "pandas", "pymc", "pytensor", "xarray")
DECLARE = f"""
import sys, time
begun = time.perf_counter()
import measurement_layouts as ml
from measurement_layouts.linking import evaluate, logistic, mixture
sight = ml.Capability("sight", low=0, high=2, unit="m")
size = ml.MetaFeature("size", low=0, high=2, unit="m")
noise = ml.Noise("noise")
layout = ml.Layout("looking", ml.Success("found", mixture(logistic(sight - size), by=noise)))
assert ml.Layout.from_dict(layout.to_dict()).fingerprint == layout.fingerprint
assert layout.to_mermaid() and layout.to_graphviz() and layout.to_latex()
known = {{"sight": 1.0, "size": 1.0, "noise": 0.5, "meanFailure": 0.5}}
assert evaluate(layout.outcome, known) == 0.5
seconds = time.perf_counter() - begun
print(sorted(set(sys.modules) & set({HEAVY!r})), seconds)
"""


def test_declaring_checking_and_drawing_imports_nothing_heavy():
    """Measured 0.6 s alone; the limit leaves room for a busy machine."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", DECLARE], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    heavy, seconds = run.stdout.rsplit(" ", 1)
    assert heavy == "[]"
    assert float(seconds) < 10
