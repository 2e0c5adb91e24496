"""What all tests share: settings, one small layout and one fit of it."""

import gc
import os

# PyTensor notes for each node where it was made, which is a tenth of the time of small models; the
# setting is read when it is first imported, which the imports below do
os.environ.setdefault("PYTENSOR_FLAGS", "traceback__limit=0")
import arviz_base  # noqa: F401 - imported later, its lazy loader reads the source of all that is loaded
import numpy as np
import pandas as pd
import pytest
from helpers import shared_layouts, small_judgments, small_layouts
from helpers.long_files import LONGEST
from hypothesis import settings

import measurement_layouts as ml

gc.disable()  # while tests are collected: what they import stays to the end
# the same examples each time, and no clock: a busy machine must not fail a test
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("fast")


def pytest_addoption(parser):
    parser.addoption(
        "--simulations", type=int, default=50, help="of each layout's calibration (50)"
    )
    parser.addoption(
        "--inputs", type=int, default=1, help="times as many random inputs of the slow tests (1)"
    )


def _longest_first(item, slow):
    """Long files in their order, then notebooks, other files with slow tests, and the rest."""
    if item.path.suffix == ".ipynb":
        return len(LONGEST)
    name = item.path.stem
    return LONGEST.index(name) if name in LONGEST else len(LONGEST) + 1 + (item.path not in slow)


@pytest.hookimpl(tryfirst=True)  # before -m picks
def pytest_collection_modifyitems(items):
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: _longest_first(item, slow))
    for item in items:
        if item.path.suffix == ".ipynb":  # they run beside the slow tests
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Modules and tests stay to the end: no search for garbage needs to visit them again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared_data():
    """Twelve subjects with a covariate on eight items with tasks and lengths."""
    return shared_layouts.simulated(shared_layouts.explanatory(), 12, 8)[0]


@pytest.fixture(scope="session")
def shared_fit(shared_data):
    """A joint fit of them."""
    options = {"draws": 200, "tune": 300, "chains": 2, "seed": 1, "progressbar": False}
    return ml.fit(shared_layouts.explanatory(), shared_data, **options)


@pytest.fixture(scope="session")
def simulations(request):
    """How many simulations a calibration takes."""
    return request.config.getoption("--simulations")


@pytest.fixture(scope="session")
def more(request):
    """How many times as many random inputs a slow test tries as in continuous integration."""
    return request.config.getoption("--inputs")


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
    return small_layouts.six_subjects(animal_ai)


@pytest.fixture(scope="session")
def sampling():
    """Options of the shared fit."""
    return dict(small_layouts.SAMPLING)


@pytest.fixture(scope="session")
def fitted(animal_ai, cohort):
    """The one fit. Nobody may change it."""
    return ml.fit(animal_ai, cohort, **small_layouts.SAMPLING)


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


@pytest.fixture
def judgments():
    """The small study that tests of dispositions share."""
    return small_judgments.judgments()
