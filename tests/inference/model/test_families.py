"""Families of priors: value and log-density of a coordinate are those of PyMC."""

import numpy as np
import pymc as pm
import pytest
from helpers.function_cases import AS_IN_THE_MODEL
from pytensor.scalar.basic import autocast_float_as

from measurement_layouts.inference.kernel.tracing import UntraceableError
from measurement_layouts.inference.model.families import value_and_density

AT = np.array([-2.5, -0.4, 0.0, 1.3, 3.0])


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        ("Normal", {"mu": 0.5, "sigma": 2.0}),
        ("Normal", {"tau": 0.3}),
        ("StudentT", {"nu": 4.0, "mu": 1.0, "sigma": 0.7}),
        ("StudentT", {"nu": 4.0, "lam": 0.7}),
        ("Cauchy", {"alpha": 0.5, "beta": 2.0}),
        ("Gumbel", {"mu": 0.5, "beta": 2.0}),
        ("Laplace", {"mu": 0.5, "b": 2.0}),
        ("Logistic", {"mu": 0.5, "s": 2.0}),
        ("LogNormal", {"mu": 0.5, "sigma": 2.0}),
        ("HalfNormal", {"sigma": 2.0}),
        ("HalfNormal", {"tau": 2.0}),
        ("HalfStudentT", {"nu": 4.0, "sigma": 2.0}),
        ("HalfCauchy", {"beta": 2.0}),
        ("HalfFlat", {}),
        ("Flat", {}),
        ("Exponential", {"lam": 3.0}),
        ("Exponential", {"scale": 3.0}),
        ("Gamma", {"alpha": 2.0, "beta": 3.0}),
        ("Gamma", {"mu": 2.0, "sigma": 3.0}),
        ("Beta", {"alpha": 2.0, "beta": 0.5}),
        ("Beta", {"mu": 0.3, "sigma": 0.1}),
        ("Beta", {"mu": 0.3, "nu": 5.0}),
        ("Uniform", {}),
        ("Uniform", {"lower": -1.0, "upper": 4.0}),
        ("TruncatedNormal", {"mu": 0.5, "sigma": 2.0, "lower": -1.0, "upper": 1.5}),
        ("TruncatedNormal", {"mu": -9.0, "sigma": 0.5, "lower": 0.0}),
        ("TruncatedNormal", {"mu": 0.5, "tau": 2.0, "upper": -1.0}),
        ("TruncatedNormal", {"mu": 0.5, "sigma": 2.0}),
    ],
)
def test_families_are_those_of_pymc(family, parameters):
    with autocast_float_as("float64"), pm.Model() as model:
        double = {name: np.float64(value) for name, value in parameters.items()}
        variable = getattr(pm, family)("x", **double, shape=len(AT))
        (wanted,) = model.logp(variable, sum=False)
    (backward,) = model.replace_rvs_by_values([variable])
    at = {model.rvs_to_values[variable]: AT}
    value, density = value_and_density(family, parameters, AT)
    rounded = 4e-9 if family.startswith("Half") else 1e-12  # log 2 in single precision there
    np.testing.assert_allclose(density, wanted.eval(at, mode=AS_IN_THE_MODEL), 1e-12, rounded)
    np.testing.assert_allclose(value, backward.eval(at, mode=AS_IN_THE_MODEL), rtol=1e-12)


def test_what_has_no_formula_is_left_to_pymc():
    with pytest.raises(UntraceableError):
        value_and_density("VonMises", {"mu": 0.0, "kappa": 1.0}, AT)
