"""One seed, one result: whatever the workers, their number, the order and the company."""

from helpers import pretend

import measurement_layouts as ml
from measurement_layouts.common.seeds import subject_seed


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


def test_another_seed_gives_others(animal_ai, cohort, fitted, sampling, same):
    """Twin that must fail; so do two fits without a seed."""
    other = ml.fit(animal_ai, cohort, subjects=["Ann"], **{**sampling, "seed": 2})
    assert not same(other, fitted, "Ann")
    free = [
        ml.fit(animal_ai, cohort, subjects=["Ann"], **{**sampling, "seed": None}) for _ in range(2)
    ]
    assert not same(*free, "Ann")
    again = {**sampling, "seed": int(free[0].data.attrs["seed"])}
    assert same(ml.fit(animal_ai, cohort, subjects=["Ann"], **again), free[0], "Ann")


def test_seeds_depend_on_seed_and_name():
    seeds = {subject_seed(seed, name) for seed in range(30) for name in map(str, range(30))}
    assert len(seeds) == 900
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_each_attempt_of_a_subject_has_a_stream_of_its_own(
    animal_ai, cohort, sampling, monkeypatch
):
    """It is told by the seed, the subject's name and the attempt, whoever else is fitted."""

    def seen(**options):
        seeds = []

        def draw(battery, data, options, seed, attempt, cores, starts):
            seeds.append(seed)
            found = pretend.draw(battery, data, options, seed)
            found.statistics["diverging"][0, 0] = True  # sampled again, all of them
            return found

        pretend.install(monkeypatch, draw)
        ml.fit(animal_ai, cohort, **{**sampling, "reruns": 2} | options)
        return seeds

    everybody = seen(n_jobs=3)
    assert len(set(everybody)) == len(everybody) == 3 * len(cohort.subjects)
    assert set(seen(subjects=["Cyd", "Ann"], n_jobs=1)) < set(everybody)
    assert not set(seen(seed=2)) & set(everybody)
