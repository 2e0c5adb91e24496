"""A property may be the same on all items, unless an inferred value needs it to vary."""

import numpy as np
import pandas as pd
import pytest
from helpers.function_cases import AS_WRITTEN

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation
from measurement_layouts.inference.model.variation import needing
from measurement_layouts.layouts.opposed import opposed
from measurement_layouts.linking import (
    guessing,
    linking_function,
    logistic,
    mixture,
    presence,
    product,
)

size = ml.MetaFeature("size", low=0, high=10)
chance = ml.MetaFeature("chance", low=0, high=1)
behind = ml.MetaFeature("behind", low=0, high=1)
sight = ml.Capability("sight", low=0, high=10)
memory = ml.Capability("memory", low=0, high=1)
noise = ml.Noise("noise")
knows = logistic(sight - size)
lean = ml.Bias("lean", low=-1, high=1)
SIDED = mixture(chance, by=np.maximum(lean, 0), toward=behind)


def evaluation(**columns):
    items = pd.DataFrame({"size": range(1, 6), "chance": 0.053, "behind": 1.0} | columns)
    outcomes = pd.DataFrame([[1, 1, 0, 0, 0], [1, 1, 1, 0, 1]], ["Ann", "Bob"])
    return Evaluation.from_wide(outcomes, items)


def layout(success):
    return ml.Layout("looking", ml.Success("found", success))


FORMULAS = {
    "demand": lambda level: logistic(sight - level),
    "guessing": lambda level: guessing(knows, level),
    "noise": lambda level: mixture(knows, by=noise, toward=level),
    "both": lambda level: mixture(guessing(knows, level), by=noise, toward=0.5),
    "of carelessness": lambda level: (1 - level) * knows,
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_a_constant_chance_is_the_number(formula):
    """The column's log-density is that of the number in its place, and not of another number."""

    def densities(level):
        model = ml.to_pymc(layout(formula(level)), evaluation(), "Ann")
        logp, start = model.compile_logp(mode=AS_WRITTEN), model.initial_point()
        points = np.random.default_rng(1).normal(size=(5, len(start)))
        return [logp(dict(zip(start, map(np.asarray, point), strict=True))) for point in points]

    column = densities(chance)
    np.testing.assert_allclose(column, densities(0.053), rtol=1e-12)
    assert not np.allclose(column, densities(0.25), rtol=1e-3)


@linking_function(range=(0, 1))
def doubtful(margin):
    return 0.5 + 0 * margin


@pytest.mark.parametrize(
    ("success", "names"),
    [
        (knows, {"size"}),
        (guessing(knows, chance), {"size"}),
        (presence(knows, behind), {"size"}),
        (presence(memory, behind), {"behind"}),  # the latent is no probability of the layout's
        (guessing(logistic(sight - size), logistic(memory - chance)), {"size", "chance"}),
        (mixture(memory, by=noise, toward=chance), set()),
        (logistic(sight - size * (0.5 * behind + 1)), {"size", "behind"}),
        (doubtful(sight) * behind, {"behind"}),  # of a function of one's own nothing is known
        (logistic(noise - size), {"size"}),
        (guessing(knows, SIDED), {"size"}),  # a bias as a weight, as in choices between sides
        (guessing(knows, ml.Derived("guess", SIDED)), {"size"}),
        (guessing(knows, 1 - ml.Derived("guess", 1 - SIDED)), {"size"}),
        (ml.Derived("margin", memory - behind) ** 2, {"behind"}),
    ],
    ids=lambda value: None if isinstance(value, set) else str(value),
)
def test_what_opposes_a_latent(success, names):
    assert opposed(layout(success)) == names


steep, weight, lean = ml.Slope("steep"), ml.Slope("weight"), ml.Bias("lean")
near = ml.MetaFeature("near", low=0, high=10)
ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=1))
share = ml.Bias("share", per="population")


@pytest.mark.parametrize(
    ("success", "column", "needed"),
    [
        (logistic(sight - size), "size", ""),
        (guessing(logistic(sight - size * (0.5 * behind + 1)), chance), "behind", ""),
        (guessing(logistic(sight - size * (0.5 * behind + 1)), chance), "size", ""),
        (presence(memory, behind), "behind", ""),
        (logistic(sight - size, steep), "size", "sight and steep"),
        (logistic(steep * (sight - size)), "size", "steep and sight"),
        (logistic(sight - weight * size), "size", "sight and weight"),
        (logistic(sight - near + lean * behind), "behind", "sight and lean"),
        (logistic(sight - size - weight * near), "size", ""),  # of near alone
        (logistic(sight - near - weight * size), "size", "sight and weight"),
        (logistic(sight - size - near, steep), "size", ""),  # near varies
        (mixture(knows, by=noise, toward=0.5), "size", "sight and noise"),
        (product(knows, logistic(lean - near)), "size", ""),
        (logistic(sight - size + ease), "size", ""),
        (logistic(sight - share * size + ease), "size", "sight and share"),
    ],
    ids=str,
)
def test_a_property_has_to_vary_where_an_inferred_value_needs_it(success, column, needed):
    """By hand: two latents cannot be told apart on items that are alike, and could on others."""
    varied = {"size": [3.0, 1, 4, 1.5, 9], "near": [2.0, 7, 1, 8, 2], "behind": [0, 1, 0, 1, 1]}
    demands = layout(success)
    values = {name: np.array(column, dtype=float) for name, column in varied.items()}
    values |= {"chance": np.full(5, 0.053), column: np.full(5, 1.0)}
    assert " and ".join(needing(demands, demands.nodes[column], values)) == needed


@pytest.mark.parametrize("needed", [True, False])
def test_fit_and_check_refuse_it_there_alone(needed):
    demands = layout(logistic(sight - size, steep) if needed else knows)
    given = evaluation(size=[3] * 5)
    said = [text for text in ml.check(demands, given).problems if text.startswith("size is 3")]
    assert len(said) == needed
    if needed:
        with pytest.raises(DataError, match=r"^size is 3 on all 5 items: .* sight, steep"):
            ml.fit(demands, given)
    else:
        assert ml.fit(demands, given, draws=20, tune=20, chains=1, seed=1).subjects


def test_a_flag_that_is_never_set_leaves_a_latent_unlearnt_and_check_says_so():
    """The flag opposes nothing by itself; what it switches off is named."""
    remembers = logistic(ml.Capability("recall", low=0, high=10) - size)
    switched = layout(knows * presence(remembers, behind))
    said = ml.check(switched, evaluation(behind=0.0)).problems
    assert any(text.startswith("recall will be prior-dominated") for text in said)
    told = ml.check(switched, evaluation(behind=1.0)).problems
    assert not any(text.startswith("recall will be") for text in told)
