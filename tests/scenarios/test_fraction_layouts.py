"""Fraction subtraction: formulas by hand, and the simulator."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import measurement_layouts as ml
from measurement_layouts.scenarios import fraction_subtraction as fractions

SKILLS = list(fractions.SKILLS)


def expected(needed, mastery, slips, guesses):
    knows = np.prod(np.where(needed, mastery, 1), axis=-1)
    return guesses + (1 - guesses) * (1 - slips) * knows


def answers(layout, profile):
    """Success rates over many trials of one simulated pupil."""
    trials = 200_000
    profiles = pd.DataFrame([profile], ["Ann"])
    found = ml.simulate(layout, fractions.battery(), profiles, seed=1, trials=trials)
    return (found.successes / found.trials).loc["Ann"].to_numpy()


@pytest.mark.parametrize("name", fractions.LAYOUTS)
def test_the_answer_by_hand(name):
    mastery = np.linspace(0.3, 0.95, 8)
    level = np.log(mastery / (1 - mastery))
    profile = {"slips": 0.1, "guesses": 0.2, "generalLevel": 0.0}
    profile |= {f"mastery[{skill}]": value for skill, value in zip(SKILLS, mastery, strict=True)}
    profile |= {f"skillLevel[{skill}]": value for skill, value in zip(SKILLS, level, strict=True)}
    found = answers(fractions.LAYOUTS[name](), profile)
    needed = fractions.battery().to_numpy()
    slack = 4 * np.sqrt(0.25 / 200_000)  # four standard errors of a rate
    assert found == pytest.approx(expected(needed, mastery, 0.1, 0.2), abs=slack)
    # the twin: with the skills in another order the comparison would fail
    assert found != pytest.approx(expected(needed, mastery[::-1], 0.1, 0.2), abs=slack)


def fake_fit(**draws):
    data = {
        name: (("draw", "chain", "subject", "skill"), np.swapaxes(values, 0, 1)[:, None])
        for name, values in draws.items()
    }
    names = ["Ann", "Bob"]
    posterior = xr.Dataset(data, {"subject": names})
    return SimpleNamespace(layout=fractions.nida_layout(), posterior=posterior, subjects=names)


def test_masteries_are_means_of_probabilities():
    """Two draws of log-odds 0 and 2: the mean of the probabilities, not of the log-odds."""
    levels = np.zeros((2, 2, 8))
    levels[0, 1] = 2
    found = fractions.masteries(fake_fit(skillLevel=levels))
    assert found.loc["Ann"].to_numpy() == pytest.approx((0.5 + 1 / (1 + np.exp(-2))) / 2)
    assert found.loc["Bob"].to_numpy() == pytest.approx(0.5)
    given = fractions.masteries(fake_fit(mastery=levels / 4))
    assert given.loc["Ann"].to_numpy() == pytest.approx(0.25)
