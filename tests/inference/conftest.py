"""One layout, one evaluation and one fit that all tests of inference share."""

import numpy as np
import pandas as pd
import pytest
import small_layouts

import measurement_layouts as ml


@pytest.fixture
def rng():
    return np.random.default_rng(20261)


@pytest.fixture
def items():
    return small_layouts.battery()


@pytest.fixture(scope="session")
def animal_ai():
    return small_layouts.animal_ai()


@pytest.fixture(scope="session")
def cohort(animal_ai):
    """Six subjects; see `six_subjects`."""
    return six_subjects(animal_ai)


def six_subjects(layout):
    """Give outcomes of three with a profile, one on half the items, all right and all wrong."""
    items = small_layouts.battery()
    simulated = ml.simulate(layout, items, small_layouts.profiles(), seed=5)
    outcomes = simulated.successes.astype(float)
    outcomes.loc["Dot"] = outcomes.loc["Ann"].where(np.arange(len(items)) % 2 == 0)
    outcomes.loc["ace"], outcomes.loc["nil"] = 1, 0
    return ml.Evaluation.from_wide(outcomes, items)


SAMPLING = {
    "draws": 150,
    "tune": 200,
    "chains": 2,
    "seed": 1,
    "reruns": 0,  # with so few draws everybody would be sampled again
    "progressbar": False,
}


@pytest.fixture(scope="session")
def sampling():
    """Options of the shared fit."""
    return dict(SAMPLING)


@pytest.fixture(scope="session")
def fitted(animal_ai, cohort):
    """The one fit. Nobody may change it."""
    return ml.fit(animal_ai, cohort, **SAMPLING)


@pytest.fixture(scope="session")
def same():
    """Whether all draws and statistics of a subject are the same in two fits."""

    def bits(fit, subject):
        groups = (fit.posterior, fit.data["sample_stats"].to_dataset())
        return np.concatenate(
            [
                group[name].sel(subject=subject).to_numpy().ravel().astype(float)
                for group in groups
                for name in sorted(group.data_vars)
            ]
        )

    return lambda one, other, subject: np.array_equal(bits(one, subject), bits(other, subject))


@pytest.fixture
def tidy_figures():
    """Leave matplotlib as it was; a figure that changes its settings fails."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture
def new_items():
    """Other items for the same layout."""
    items = small_layouts.battery(count=7, seed=8)
    return items.set_axis(pd.Index([f"new-{number}" for number in range(7)]), axis=0)


@pytest.fixture(scope="session")
def saved(fitted, tmp_path_factory):
    """The shared fit in a file. Nobody may change it."""
    return fitted.save(tmp_path_factory.mktemp("fits") / "fit.nc")


@pytest.fixture
def damaged(saved, tmp_path):
    """A copy that a test may damage."""
    path = tmp_path / "damaged.nc"
    path.write_bytes(saved.read_bytes())
    return path
