"""Two processes that write one store: the second is refused while the first is alive."""

import subprocess
import sys
import time

from helpers import TESTS
from helpers.fault_cases import OPTIONS, cohort, exactly, layout, same_draws

import measurement_layouts as ml
from measurement_layouts.common.errors import StoreError

FIRST = """
import sys, time
sys.path.insert(0, sys.argv[1])
from helpers import fault_cases
import measurement_layouts as ml
from measurement_layouts.inference.loop import Alone

sample = Alone.sample

def slowly(model, name, *rest):
    if name == "s2":
        print("begun", flush=True)
        time.sleep(600)
    return sample(model, name, *rest)

Alone.sample = slowly
options = fault_cases.OPTIONS | {"n_jobs": 1}
ml.fit(fault_cases.layout, fault_cases.cohort(4), store=sys.argv[2], **options)
"""


def test_the_second_is_refused_and_goes_on_once_the_first_is_dead(tmp_path):
    store, wanted = tmp_path / "store", cohort(4)
    command = [sys.executable, "-c", FIRST, str(TESTS), str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout.readline() == "begun\n"
            while not (store / "unit-1-1-0.npz").exists():  # written while the next is begun
                time.sleep(0.01)
            before = sorted(store.rglob("*"))
            with exactly(
                StoreError,
                f"{store} is in use, by another process or by an outer call in this one; wait "
                "until that has finished, or give another store",
            ):
                ml.fit(layout, wanted, store=store, **OPTIONS)
            assert sorted(store.rglob("*")) == before
            assert ml.load(store).subjects == ["s0", "s1"]  # anybody may read
        finally:
            first.kill()
    fit = ml.fit(layout, wanted, store=store, **OPTIONS)
    assert same_draws(fit, ml.fit(layout, wanted, **OPTIONS))
