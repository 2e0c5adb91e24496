"""A fit that is stopped or killed in another process goes on to the same bits."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.command import main

NUTS = ["--draws", "200", "--tune", "500", "--chains", "2", "--jobs", "1"]
SUBJECTS = 9


@pytest.fixture(scope="module")
def command(data):
    """What to type after the program's name, without --out."""
    rows = pd.read_csv(data / "outcomes.csv", dtype=str)
    several = [rows.assign(subject=rows["subject"] + f" {turn}") for turn in range(SUBJECTS // 3)]
    pd.concat(several).to_csv(data / "several.csv", index=False)
    read = ["--items", str(data / "items.csv"), "--outcomes", str(data / "several.csv")]
    return ["fit", f"{data / 'layout.py'}:noisy", *read, *NUTS]


@pytest.fixture(scope="module")
def once(command, tmp_path_factory):
    """The fit that nobody stopped."""
    out = tmp_path_factory.mktemp("once")
    assert main([*command, "--out", str(out)]) in (0, 1)
    return ml.load(out / "fit.nc")


CODE = """
import signal, sys
from measurement_layouts.command import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
sys.exit(main())
"""


def finished(out):
    """Count the subjects with draws in the store."""
    return len({path.name.split("-")[1] for path in (out / "store").glob("unit-*.npz")})


def samples(process):
    """Whether threads of a process sample."""
    names = Path(f"/proc/{process}/task").glob("*/comm")
    return any(name.read_text().startswith("nutpie-worker") for name in names)


def test_a_fit_that_samples_stops(command, tmp_path):
    """As long as it would sample, and although no subject is finished."""
    again = tmp_path / "again"
    long = ["1000000" if word == "200" else word for word in command]
    typed = [sys.executable, "-c", CODE, *long, "--out", again]
    with subprocess.Popen(typed, stderr=subprocess.PIPE, text=True) as stopped:
        while not samples(stopped.pid) and stopped.poll() is None:
            time.sleep(0.01)
        start = time.monotonic()
        stopped.send_signal(signal.SIGINT)
        _, told = stopped.communicate(timeout=60)
        assert time.monotonic() - start < 10
    assert stopped.returncode == 130
    assert told.splitlines()[-2:] == [
        f"{again} keeps what is done; the same command, without --overwrite, goes on",
        "measurement-layouts: stopped",
    ]


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_fit_goes_on(how, status, command, once, tmp_path):
    again = tmp_path / "again"
    typed = [sys.executable, "-c", CODE, *command, "--out", again]
    stopped = subprocess.Popen(typed, stderr=subprocess.PIPE, text=True)
    while finished(again) < 2 and stopped.poll() is None:
        time.sleep(0.01)
    stopped.send_signal(how)
    _, told = stopped.communicate(timeout=60)
    assert stopped.returncode == status
    assert "Traceback" not in told
    done = finished(again)
    assert 2 <= done < SUBJECTS
    assert not (again / "fit.nc").exists()
    if how == signal.SIGINT:
        assert f"{again} keeps what is done" in told
    assert main([*command, "--out", str(again)]) in (0, 1)
    assert not (again / "store").exists()
    resumed = ml.load(again / "fit.nc")
    assert resumed.subjects == once.subjects
    for name, draws in once.posterior.items():
        np.testing.assert_array_equal(draws.to_numpy(), resumed.posterior[name].to_numpy())
