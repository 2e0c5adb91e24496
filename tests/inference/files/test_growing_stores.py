"""Stores that are given more items or more outcomes than they were begun with."""

import numpy as np
import pandas as pd
import pytest
from helpers import folders, pretend

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference import fitting
from measurement_layouts.inference.files import hierarchy


def of_outcomes(battery, data, options, seed, cores=1):
    """Draw numbers that depend on the outcomes, too."""
    own = [int(np.random.default_rng(seed).integers(2**31))]
    own += [int(counts @ np.arange(1, len(counts) + 1)) for counts in (data.successes, data.trials)]
    return pretend.draw(battery, data, options, own)


@pytest.fixture
def sampled(monkeypatch):
    """Who is sampled from here on, of draws that depend on the outcomes."""
    pretend.install(monkeypatch, of_outcomes)
    names, real = [], fitting.sample_subject

    def noted(battery, subject, data, **options):
        names.append(subject)
        return real(battery, subject, data, **options)

    monkeypatch.setattr(fitting, "sample_subject", noted)
    return names


@pytest.fixture
def large():
    """Six subjects on all items."""
    return folders.evaluation(6)


def only(evaluation, items, subjects):
    """Take outcomes of some subjects on some items out; the items stay."""
    successes, trials = evaluation.successes.copy(), evaluation.trials.copy()
    successes.loc[subjects, items] = trials.loc[subjects, items] = 0
    return ml.Evaluation(evaluation.items, successes, trials)


def fit(layout, evaluation, path, sampling):
    return ml.fit(layout, evaluation, store=path, **sampling)


def equal(one, other, subject):
    return all(
        np.array_equal(
            one.posterior[latent.name].sel(subject=subject),
            other.posterior[latent.name].sel(subject=subject),
        )
        for latent in one.layout.latents
    )


def test_more_items_are_a_refit_that_is_told(animal_ai, large, sampling, sampled, tmp_path):
    """The same numbers as of a store begun on all; the former call gives the former fits."""
    small, path = large.select(items=large.items.index[:10]), tmp_path / "store"
    before = fit(animal_ai, small, path, sampling)
    told = "created with 10 items, but now there are 24; fitted again, with additional outcomes: 6"
    sampled.clear()
    with pytest.warns(UserWarning, match=told):
        after = fit(animal_ai, large, path, sampling)
    assert sampled == large.subjects
    fresh = fit(animal_ai, large, tmp_path / "fresh", sampling)
    assert after.data["observed_data"].identical(fresh.data["observed_data"])
    assert all(equal(after, fresh, subject) for subject in large.subjects)
    assert not any(equal(after, before, subject) for subject in large.subjects)  # twin: no copy
    sampled.clear()
    again, former = (fit(animal_ai, one, path, sampling) for one in (large, small))
    assert sampled == []
    assert all(equal(again, after, subject) for subject in large.subjects)
    assert former.data["observed_data"].sizes["item"] == 10
    assert all(equal(former, before, subject) for subject in large.subjects)  # still read lazily
    assert ml.load(path).data["observed_data"].sizes["item"] == 24


def test_subjects_without_new_outcomes_keep_their_draws(
    animal_ai, large, sampling, sampled, tmp_path
):
    first, path = large.items.index[:10], tmp_path / "store"
    before = fit(animal_ai, large.select(items=first), path, sampling)
    grown = only(large, large.items.index[10:], ["s1", "s4"])
    sampled.clear()
    with pytest.warns(UserWarning, match="again, .*: 4 subjects; kept, .*: 2 subjects"):
        after = fit(animal_ai, grown, path, sampling)
    assert sorted(sampled) == ["s0", "s2", "s3", "s5"]
    assert after.subjects == large.subjects
    assert all(equal(after, before, subject) for subject in ("s1", "s4"))
    assert ml.load(path).diagnostics().index.tolist() == large.subjects


def test_more_outcomes_on_the_same_items(animal_ai, large, sampling, sampled, tmp_path):
    """A second trial of one subject, and a subject that is new."""
    some, path = large.select(subjects=["s0", "s1", "s2"]), tmp_path / "store"
    fit(animal_ai, some, path, sampling)
    successes, trials = large.successes.copy(), large.trials.copy()
    successes.loc["s1", "item-03"] += 1
    trials.loc["s1", "item-03"] += 1
    more = ml.Evaluation(large.items, successes, trials).select(subjects=["s0", "s1", "s5"])
    sampled.clear()
    with pytest.warns(UserWarning, match="with fewer outcomes; .*: 1 subject; kept, .*: 1"):
        after = fit(animal_ai, more, path, sampling)
    assert sampled == ["s1", "s5"]
    assert after.subjects == ["s0", "s1", "s5"]
    sampled.clear()
    fit(animal_ai, ml.Evaluation(large.items, successes, trials), path, sampling)
    assert sampled == ["s3", "s4"]  # s2 has its draws from before


def test_a_store_may_grow_in_two_ways(animal_ai, large, sampling, sampled, tmp_path):
    """More items in two orders: each has its own fits, and so have those of before."""
    turned = large.select(items=large.items.index[::-1])
    small, path = large.select(items=large.items.index[:10]), tmp_path / "store"
    fit(animal_ai, small, path, sampling)
    for evaluation in (turned, large):
        with pytest.warns(UserWarning, match="fitted again, with additional outcomes: 6 subjects"):
            fit(animal_ai, evaluation, path, sampling)
    assert len(hierarchy.generations(path)) == 3
    sampled.clear()
    for evaluation in (small, turned, large):
        found = fit(animal_ai, evaluation, path, sampling)
        assert found.data["observed_data"]["item"].to_numpy().tolist() == [*evaluation.items.index]
    assert sampled == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "feature",
            "created with other values of rewardSize on 1 item: item-05; give another store",
        ),
        ("outcome", "has 1 subject with other outcomes: s2; give another store, or the same ou"),
        (
            "fewer",
            "created with 10 items, but now there are 23; the first different ones are item-00",
        ),
    ],
)
def test_what_is_no_growth_is_refused(
    animal_ai, large, sampling, sampled, tmp_path, change, message
):
    path = tmp_path / "store"
    fit(animal_ai, large.select(items=large.items.index[:10]), path, sampling)
    items, successes = large.items.copy(), large.successes.copy()
    if change == "feature":
        items.loc["item-05", "rewardSize"] += 1e-12
    if change == "outcome":
        successes.loc["s2", "item-03"] = 1 - successes.loc["s2", "item-03"]
    other = ml.Evaluation(items, successes, large.trials)
    if change == "fewer":
        other = other.select(items=large.items.index[1:])
    sampled.clear()
    with pytest.raises(FitError, match=message):
        fit(animal_ai, other, path, sampling)
    assert sampled == []
    assert hierarchy.generations(path) == [path]


def test_a_growth_that_was_stopped_goes_on(animal_ai, large, sampling, sampled, tmp_path):
    """Stopped after two subjects: those are there, and what was there before is, too."""
    small, path = large.select(items=large.items.index[:10]), tmp_path / "store"
    before, real = fit(animal_ai, small, path, sampling), fitting.sample_subject

    def interrupted(battery, subject, data, **options):
        if subject == "s2":
            raise KeyboardInterrupt
        return real(battery, subject, data, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "sample_subject", interrupted)
        with pytest.warns(UserWarning, match="fitted again"), pytest.raises(KeyboardInterrupt):
            fit(animal_ai, large, path, {**sampling, "n_jobs": 1})
    assert ml.load(path).subjects == ["s0", "s1"]
    sampled.clear()
    fit(animal_ai, large, path, sampling)
    assert sampled == ["s2", "s3", "s4", "s5"]
    assert all(
        equal(fit(animal_ai, small, path, sampling), before, subject) for subject in small.subjects
    )


def test_half_a_growth_is_begun_anew(animal_ai, large, sampling, sampled, tmp_path, monkeypatch):
    small, path = large.select(items=large.items.index[:10]), tmp_path / "store"
    fit(animal_ai, small, path, sampling)

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(hierarchy, "_publish", stopped)
        with pytest.raises(KeyboardInterrupt):
            fit(animal_ai, large, path, sampling)
    assert hierarchy.generations(path) == [path]
    assert ml.load(path).subjects == small.subjects
    with pytest.warns(UserWarning, match="6 subjects"):
        assert fit(animal_ai, large, path, sampling).subjects == large.subjects


def test_a_grown_store_gives_the_posterior_of_all_outcomes(tmp_path):
    """Beta-Binomial: 8 of 10, then 30 of 50; the mean is (1 + successes) / (2 + trials).

    Tolerance: five Monte Carlo errors of 4,000 draws, of a standard deviation of at most 0.15.
    """
    layout = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    counts = {"a": (8, 10), "b": (22, 40)}

    def tossed(*names):
        items = pd.DataFrame(index=list(names))
        successes, trials = (
            pd.DataFrame([[counts[name][k] for name in names]], ["coin"], names) for k in (0, 1)
        )
        return ml.Evaluation(items, successes, trials)

    options = {"store": tmp_path / "store", "method": "grid", "seed": 1, "progressbar": False}
    first = ml.fit(layout, tossed("a"), **options)
    with pytest.warns(
        UserWarning, match="with 1 item, but now there are 2; .* outcomes: 1 subject"
    ):
        second = ml.fit(layout, tossed("a") + tossed("b"), **options)
    for found, won, tried in ((first, 8, 10), (second, 30, 50)):
        mean = float(found.posterior["p"].mean())
        spread = np.sqrt((won + 1) * (tried - won + 1) / (tried + 2) ** 2 / (tried + 3))
        assert abs(mean - (won + 1) / (tried + 2)) < 5 * spread / np.sqrt(4000)
