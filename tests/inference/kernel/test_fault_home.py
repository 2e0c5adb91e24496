"""A home folder that cannot be written: said so, and not that a prior is wrong."""

import os
import subprocess
import sys

import pytest
from helpers import TESTS

HOME = "/dev/null/home"  # below a file, where root cannot write either
ADVICE = (
    "before Python starts, set PYTENSOR_FLAGS=base_compiledir=FOLDER to a folder that can be "
    "written, or HOME"
)
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from helpers.fault_cases import NUTS, OPTIONS
from helpers.small_layouts import coin, counts
import measurement_layouts as ml
from measurement_layouts.inference.sampling import engine
from measurement_layouts.inference.kernel.tracing import UntraceableError

def refused(*_):
    raise UntraceableError("as if it had no machine code of our own")

def plainly():
    engine.Kernel = refused
    engine._samplers.clear()
    return ml.fit(*study, **NUTS)

study = coin(), counts([3], [9])
calls = (
    lambda: ml.check(*study),
    lambda: ml.fit(*study, **OPTIONS),
    lambda: ml.fit(*study, **NUTS),
    plainly,
)
for call in calls[: int(sys.argv[2])]:
    try:
        call()
        print("done")
    except Exception as error:
        print(type(error).__name__, error)
"""


def run(*typed, **environment):
    """Run Python without a home: its status, and the lines it wrote."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTENSOR_FLAGS"}
    without = kept | {"HOME": HOME, "MEASUREMENT_LAYOUTS_CACHE": ""} | environment
    done = subprocess.run(
        [sys.executable, *typed], env=without, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.slow
def test_what_compiles_says_so():
    status, told, _ = run("-c", CODE, str(TESTS), "4")
    assert status == 0
    assert len(told) == 4
    for line in told:
        assert line.startswith(f"FitError PyTensor cannot compile: its folder {HOME}/.pytensor/")
        assert line.endswith(f" cannot be written (Not a directory); {ADVICE}")


def test_the_command(tmp_path):
    code = tmp_path / "layout.py"
    code.write_text(
        "import measurement_layouts as ml\n"
        "coin = ml.Layout('coin', ml.Success('heads', ml.Capability('p', low=0, high=1)))\n"
    )
    tables = tmp_path / "rows.csv"
    tables.write_text("subject,item,outcome\nAnn,a,1\nAnn,b,0\n")
    items = tmp_path / "items.csv"
    items.write_text("item\na\nb\n")
    main = "import sys; from measurement_layouts.command import main; sys.exit(main())"
    typed = ["check", f"{code}:coin", f"--outcomes={tables}", f"--items={items}"]
    status, _, told = run("-c", main, *typed)
    assert status == 2
    assert told[-1].startswith(
        f"measurement-layouts: PyTensor cannot compile: its folder {HOME}/.pytensor/"
    )
    assert told[-1].endswith(ADVICE)
