"""Whether one seed gives one set of draws, however a fit is computed and however it was stopped."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import processes

BEGUN = 4
"""Files in a store at which a fit is stopped."""
SMALL = 1_000
"""Bytes of a file at which the disk is full."""


def that_differ(seed: int) -> list[float]:
    """Count the ways to compute a fit whose draws differ from those of the first one.

    Threads, order, other subjects and another process; a store whose process was killed, was
    interrupted, or could not write.
    """
    first, jointly = processes.digests(seed), processes.digests(seed, joint=True)
    names = list(dict.fromkeys(name.split()[1] for name in first))
    found = {
        "one thread": processes.digests(seed, n_jobs=1),
        "another order": processes.digests(seed, names[::-1]),
        "fewer subjects": processes.digests(seed, names[2:5]),
        "another process": processes.run("digests", seed=seed),
        "jointly, one thread": processes.digests(seed, joint=True, n_jobs=1),
    }
    for joint in (False, True):
        kind = "jointly, " * joint
        for name, stop in (("killed", signal.SIGKILL), ("Ctrl-C", signal.SIGINT)):
            with tempfile.TemporaryDirectory() as folder:
                _stopped(Path(folder) / "store", seed, joint, stop)
                store = f"{folder}/store"
                found[kind + name] = processes.digests(seed, joint=joint, store=store)
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/store"
        with contextlib.suppress(RuntimeError):
            processes.run("digests", seed=seed, store=store, bytes_of_a_file=SMALL)
        found["full disk"] = processes.digests(seed, store=store)
    wanted = first | jointly
    other = {way: own for way, own in found.items() if not own.items() <= wanted.items()}
    print(f"of {len(found)} ways differ: {', '.join(other) or 'none'}", file=sys.stderr)
    return [float(len(other))]


def _stopped(store: Path, seed: int, joint: bool, stop: signal.Signals) -> None:
    """Fit in another process, and stop it when the store has some files."""
    arguments = json.dumps({"seed": seed, "joint": joint, "store": str(store)})
    command = [sys.executable, processes.__file__, "digests", arguments, os.devnull]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as child:
        while child.poll() is None and len(list(store.rglob("*"))) < BEGUN:
            time.sleep(0.01)
        child.send_signal(stop)
