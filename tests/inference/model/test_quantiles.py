"""Values of priors from standard normal numbers, against SciPy's and PyMC's distributions."""

import numpy as np
import pymc as pm
import pytest
from helpers.function_cases import AS_WRITTEN
from scipy import stats
from scipy.special import log_ndtr, ndtr

from measurement_layouts import Prior
from measurement_layouts.common.errors import FitError
from measurement_layouts.inference.model.quantiles import from_scores

SCORES = np.linspace(-6, 6, 41)
FAMILIES = {
    "Normal": ({"mu": 1.0, "sigma": 2.0}, stats.norm(1, 2)),
    "HalfNormal": ({"sigma": 3.0}, stats.halfnorm(scale=3)),
    "LogNormal": ({"mu": -1.9, "sigma": 0.5}, stats.lognorm(0.5, scale=np.exp(-1.9))),
    "Uniform": ({"lower": -1.0, "upper": 4.0}, stats.uniform(-1, 5)),
    "Beta": ({"alpha": 1.0, "beta": 9.0}, stats.beta(1, 9)),
    "Exponential": ({"lam": 2.0}, stats.expon(scale=0.5)),
    "Gamma": ({"alpha": 2.0, "beta": 3.0}, stats.gamma(2, scale=1 / 3)),
    "StudentT": ({"nu": 4.0, "mu": 1.0, "sigma": 2.0}, stats.t(4, 1, 2)),
    "TruncatedNormal": (
        {"mu": 0.0, "sigma": 1.0, "lower": 0.0, "upper": 2.0},
        stats.truncnorm(0, 2),
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_values_have_the_chances_of_their_scores(family):
    parameters, known = FAMILIES[family]
    values = from_scores("x", Prior(family, **parameters), parameters, SCORES)
    # next to a cut, PyMC rounds to 2e-9
    np.testing.assert_allclose(known.cdf(values), ndtr(SCORES), rtol=1e-6, atol=5e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_pymc_means_the_same_by_its_parameters(family):
    parameters, _ = FAMILIES[family]
    values = from_scores("x", Prior(family, **parameters), parameters, SCORES[5:-5])
    found = pm.logcdf(getattr(pm, family).dist(**parameters), values).eval(mode=AS_WRITTEN)
    np.testing.assert_allclose(found, log_ndtr(SCORES[5:-5]), rtol=1e-4, atol=1e-6)


def test_each_score_has_its_own_parameters():
    scale = np.array([[1.0], [2.0]])
    found = from_scores("x", Prior("HalfNormal", sigma=1), {"sigma": scale}, np.zeros((2, 3)))
    np.testing.assert_allclose(found, scale * stats.halfnorm.ppf(0.5) * np.ones(3))


def test_a_family_without_quantiles_is_refused_by_name():
    prior, parameters = Prior("VonMises", mu=0, kappa=1), {"mu": 0.0, "kappa": 1.0}
    message = r"heading: .* PyMC has no quantile function for its prior VonMises"
    with pytest.raises(FitError, match=message):
        from_scores("heading", prior, parameters, SCORES)
