"""Grades, scores and several outcomes: machine code computes what the plain model computes."""

import pytest
from helpers import graded_layouts as of
from helpers.densities import Fused, Plain, first_compiled

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model.features import read_training_features
from measurement_layouts.inference.sampling.engine import Kernel

ROUNDING = 1e-10


def agree(name, rng, count):
    made, table = of.layout(*of.LEAVES[name]()), of.items(count)
    tables, _ = of.random_outcomes(made, table, rng)
    evaluation = ml.Evaluation.of_outcomes(made, tables, table)
    features, data = read_training_features(made, evaluation), SubjectData.of(evaluation, "Ann")
    fused, plain = Fused(made, features, data), Plain(made, features, data)
    for _ in range(5):
        point = fused.start + rng.normal(0, 1, len(fused.start))
        value, gradient, status = fused(point)
        wanted, slopes = plain(point)
        assert status == 0
        off = ROUNDING + plain.rounding(point)
        assert abs(value - wanted) <= off * abs(wanted)
        assert abs(gradient - slopes).max() <= off * max(1, abs(slopes).max())
    assert isinstance(first_compiled(made, evaluation), Kernel)
    return fused


def test_machine_code_equals_the_plain_model(rng):
    """Value and gradient; items' parts are computed once each, and not for every step."""
    fused = agree("score", rng, 60)
    tables = [domain.size for domain in fused.kernel.domains.known]
    assert fused.kernel.domains.rows.size == 600
    assert 60 in tables


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(of.LEAVES) - {"score"}))
def test_all_machine_code_equals_the_plain_model(name, rng):
    agree(name, rng, 30)
