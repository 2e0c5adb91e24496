"""Memory that runs out for one subject, really: it is named, and all others are there."""

import resource
import sys
from pathlib import Path

import joblib
import pytest
from helpers.fault_cases import NUTS, cohort, layout

import measurement_layouts as ml
from measurement_layouts.inference import fitting


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
@pytest.mark.trust("faults", "out of memory in one subject")
def test_the_subject_is_named_and_the_others_are_there(monkeypatch):
    sample = fitting.sample_subject

    def hungry(battery, subject, *rest, **how):
        if subject == "s1":  # once all is loaded, this worker gets no more memory than it has
            sample(battery, subject, *rest, **how)
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            has = pages * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (has, resource.RLIM_INFINITY))
        try:
            return sample(battery, subject, *rest, **how)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)

    monkeypatch.setattr(fitting, "sample_subject", hungry)
    options = NUTS | {"draws": 20_000, "chains": 4}
    with joblib.parallel_config(backend="loky", n_jobs=2):
        fit = ml.fit(layout, cohort(4), **options)
    assert list(fit.failures) == ["s1"]
    assert "emory" in fit.failures["s1"] or "worker died" in fit.failures["s1"]
    assert fit.subjects == ["s0", "s2", "s3"]
    monkeypatch.undo()
    alone = ml.fit(layout, cohort(4), subjects=["s0", "s2", "s3"], **options)
    assert fit.posterior.equals(alone.posterior)
