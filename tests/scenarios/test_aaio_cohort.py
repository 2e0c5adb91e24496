"""The embedded battery and cohort: our own, and the same for the same seed."""

import numpy as np
import pandas as pd

from measurement_layouts.scenarios import animal_ai_olympics as aaio


def test_the_cohort_has_the_size_of_the_real_one():
    cohort = aaio.simulated_cohort()
    assert cohort.evaluation.successes.shape == (68, 69)
    assert cohort.evaluation.subjects == list(cohort.profiles.index)
    assert (cohort.evaluation.trials == 1).all(axis=None)


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
