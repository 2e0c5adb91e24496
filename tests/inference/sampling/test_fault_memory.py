"""Memory that runs out for one subject, really: it is named, and all others are there."""

import multiprocessing
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from helpers.fault_cases import NUTS, cohort, layout

import measurement_layouts as ml
from measurement_layouts.inference.loop import Alone


def hungry():
    """Let a process run out of memory while it samples the second subject."""
    sample = Alone.sample

    def limited(self, name, *rest):
        if name == "s1":  # once all is loaded, this worker gets no more memory than it has
            sample(self, name, *rest)
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            has = pages * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (has, resource.RLIM_INFINITY))
        try:
            return sample(self, name, *rest)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)

    Alone.sample = limited


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
def test_the_subject_is_named_and_the_others_are_there(tmp_path):
    """If the memory takes the worker along, the same call continues with the store."""
    options = NUTS | {"draws": 20_000, "chains": 4}
    spawn, store, study = multiprocessing.get_context("spawn"), tmp_path / "store", cohort(4)
    alone = ml.fit(layout, study, subjects=["s0", "s2", "s3"], **options)
    with ProcessPoolExecutor(2, mp_context=spawn, initializer=hungry) as executor:
        try:
            fit = ml.fit(layout, study, store=store, executor=executor, **options)
        except ml.FitError as error:
            said = str(error)
            fit = ml.fit(layout, study, store=store, **options)
            assert fit.subjects == study.subjects
        else:
            assert list(fit.failures) == ["s1"]
            said = f"s1: {fit.failures['s1']}"
    assert "s1" in said
    assert "emory" in said or "executor failed" in said
    assert fit.posterior.sel(subject=alone.subjects).equals(alone.posterior)
