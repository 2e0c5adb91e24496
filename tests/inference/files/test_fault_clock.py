"""A clock that goes backwards, and files from the future: no result depends on either."""

import os
import time

import pytest
from helpers.fault_cases import OPTIONS, cohort, layout, same_draws

import measurement_layouts as ml
from measurement_layouts.common import progress
from measurement_layouts.inference.loop import Alone

TIME_OF_DAY = ("time", "time_ns")


class Falling:
    """A clock that is three minutes earlier each time it is read."""

    def __init__(self, start, whole):
        self.now, self.whole = start, whole

    def __call__(self):
        self.now -= 180
        return int(self.now * 1e9) if self.whole else self.now


def turn(monkeypatch, names):
    """Let clocks go backwards, also to below zero."""
    for name in names:
        monkeypatch.setattr(time, name, Falling(1000.0, name.endswith("_ns")))
    first, second = time.time(), time.time()
    assert second < first
    monkeypatch.setattr(progress, "_is_watched", lambda console: True)


def test_a_fit_that_is_stopped_and_resumed(tmp_path, monkeypatch, capsys):
    turn(monkeypatch, TIME_OF_DAY)
    store, wanted = tmp_path / "store", cohort(5)
    options = OPTIONS | {"progressbar": True, "n_jobs": 1}
    sample = Alone.sample

    def interrupted(model, name, *rest):
        if name == "s2":
            raise KeyboardInterrupt
        return sample(model, name, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Alone, "sample", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ml.fit(layout, wanted, store=store, **options)
    assert ml.load(store).subjects == ["s0", "s1"]
    for file in store.rglob("*"):
        os.utime(file, (4e9, 4e9))  # in 2096
    fit = ml.fit(layout, wanted, store=store, **options)
    saved = ml.load(fit.save(tmp_path / "fit.nc"))
    assert "5/5" in capsys.readouterr().err
    monkeypatch.undo()
    once = ml.fit(layout, wanted, **OPTIONS)
    assert same_draws(fit, once)
    assert same_draws(saved, once)
