"""Fits that are stopped: no thread samples on, and the process ends as it should.

Each in a process of its own, which a thread that runs machine code at its end would kill.
"""

import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers import TESTS

from measurement_layouts.inference.loop import Problems, run_jobs
from measurement_layouts.inference.sampling.draws import Unit
from measurement_layouts.inference.sampling.stopping import DaemonThreads, stop_if_told

LONGEST = 5  # seconds to stop; all draws would take minutes

PRELUDE = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
sys.path.insert(0, sys.argv[1])
import nutpie
from helpers import small_layouts
import measurement_layouts as ml
from measurement_layouts.inference.sampling import engine
from measurement_layouts.inference.loop import Alone
from measurement_layouts.inference.kernel.tracing import UntraceableError

layout = small_layouts.animal_ai()
cohort = small_layouts.six_subjects(layout)
LONG = {**small_layouts.SAMPLING, "draws": 400_000}
begun, sample, told = threading.Event(), nutpie.sample, []

def noted(*arguments, **options):
    begun.set()
    return sample(*arguments, **options)

nutpie.sample = noted

def ctrl_c():
    begun.wait()
    time.sleep(0.2)
    told.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

def interrupt(**options):
    begun.clear()
    threading.Thread(target=ctrl_c, daemon=True).start()
    ml.fit(layout, cohort, **{**LONG, **options})

def sampling():  # threads of nutpie
    names = (open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task"))
    return sum(name.startswith("nutpie-worker") for name in names)

def stopped():
    time.sleep(0.05)  # the last thread's own end
    print(f"stopped {time.monotonic() - told.pop():.2f} {sampling()}", flush=True)
"""

CAUGHT = """
for options in ({"subjects": ["Ann"]}, {"n_jobs": 3}):
    try:
        interrupt(**options)
    except KeyboardInterrupt:
        stopped()
assert ml.fit(layout, cohort, **small_layouts.SAMPLING).subjects == cohort.subjects
"""

PLAIN = """
def refused(*_):
    raise UntraceableError("as if it had no machine code of our own")

engine.Kernel = refused
layout, cohort = small_layouts.coin(), small_layouts.counts([3], [9])  # soon compiled
try:
    interrupt(draws=1_000_000)
except KeyboardInterrupt:
    stopped()
assert ml.fit(layout, cohort, **small_layouts.SAMPLING).subjects == cohort.subjects
"""

RAISES = """
begun.clear()
real = Alone.sample

def broken(model, name, *rest):
    if name != "Bob":
        return real(model, name, *rest)
    begun.wait()
    told.append(time.monotonic())
    raise SystemExit("not this one")

Alone.sample = broken
try:
    ml.fit(layout, cohort, subjects=["Ann", "Bob", "Cyd"], n_jobs=3, **LONG)
except SystemExit as error:
    assert str(error) == "not this one"
    stopped()
"""

LEFT_ALONE = """
options = {"subjects": ["Ann"], **LONG}
threading.Thread(target=ml.fit, args=(layout, cohort), kwargs=options, daemon=True).start()
begun.wait()
time.sleep(0.2)
"""


def run(code):
    """Run code in a process of its own: its status, what it printed, and what it complained of."""
    typed = [sys.executable, "-c", PRELUDE + code, str(TESTS)]
    done = subprocess.run(typed, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout.split("\n")[:-1], done.stderr


@pytest.mark.parametrize(
    ("code", "times"),
    [
        pytest.param(
            CAUGHT + RAISES, 3, id="caught, then a subject that raises", marks=pytest.mark.slow
        ),
        pytest.param(PLAIN, 1, id="plain", marks=pytest.mark.slow),
    ],
)
def test_a_script_goes_on_and_ends_well(code, times):
    status, told, complaint = run(code)
    assert (status, complaint) == (0, "")
    assert len(told) == times
    for line in told:
        _, seconds, threads = line.split()
        assert int(threads) == 0
        assert float(seconds) < LONGEST


@pytest.mark.slow
def test_a_script_that_catches_nothing_is_interrupted():
    status, _, complaint = run("interrupt()")
    assert status == -signal.SIGINT
    assert complaint.endswith("KeyboardInterrupt\n")


@pytest.mark.slow
def test_a_script_that_ends_while_a_thread_samples():
    assert run(LEFT_ALONE) == (0, [], "")


@pytest.mark.parametrize("executor", [DaemonThreads(), ThreadPoolExecutor(3)])
def test_jobs_are_stopped_and_waited_for(executor):
    begun, ended = threading.Barrier(3), []

    class Model:
        def sample(self, name, data, unit, seed):
            begun.wait(timeout=10)
            try:
                while True:
                    stop_if_told()
            finally:
                ended.append(name)

    def interrupted(name):
        if name == "c":
            begun.wait(timeout=10)
            raise KeyboardInterrupt

    waiting = deque(Unit(row, 1, 0) for row in range(3))
    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(Problems(Model(), ["a", "b", "c"], interrupted), 1, executor, 3, waiting))
    assert sorted(ended) == ["a", "b"]
    assert executor.submit(str.upper, "a").result() == "A"
