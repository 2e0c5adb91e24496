"""Baselines that pool: quadrature, closed forms, counts, properties, and what is held out."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.validation import Cells, Explanatory, Items, Rasch, cross_validate
from measurement_layouts.validation.prediction.pooled import fit_rasch, standardised
from measurement_layouts.validation.prediction.splits import masked

# --- the model -----------------------------------------------------------------------------------


def normal(places, spread, about=0.0):
    """Weights of a grid."""
    weights = norm.pdf(places, about, spread)
    return weights / weights.sum(axis=-1, keepdims=True)


def by_quadrature(won, tried):
    """Two items: sums over a grid of both eases and abilities, at the likeliest spreads.

    The same priors of spreads, HalfNormal(2.5), and of the level, N(0, 5^2).
    """
    ability = np.linspace(-8, 8, 65)
    ease = np.linspace(-7, 7, 57)
    chance = expit(ability[:, None] + ease)  # (abilities, eases)
    terms = [
        won[:, item, None, None] * np.log(chance)
        + (tried - won)[:, item, None, None] * np.log1p(-chance)
        for item in range(2)
    ]
    like = [np.exp(term) for term in terms]  # (subjects, abilities, eases)
    level = np.linspace(-15, 15, 121)
    best, found = -np.inf, None
    spreads = np.arange(0.4, 3.2, 0.2)
    for own in spreads:
        prior = normal(ability, own)
        joint = np.einsum("a,sae,saf->sef", prior, *like, optimize=True)
        for other in spreads:
            given = normal(ease, other, level[:, None])
            both = np.einsum("l,le,lf->ef", normal(level, 5), given, given)
            log = np.log(joint).sum(axis=0) + np.log(both + 1e-300)
            top = log.max()
            evidence = top + np.log(np.exp(log - top).sum())
            evidence += norm.logpdf([own, other], 0, 2.5).sum()
            if evidence > best:
                best = evidence
                weights = np.exp(log - top) / np.exp(log - top).sum()
                solved = [
                    np.einsum("a,sae,saf,ae->sef", prior, *like, chance, optimize=True),
                    np.einsum("a,sae,saf,af->sef", prior, *like, chance, optimize=True),
                ]
                found = np.stack([(part / joint * weights).sum(axis=(1, 2)) for part in solved], 1)
    return found


@pytest.fixture
def small(rng):
    """A hundred subjects, two items, up to five trials a cell, some with none."""
    tried = rng.integers(0, 6, (100, 2))
    chance = expit(rng.normal(0, 1.5, (100, 1)) + np.array([1.0, -1.0]))
    return rng.binomial(tried, chance), tried


@pytest.mark.trust("oracles", "the Rasch baseline: quadrature")
def test_it_is_the_exact_posterior_mean(small):
    exact, found = by_quadrature(*small), fit_rasch(*small)
    assert np.abs(found - exact).max() < 0.015
    # twins: one trial a cell, and no pooling over subjects
    won, tried = small
    once = fit_rasch(2 * won > tried, tried > 0)
    alone = won.sum(axis=0) / tried.sum(axis=0) + 0 * exact
    assert min(np.abs(other - exact).max() for other in (once, alone)) > 0.1


def test_many_trials_leave_only_the_truth(rng):
    """Where all is known, predictions are additive log-odds, on cells never tried too."""
    chance = expit(rng.normal(size=(20, 1)) + rng.normal(size=15))
    tried = np.where(rng.random(chance.shape) < 0.3, 0, 20_000)
    found = fit_rasch(rng.binomial(tried, chance), tried)
    assert np.abs(found - chance).max() < 0.01


def test_successes_and_failures_are_alike(rng):
    tried = rng.integers(0, 3, (25, 12))
    won = rng.binomial(tried, expit(rng.normal(size=(25, 1)) + rng.normal(size=12)))
    found, turned = fit_rasch(won, tried), fit_rasch(tried - won, tried)
    np.testing.assert_allclose(found, 1 - turned, atol=1e-6)


def test_the_order_does_not_matter(rng):
    tried = rng.integers(0, 3, (25, 12))
    won = rng.binomial(tried, expit(rng.normal(size=(25, 1)) + rng.normal(size=12)))
    columns, people = rng.normal(size=(12, 2)), rng.normal(size=(25, 3))
    rows, places = rng.permutation(25), rng.permutation(12)
    found = fit_rasch(won, tried, item_columns=[columns], subject_columns=[people])
    again = fit_rasch(
        won[rows][:, places],
        tried[rows][:, places],
        item_columns=[columns[places]],
        subject_columns=[people[rows]],
    )
    np.testing.assert_allclose(again, found[rows][:, places], atol=1e-6)


@pytest.mark.parametrize("won", [0, 1])
@pytest.mark.parametrize("times", [1, 1000])
@pytest.mark.parametrize("shape", [(1, 1), (1, 20), (20, 1), (50, 20)])
def test_outcomes_that_are_all_alike_settle(won, times, shape):
    tried = np.full(shape, times)
    found = fit_rasch(won * tried, tried)
    assert (abs(found - won) < 0.2).all()
    assert (found > 0).all()
    assert (found < 1).all()


def test_a_perfect_order_settles():
    """Each subject solves all items up to one of them: no spread would be too large."""
    won = np.add.outer(np.arange(50), -2.5 * np.arange(20)) > 0
    found = fit_rasch(won, np.ones_like(won))
    assert ((found > 0.5) == won).all()
    assert np.isfinite(found).all()
    with pytest.warns(UserWarning, match="did not converge in 1000 rounds"):
        fit_rasch(1000 * won, np.full(won.shape, 1000))


def test_weights_foresee_new_items_and_new_subjects(rng):
    """What has no outcome is predicted by its columns; those that say nothing do no harm."""
    size, age = rng.normal(size=(120, 1)), rng.normal(size=(150, 1))
    group = np.repeat(np.eye(3), 50, axis=0)
    own = 1.2 * age + group @ np.array([[-1], [0], [1]]) + 0.5 * rng.normal(size=(150, 1))
    chance = expit(own + (0.5 + 1.5 * size + 0.4 * rng.normal(size=(120, 1))).T)
    won, tried = rng.binomial(1, chance), np.ones(chance.shape, dtype=int)
    tried[::5] = 0
    tried[:, ::4] = 0
    items, people = np.column_stack([size, rng.normal(size=(120, 4))]), [age, group]
    found = fit_rasch(won * tried, tried, item_columns=[items], subject_columns=people)
    new = np.ix_(np.arange(0, 150, 5), np.arange(0, 120, 4))
    # the mean over a residual of either, by a sum over 1,000 pairs
    residual = rng.normal(size=(1000, 2)) @ np.array([0.5, 0.4])
    known = 1.2 * age + group @ np.array([[-1], [0], [1]]) + (0.5 + 1.5 * size).T
    expected = np.mean([expit(known[new] + each) for each in residual], axis=0)
    assert np.abs(found[new] - expected).mean() < 0.03
    blind = fit_rasch(won * tried, tried)[new]
    assert np.ptp(blind) < 1e-12
    assert np.abs(blind - expected).mean() > 0.2  # twin


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 0]], [[1]]), r"successes of shape \(1, 2\) and trials of shape \(1, 1\)"),
        (([[2]], [[1]]), "counts are not 0 <= successes <= trials"),
        (([[np.nan]], [[1]]), "counts are not 0 <= successes <= trials"),
        (([[1, 0]], [[1, 1]], [np.ones((3, 1))]), r"columns of shape \(3, 1\) for 2 items"),
        (([[1, 0]], [[1, 1]], (), [np.full((1, 1), np.inf)]), "for 1 subjects; give finite"),
    ],
)
def test_bad_input_is_named(arguments, message):
    names = ("successes", "trials", "item_columns", "subject_columns")
    with pytest.raises(DataError, match=message):
        fit_rasch(**dict(zip(names, arguments, strict=False)))


# --- the baselines -------------------------------------------------------------------------------


@pytest.fixture
def study(rng):
    """Sixty items whose size matters, forty subjects whose age does."""
    items = pd.DataFrame({"size": rng.normal(3, 2, 60)}).rename(index="q{}".format)
    names = [f"s{number}" for number in range(40)]
    people = pd.DataFrame({"age": rng.normal(30, 9, 40), "school": ["a", "b"] * 20}, names)
    own = 2 * standardised(people[["age"]].to_numpy()) + 0.5 * rng.normal(size=(40, 1))
    ease = 1.5 * standardised(items[["size"]].to_numpy())
    outcomes = pd.DataFrame(rng.binomial(1, expit(own - ease.T)), names, items.index)
    return ml.Evaluation.from_wide(outcomes, items), people


def with_people(evaluation, people):
    """The same evaluation, with properties of its subjects."""
    return ml.Evaluation(evaluation.items, evaluation.successes, evaluation.trials, subjects=people)


def test_they_are_the_fit(study):
    evaluation, people = study
    held = list(evaluation.items.index[:5])
    training = with_people(masked(evaluation, held), people)
    counts = training.successes.to_numpy(), training.trials.to_numpy()
    used = np.arange(60) >= 5
    size = standardised(evaluation.items[["size"]].to_numpy(), used)
    ages = [standardised(people[["age"]].to_numpy()), np.tile(np.eye(2), (20, 1))]
    both = fit_rasch(*counts, item_columns=[size], subject_columns=ages)
    for method, exact in ((Rasch(), fit_rasch(*counts)), (Explanatory(["size"]), both)):
        found = method.predict(training, held[::-1], seed=1)
        assert list(found["item"]) == held[::-1]
        assert list(found["subject"]) == training.subjects
        np.testing.assert_array_equal(found, exact[:, :5][:, ::-1])


def test_missing_properties_of_subjects(study):
    """A missing number is the mean, a missing text says nothing."""
    evaluation, people = study
    gone = people.copy()
    gone.iloc[0] = None
    training = masked(evaluation, ["q0"])
    found = Explanatory([]).predict(with_people(training, gone), ["q0"], seed=1)
    assert np.isfinite(found).all()
    gone.loc["s1", "age"] = np.inf
    with pytest.raises(DataError, match=r"but the subjects have s1 on age: inf"):
        Explanatory([]).predict(with_people(training, gone), ["q0"], seed=1)


def test_they_are_named_in_cross_validation(study):
    """New items are told apart by properties alone; on single cells both know the item."""
    evaluation, _ = study
    options = {"seed": 0, "progressbar": False, "repeats": 1}
    methods = ["aggregate", "rasch", "explanatory"]
    items = cross_validate(methods, evaluation, split=Items(), **options)
    cells = cross_validate(methods, evaluation, split=Cells(), **options)
    briers = [found.summary()["mean"] for found in (items, cells)]
    assert briers[0]["explanatory"] < briers[0]["rasch"] - 0.02
    assert briers[1]["rasch"] < briers[1]["aggregate"] - 0.02
    assert briers[1]["explanatory"] < briers[1]["rasch"]
    remarks = items.scores.groupby("method")["remark"].first()
    assert "one number for all items" in remarks["rasch"]
    assert "one number for all items" not in remarks["explanatory"]
    assert items.scores.query("method == 'rasch'")["auroc"].isna().all()
    # cells by hand
    held = np.random.default_rng(0).random((40, 60)) < 0.2
    exact = fit_rasch(evaluation.successes.to_numpy() * ~held, ~held)
    told = cells.predictions.query("method == 'rasch'").set_index(["subject", "item"])
    np.testing.assert_allclose(
        told["probability"].unstack().loc[evaluation.subjects, evaluation.items.index],
        np.where(held, exact, np.nan),
    )


def test_properties_of_subjects_reach_it_through_the_folds(study):
    """Ages decide half of the outcomes; the twin's ages are somebody else's."""
    evaluation, people = study
    few = evaluation.select(items=evaluation.items.index[:8])
    mixed = people.sample(frac=1, random_state=1).set_axis(people.index)
    briers = [
        cross_validate(
            ["rasch", "explanatory"], with_people(few, own), split="cells", progressbar=False
        )
        .summary()["mean"]
        .diff()["explanatory"]
        for own in (people, mixed)
    ]
    assert briers[0] < -0.01
    assert briers[1] > briers[0] + 0.01


def test_seen_items_and_unreadable_ones_are_refused(study):
    evaluation, _ = study
    for method, name in ((Rasch(), "Rasch"), (Explanatory(["size"]), "explanatory")):
        with pytest.raises(DataError, match=f"{name} model: q1 are to be forecast, but have"):
            method.predict(evaluation, ["q1"], seed=1)
    sizes = evaluation.items.assign(size="big")
    broken = ml.Evaluation(sizes, evaluation.successes, evaluation.trials)
    with pytest.raises(DataError, match="explanatory: a baseline predicts from finite numbers"):
        cross_validate({"explanatory": "explanatory"}, broken, columns=["size"])


def test_steps_are_refused():
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    items = pd.DataFrame({"size": [1.0, 2.0]}, ["a", "b"])
    grades = pd.DataFrame([[1, 2]], ["Ann"], items.index)
    evaluation = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
    for method, name in ((Rasch(), "a Rasch"), (Explanatory(["size"]), "an explanatory")):
        with pytest.raises(DataError, match=f"{name} model takes 0/1 outcomes of items"):
            method.predict(evaluation, ["a"], seed=1)
