"""Compiled layouts are told apart by all code they reach: a notebook's cells are run again."""

import numpy as np

import measurement_layouts as ml
from measurement_layouts.inference.model.pymc_model import compile_key
from measurement_layouts.linking import arrays, logistic


def layout(helper, factor=1.0, power=1):
    @ml.linking.linking_function(range=(0, 1))
    def success(skill, demand):
        return helper(factor * (skill - demand) ** power)

    demand = ml.MetaFeature("demand", low=0, high=1)
    return ml.Layout(
        "own", ml.Success("ok", success(ml.Capability("skill", low=0, high=1), demand))
    )


def steep(slope):
    def helper(margin):
        return arrays.sigmoid(slope * margin)

    return helper


def gentle(margin):
    return arrays.sigmoid(margin)


def raised(margin):
    return (1 + np.tanh(margin)) / 2


def test_the_same_declaration_has_the_same_key():
    assert compile_key(layout(gentle)) == compile_key(layout(gentle))
    assert compile_key(layout(steep(3.0))) == compile_key(layout(steep(3.0)))


def test_another_helper_has_another_key():
    """All under one name, so that the fingerprint alone might not tell them apart."""
    keys = [
        compile_key(layout(helper)) for helper in (gentle, steep(3.0), steep(2.0), raised, logistic)
    ]
    assert len(set(keys)) == 5


def test_another_number_has_another_key():
    assert compile_key(layout(gentle, factor=2.0)) != compile_key(layout(gentle))


def test_a_linking_function_inside_another_counts():
    def inner(slope):
        @ml.linking.linking_function(range=(0, 1))
        def wrapped(margin):
            return arrays.sigmoid(slope * margin)

        return wrapped

    assert compile_key(layout(inner(1.0))) != compile_key(layout(inner(2.0)))
