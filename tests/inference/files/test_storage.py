"""Saved fits: whole or not at all, and equal when read back."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.linking import arrays


def raises(pattern):
    return pytest.raises(FitError, match=pattern)


# --- round trip ----------------------------------------------------------------------------------


def test_round_trip(saved, fitted, animal_ai, new_items):
    again = ml.load(saved, layout=animal_ai)
    assert again.layout == fitted.layout
    assert again.failures == fitted.failures
    assert again.subjects == fitted.subjects
    assert again.data.identical(fitted.data)
    for group in fitted.data.children:
        for name, variable in fitted.data[group].variables.items():
            kinds = {again.data[group][name].dtype.kind, variable.dtype.kind}
            assert len(kinds - {"O"}) == 1, (group, name)  # texts of any length are objects
    pd.testing.assert_frame_equal(again.profiles(), fitted.profiles())
    pd.testing.assert_frame_equal(again.diagnostics(), fitted.diagnostics())
    assert again.forecast(new_items).data.identical(fitted.forecast(new_items).data)


def test_long_reasons_odd_names_and_the_largest_seed(tmp_path):
    """Attributes over 64 kB, names beyond ASCII, 64 bits."""
    names = ["Zoë", "GPT-4o (мини)", "a/b:c", "x" * 300, *map(str, range(1500))]
    items = pd.DataFrame(index=["问题 1", "q/2"])
    outcomes = pd.DataFrame(1, index=names, columns=items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    posterior = {"p": np.full((len(names), 1, 4), 0.5)}
    failures = {name: "RuntimeError: " + "no finite start " * 9 for name in names[4:]}
    fit = small_layouts.crafted(small_layouts.coin(), evaluation, posterior, failures=failures)
    fit.data.attrs["seed"] = 2**63 - 1
    again = ml.load(fit.save(tmp_path / "odd.nc"))
    assert again.subjects == names[:4]
    assert again.failures == failures
    assert again.data.attrs["seed"] == 2**63 - 1
    assert again.data["observed_data"]["item"].to_numpy().tolist() == ["问题 1", "q/2"] * 4


@pytest.mark.slow
def test_a_saved_fit_is_read_without_pymc(saved):
    code = "import sys, measurement_layouts as ml; ml.load(sys.argv[1]).profiles()"
    ask = "sys.exit('pymc' in sys.modules)"
    command = [sys.executable, "-c", f"{code}; {ask}", str(saved)]
    assert subprocess.run(command, check=False).returncode == 0


# --- own linking functions -----------------------------------------------------------------------


@ml.linking.linking_function(range=(0, 1))
def survival(skill, demand):
    """Not one of ours."""
    return arrays.exp(-demand * (1 - skill))


def test_own_linking_function(tmp_path):
    demand = ml.MetaFeature("demand", low=0, high=2)
    skill = ml.Capability("skill", low=0, high=1)
    layout = ml.Layout("own", ml.Success("ok", survival(skill, demand)))
    items = pd.DataFrame({"demand": [0.0, 1.0]}, index=["a", "b"])
    outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    posterior = {"skill": np.linspace(0.1, 0.9, 8).reshape(1, 2, 4)}
    fit = small_layouts.crafted(layout, evaluation, posterior)
    path = fit.save(tmp_path / "own.nc")
    with raises(
        r"own.nc: its layout cannot be read \(linking function 'survival': it is not known"
    ):
        ml.load(path)
    again = ml.load(path, functions=[survival])
    assert again.layout == layout
    assert ml.load(path, layout=layout).layout == layout  # the layout brings its functions
    mean = again.forecast(items).data["mean"].sel(item="b").item()
    assert mean == pytest.approx(np.exp(-(1 - posterior["skill"])).mean(), abs=1e-12)

    @ml.linking.linking_function(range=(0, 1))
    def other(skill, demand):
        return arrays.exp(-2 * demand * (1 - skill))

    other.name = "survival"
    with raises("its source differs from that of the function"):
        ml.load(path, functions=[other])


# --- writing -------------------------------------------------------------------------------------


def test_folder_that_does_not_exist(fitted, tmp_path):
    with raises("cannot write into .*nowhere: No such file or directory; choose or make another"):
        fitted.save(tmp_path / "nowhere" / "fit.nc")
