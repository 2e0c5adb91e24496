"""Chains that cannot start, or from which nothing can be said, are named with the reason."""

import numpy as np
import pytest
from helpers.fault_cases import (
    NUTS,
    behind,
    distance,
    evaluation,
    exactly,
    fault,
    fit,
    layout,
    reach,
)

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.linking import arrays


@ml.linking.linking_function(range=(0, 1))
def nearly_nowhere(reach, demand):
    """Defined for the largest reach only, where no chain starts."""
    return 1 / (1 + arrays.exp(demand - arrays.log(reach - 7.5)))


def badly_started():
    passed = nearly_nowhere(reach, distance * (1 + behind))
    return ml.fit(ml.Layout("nearly", ml.Success("found", passed)), evaluation(), **NUTS)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        fault(
            "no finite start",
            badly_started,
            FitError,
            "sampling failed for all 2 subjects; first reason: RuntimeError: All initialization "
            "points failed Caused by: Logp function returned error: ErrorCode(3). Check that the "
            "layout's start has a finite probability: ranges, priors and custom linking functions",
        ),
        fault(
            "fewer draws than R-hat needs",
            lambda: fit(draws=3),
            FitError,
            "draws=3; give a whole number of at least 4, at most 2**63 - 1",
        ),
        fault(
            "no chain",
            lambda: fit(chains=0),
            FitError,
            "chains=0; give a whole number of at least 1, at most 2**63 - 1",
        ),
    ],
)
def test_refused(call, error, message):
    with exactly(error, message):
        call()


def test_one_chain_is_not_converged():
    found = ml.fit(layout, evaluation(), **NUTS | {"draws": 2000, "tune": 500, "chains": 1})
    said = found.diagnostics()
    assert said["status"].tolist() == ["not converged", "not converged"]
    assert said["rhat"].isna().all()
    assert said["reason"].tolist() == ["R-hat unknown: it needs at least 2 chains that move"] * 2


def test_chains_that_do_not_move_are_not_converged():
    from measurement_layouts.inference.sampling.convergence import convergence, faults
    from measurement_layouts.inference.sampling.draws import Draws

    stuck = Draws({"reach": np.full((4, 250), 3.0)}, {"diverging": np.zeros((4, 250), bool)})
    assert faults(convergence(stuck), chains=4) == [
        "R-hat unknown: it needs at least 2 chains that move",
    ]
