"""Layouts that cannot mean what they say are refused where they are declared."""

import pytest
from helpers.fault_cases import NUTS, distance, evaluation, exactly, fault, layout, reach

import measurement_layouts as ml
from measurement_layouts import Capability, Layout, LayoutError, MetaFeature, Prior, Success
from measurement_layouts.linking import logistic


def of(prior):
    """Fit a layout whose capability has this prior."""
    own = Capability("reach", unit="m", prior=prior)
    declared = Layout("reaching", Success("found", logistic(own - distance)))
    return ml.fit(declared, evaluation(), **NUTS)


def cyclic():
    written = layout.to_dict()
    (found,) = (node for node in written["nodes"] if node["name"] == "found")
    sums = {
        name: {"kind": "Derived", "name": name, "expression": {"op": "+", "of": [other, 1.0]}}
        for name, other in (("there", {"node": "back"}), ("back", {"node": "there"}))
    }
    found["expression"]["of"][1] = {"node": "there"}
    written["nodes"] += sums.values()
    return Layout.from_dict(written)


def success(expression, name="found"):
    return Success(name, expression)


OTHER = "'reach', low=0, high=10, unit='m', prior=Prior('Uniform', lower=0, upper=10)"
CLASH = "; rename one (in a notebook: run again every cell that uses the changed node)"
PROPER = "; give each a proper distribution with parameters in their range: reach ~ "


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        fault(
            "a range of no width",
            lambda: MetaFeature("distance", low=3, high=3),
            LayoutError,
            "distance: the range [3, 3] has zero width; give low < high",
        ),
        fault(
            "a reversed range",
            lambda: Capability("reach", low=4, high=3),
            LayoutError,
            "reach: the range [4, 3] is reversed; give low < high",
        ),
        fault(
            "an end of a range that is no number",
            lambda: MetaFeature("distance", low=0, high=float("nan")),
            LayoutError,
            "distance: high=nan is not a number; give a number in the unit",
        ),
        fault(
            "a single level",
            lambda: MetaFeature("behind", levels=(1,)),
            LayoutError,
            "behind: levels (1) have fewer than two different values; leave it out, or "
            "write its number into the formula",
        ),
        fault(
            "a division by zero",
            lambda: reach / 0,
            LayoutError,
            "reach / 0: it divides by zero; divide by a node or another number",
        ),
        fault(
            "a cycle",
            cyclic,
            LayoutError,
            "there: it depends on itself; remove one of the links",
        ),
        fault(
            "a layout without a capability",
            lambda: Layout("reaching", success(logistic(distance * 0.1))),
            LayoutError,
            "layout 'reaching': found depends on no latent, so that there is nothing to infer; use "
            "a Capability or another latent in its expression",
        ),
        fault(
            "a name of two nodes",
            lambda: Layout(
                "reaching",
                success(
                    logistic(reach - distance)
                    * logistic(Capability("reach", low=0, high=2, unit="m") - distance)
                ),
            ),
            LayoutError,
            f"Layout: two different nodes are named 'reach': Capability({OTHER}) and "
            "Capability('reach', low=0, high=2, unit='m', prior=Prior('Uniform', lower=0, upper=2))"
            + CLASH,
        ),
        fault(
            "a name of a node and the outcome",
            lambda: Layout("reaching", success(logistic(reach - distance), "reach")),
            LayoutError,
            f"Layout: two different nodes are named 'reach': Capability({OTHER}) and "
            "Success('reach', expression=<logistic(reach − distance)>)" + CLASH,
        ),
        fault(
            "a prior that cannot be drawn",
            lambda: of(Prior("Flat")),
            LayoutError,
            "layout 'reaching': its priors cannot be drawn from (Cannot sample from flat variable)"
            f"{PROPER}Prior('Flat')",
        ),
        fault(
            "a prior with a negative scale",
            lambda: of(Prior("Normal", mu=0, sigma=-1)),
            LayoutError,
            "Prior('Normal'): sigma=−1 must be positive; give another number",
        ),
        fault(
            "a prior of no width",
            lambda: of(Prior("Normal", mu=1e20, sigma=1)),
            LayoutError,
            "reach: draws of the prior Prior('Normal', mu=1e+20, sigma=1) are infinite or all the "
            "same; give it a positive, finite width",
        ),
        fault(
            "a prior of an unknown family",
            lambda: of(Prior("Gaussian", mu=0, sigma=1)),
            LayoutError,
            "reach: PyMC has no distribution 'Gaussian'; give a name from PyMC, such as 'Normal', "
            "'Beta' or 'HalfNormal'",
        ),
        fault(
            "a prior with an unknown parameter",
            lambda: of(Prior("Normal", mu=0, scale=1)),
            LayoutError,
            "reach: pymc.Normal has no parameter scale; it has mu, sigma, tau",
        ),
        fault(
            "a prior of whole numbers",
            lambda: of(Prior("Poisson", mu=3)),
            LayoutError,
            "reach: Poisson is not a univariate, continuous distribution, as NUTS requires; choose "
            "another one, such as 'Normal' or 'Beta'",
        ),
    ],
)
def test_refused(call, error, message):
    with exactly(error, message):
        call()
