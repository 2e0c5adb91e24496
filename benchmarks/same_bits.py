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


def that_differ(seed: int) -> list[float]:
    """Count the ways to compute a fit whose draws differ from those of the first one.

    Threads, order, other subjects and another process; a store whose process was killed or
    interrupted when half was written, or could not write its largest file.
    """
    by_way, wanted = {}, {}
    for joint in (False, True):
        kind = "jointly, " * joint
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            first = processes.digests(seed, joint=joint, store=str(store))
            sizes = _sizes(store)
        by_way[f"{kind}one thread"] = processes.digests(seed, joint=joint, n_jobs=1)
        by_way[f"{kind}another process"] = processes.run("digests", seed=seed, joint=joint)
        limit = max(sizes) - 1
        stops = {"killed": signal.SIGKILL, "Ctrl-C": signal.SIGINT, "full disk": None}
        for name, stop in stops.items():
            with tempfile.TemporaryDirectory() as folder:
                store = Path(folder) / "store"
                if stop is None:
                    with contextlib.suppress(RuntimeError):
                        full = {"store": str(store), "bytes_of_a_file": limit}
                        processes.run("digests", seed=seed, joint=joint, **full)
                else:
                    _stopped(store, seed, joint, stop, sum(sizes) / 2)
                by_way[kind + name] = processes.digests(seed, joint=joint, store=str(store))
        wanted |= first
        if not joint:
            names = list(dict.fromkeys(name.split()[1] for name in first))
            by_way["another order"] = processes.digests(seed, names[::-1])
            by_way["fewer subjects"] = processes.digests(seed, names[2:5])
    different = [way for way, hashes in by_way.items() if not hashes.items() <= wanted.items()]
    print(f"of {len(by_way)} ways differ: {', '.join(different) or 'none'}", file=sys.stderr)
    return [float(len(different))]


def _stopped(store: Path, seed: int, joint: bool, stop: signal.Signals, most: float) -> None:
    """Fit in another process, and stop it when the store has so many bytes."""
    given = {"seed": seed, "joint": joint, "store": str(store), "n_jobs": 1}
    command = [sys.executable, processes.__file__, "digests", json.dumps(given), os.devnull]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as child:
        while child.poll() is None and sum(_sizes(store)) < most:
            time.sleep(0.01)
        child.send_signal(stop)


def _sizes(store: Path) -> list[int]:
    """List the bytes of a store's files, which may go meanwhile."""
    sizes = []
    for path in store.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size if path.is_file() else 0)
    return sizes
