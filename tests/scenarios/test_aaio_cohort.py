"""The embedded battery and cohort: our own, and the same for the same seed."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios import animal_ai_olympics as aaio


def test_the_battery_is_deterministic():
    pd.testing.assert_frame_equal(aaio.battery(4), aaio.battery(4))
    assert not aaio.battery(4).equals(aaio.battery(5))


def test_the_cohort_is_deterministic():
    one, again, other = (aaio.simulated_cohort(seed) for seed in (4, 4, 5))
    pd.testing.assert_frame_equal(one.evaluation.successes, again.evaluation.successes)
    pd.testing.assert_frame_equal(one.profiles, again.profiles)
    pd.testing.assert_frame_equal(one.profiles, other.profiles)
    assert not one.evaluation.successes.equals(other.evaluation.successes)


def test_the_cohort_has_the_size_of_the_real_one():
    cohort = aaio.simulated_cohort()
    assert cohort.evaluation.successes.shape == (68, 69)
    assert cohort.evaluation.subjects == list(cohort.profiles.index)
    assert (cohort.evaluation.trials == 1).all(axis=None)


def test_the_battery_crosses_sizes_and_sides():
    battery = aaio.battery()
    cells = battery.groupby(["size", "rewardBehind", "XPos"]).size()
    assert len(cells) == 16
    assert set(cells) == {4, 5}  # 69 = 16 * 4 + 5


@pytest.mark.parametrize("layout", [aaio.published_layout(), aaio.recommended_layout()])
def test_declared_ranges_hold_the_battery(layout):
    battery = aaio.battery()
    for feature in layout.meta_features:
        assert battery[feature.name].between(feature.low, feature.high).all(), feature.name


def test_nothing_real_is_copied(evaluation):
    """Sizes and sides are the study's levels; distances, outcomes and names are our own."""
    cohort = aaio.simulated_cohort().evaluation
    real, ours = evaluation.items, cohort.items
    assert list(real.columns) == list(ours.columns)
    assert not set(real.index) & set(ours.index)
    assert not set(evaluation.subjects) & set(cohort.subjects)
    shared = set(real["distance"].round(3)) & set(ours["distance"].round(3))
    assert shared <= {2, 15}  # whole numbers on our even grid
    assert not np.array_equal(cohort.successes.to_numpy(), evaluation.successes.to_numpy())


def test_the_true_profiles_are_the_published_means(published_tables):
    table = pd.read_csv(published_tables / "aaio_figure9.csv")
    truth = aaio.true_profiles()
    expected = table[[f"{name}_mean" for name in truth.columns]].to_numpy()
    np.testing.assert_array_equal(truth.to_numpy(), expected)


def test_every_true_profile_is_possible():
    truth = aaio.true_profiles()
    assert sorted(truth.columns) == sorted(node.name for node in aaio.published_layout().latents)
    for node in aaio.published_layout().latents:
        assert truth[node.name].between(node.range.low, node.range.high).all()
