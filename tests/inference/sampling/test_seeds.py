"""One seed, one result: whatever the workers, their number, the order and the company."""

import measurement_layouts as ml


def test_same_seed_gives_the_same_bits_where_subjects_are_sampled_again(
    animal_ai, cohort, sampling, same
):
    """With so few draws that is everybody."""
    options = {**sampling, "reruns": 1}
    alone = ml.fit(animal_ai, cohort, n_jobs=1, **options)
    other = ml.fit(animal_ai, cohort, n_jobs=2, **options)
    assert all(same(alone, other, subject) for subject in cohort.subjects)
    assert set(alone.attempts.values()) == {2}


def test_same_seed_gives_the_same_bits(animal_ai, cohort, fitted, sampling, same):
    """Whatever the number of threads, the order of subjects and who else is fitted."""
    again = ml.fit(animal_ai, cohort, n_jobs=1, **sampling)
    assert all(same(again, fitted, subject) for subject in cohort.subjects)
    turned = cohort.select(subjects=["nil", "Cyd", "Ann"])
    other = ml.fit(animal_ai, turned, n_jobs=3, **sampling)
    assert other.subjects == ["nil", "Cyd", "Ann"]
    assert all(same(other, fitted, subject) for subject in turned.subjects)
    alone = ml.fit(animal_ai, cohort, subjects="Bob", n_jobs=4, **sampling)  # chains on threads
    assert alone.subjects == ["Bob"]
    assert same(alone, fitted, "Bob")
