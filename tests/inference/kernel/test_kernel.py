"""Machine code computes what the plain model computes, and its gradient.

Tolerance 1e-10 of the log-density, and of the largest slope: sums of some hundreds of terms of up
to about 100, each rounded to 1e-16 of itself. And what rounding takes of chances next to 0 and 1
(`tests/inference/kernel/test_guard_of_chances.py`).
"""

import numpy as np
import pytest
from helpers import hand_written
from helpers.densities import Fused, Plain, first_compiled, random_features, random_outcomes
from helpers.random_layouts import random_layouts
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import measurement_layouts as ml
from measurement_layouts import LayoutError
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.kernel.tracing import UntraceableError
from measurement_layouts.inference.model.features import read_training_features
from measurement_layouts.inference.sampling.engine import (
    Kernel,
)
from measurement_layouts.inference.sampling.engine import (
    Plain as PyMC,
)
from measurement_layouts.linking import (
    arrays,
    generalised_mean,
    logistic,
    mean_failure,
    mixture,
    product,
)

ROUNDING = 1e-10
CASES = ["labels", "bands", "guesses", "obstacles", "hierarchy"]


def agree(fused, plain, rng, points=5, spread=1.5):
    """Both at random points: value, gradient, and the latents that the point stands for."""
    for _ in range(points):
        point = fused.start + rng.normal(0, spread, len(fused.start))
        value, gradient, status = fused(point)
        wanted, slopes = plain(point)
        off = ROUNDING + plain.rounding(point)
        assert abs(value - wanted) <= off * max(1, abs(wanted))
        assert abs(gradient - slopes).max() <= off * max(1, abs(slopes).max())
        assert status == 0
        np.testing.assert_allclose(fused.latents(point), plain.latents(point), rtol=1e-12)


@pytest.mark.parametrize("name", ["animal_ai", "animal_ai_counts", *CASES])
def test_small_layouts(name, rng, animal_ai, items):
    """Labels, bands with infinite ends, guessing, obstacles, hierarchical priors, counts."""
    make = getattr(hand_written, name)
    case = make(rng) if name in CASES else make(rng, animal_ai, items)
    features = read_training_features(case.layout, case.evaluation)
    data = SubjectData.of(case.evaluation, "Ann")
    agree(Fused(case.layout, features, data), Plain(case.layout, features, data), rng)


def random_pair(layout, seed, items):
    rng = np.random.default_rng(seed)
    features = random_features(layout, rng, items)
    data = random_outcomes(layout, rng, items, most=1 + seed % 3)
    return Fused(layout, features, data), Plain(layout, features, data), rng


def hold_random_layout(layout, seed):
    """A layout that PyMC refuses or that has no machine code is held elsewhere."""
    try:
        agree(*random_pair(layout, seed, items=40), points=2, spread=1)
    except (LayoutError, UntraceableError):
        reject()


SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.slow
def test_random_layouts_and_batteries(more):
    """Twenty layouts, and forty with the option ``--inputs 2``, which `scripts/trust.sh` gives."""

    @settings(max_examples=20 * more, suppress_health_check=SLOW_IS_FINE)
    @given(layout=random_layouts(), seed=st.integers(0, 2**31))
    def hold(layout, seed):
        hold_random_layout(layout, seed)

    hold()


def skills(reduce, labels=("a", "b", "c", "d"), **options):
    ability = ml.Capability("ability", low=0, high=5, labels=labels)
    demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
    tired = ml.MetaFeature("tired", low=0, high=1)
    each = logistic(ability - demand * (1 + tired))
    return ml.Layout(
        "skills", ml.Success("ok", mixture(reduce(each), by=ml.Noise("noise"), toward=mean_failure))
    )


@pytest.mark.parametrize("items", [7, 900])
@pytest.mark.parametrize(
    "reduce",
    [
        lambda p: product(p, over="dimension"),
        lambda p: generalised_mean(p, power=0, over="dimension"),
        lambda p: generalised_mean(p, power=-2, over="dimension", weights=(1, 2, 3, 4)),
        lambda p: generalised_mean(p, power=-np.inf, over="dimension"),
    ],
)
def test_labelled_demands_in_tables_of_their_own(reduce, items):
    """Few levels per label: with many items the labels get tables, with few they do not."""
    layout = skills(reduce)
    rng = np.random.default_rng(items)
    features = {
        "demand": rng.integers(0, 6, (items, 4)).astype(float),
        "tired": rng.integers(0, 2, items).astype(float),
    }
    data = random_outcomes(layout, rng, items)
    fused = Fused(layout, features, data)
    tables = {part.dim for part in fused.kernel.domains.known if part.dim}
    assert tables == ({"dimension"} if items > 100 else set())
    agree(fused, Plain(layout, features, data), rng)


def test_a_small_change_of_an_outcome_is_noticed(rng, animal_ai, cohort):
    """Twin that must fail: one outcome more, and the two densities differ."""
    features = read_training_features(animal_ai, cohort)
    data = SubjectData.of(cohort, "Ann")
    other = SubjectData(data.successes.copy(), data.trials, data.constants)
    other.successes[3] = 1 - other.successes[3]
    with pytest.raises(AssertionError):
        agree(Fused(animal_ai, features, data), Plain(animal_ai, features, other), rng)


def test_far_points_have_finite_or_refused_densities(animal_ai, cohort):
    """At the rim of every range the value and gradient are finite; beyond numbers it is refused."""
    features = read_training_features(animal_ai, cohort)
    fused = Fused(animal_ai, features, SubjectData.of(cohort, "Ann"))
    for signs in np.ndindex(2, 2, 2, 2):
        value, gradient, status = fused(30.0 * (2 * np.array(signs) - 1))
        assert status == 0
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
    assert fused(np.full(4, np.nan))[2] in (3, 4)


@ml.linking.linking_function(range=(0, 1))
def arching(x):
    """Needs an operation that has no machine code: the sine, in PyTensor's and NumPy's words."""
    return 0.5 + 0.5 * np.sin(x) if isinstance(x, np.ndarray) else 0.5 + 0.5 * x.sin()


@pytest.mark.slow
def test_what_has_no_machine_code_is_compiled_by_pytensor(rng, animal_ai, cohort):
    skill = ml.Capability("skill", low=0, high=1)
    easy = ml.MetaFeature("rewardSize", low=-2, high=2)
    layout = ml.Layout("arch", ml.Success("ok", arching(skill + easy)))
    assert isinstance(first_compiled(layout, cohort), PyMC)
    assert isinstance(first_compiled(animal_ai, cohort), Kernel)
    fit = ml.fit(layout, cohort, subjects=["Ann"], draws=50, tune=100, seed=1, progressbar=False)
    assert fit.posterior["skill"].shape == (4, 50, 1)


@ml.linking.linking_function(range=(0, 1))
def hurdle(x, y):
    """Every elementwise operation that formulas can be written with."""
    clipped = arrays.minimum(arrays.maximum(x, -3.0), 3.0)
    curved = arrays.exp(-arrays.absolute(clipped)) * arrays.expm1(y) / (1 + arrays.softplus(x))
    rooted = (1 + clipped**2) ** 0.5 + arrays.log1p(y**1.5) - arrays.log(2 + y)
    chosen = arrays.where((x > 1) | arrays.isinf(y), curved, rooted)
    return arrays.sigmoid(chosen)


def test_every_operation_of_formulas(rng):
    layout = ml.Layout(
        "hurdles",
        ml.Success(
            "ok",
            hurdle(
                ml.Capability("spring", low=-4, high=4) - ml.MetaFeature("height", low=0, high=3),
                ml.Capability("grip", low=0.1, high=2) * ml.MetaFeature("length", low=0.5, high=1),
            ),
        ),
    )
    features = random_features(layout, rng, 60)
    data = random_outcomes(layout, rng, 60)
    agree(Fused(layout, features, data), Plain(layout, features, data), rng)
