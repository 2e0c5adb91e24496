"""Array operations: one name, the same numbers from NumPy and PyTensor."""

import inspect

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from measurement_layouts.linking import arrays

X = np.array([[-800.0, -1.0, -1e-12], [0.0, 1.0, 800.0]])
POSITIVE = np.array([1e-300, 0.5, 1.0, 30.0])
CASES = {
    "as_float": ((arrays.as_float, X), X),
    "exp": ((arrays.exp, X / 10), np.exp(X / 10)),
    "expm1": ((arrays.expm1, X / 10), np.expm1(X / 10)),
    "log": ((arrays.log, POSITIVE), np.log(POSITIVE)),
    "log1p": ((arrays.log1p, POSITIVE), np.log1p(POSITIVE)),
    "sigmoid": ((arrays.sigmoid, X), 1 / (1 + np.exp(np.minimum(-X, 700)))),
    "softplus": ((arrays.softplus, X), np.logaddexp(0, X)),
    "where": ((lambda x: arrays.where(x > 0, x, 0.0), X), np.where(X > 0, X, 0)),
    "isinf": ((lambda x: arrays.isinf(x * np.inf), X[:, :2] + 2), np.ones((2, 2))),
    "equal": ((lambda x: arrays.where(arrays.equal(x, 1.0), x, 0.0), X), np.where(X == 1, X, 0)),
    "absolute": ((arrays.absolute, X), np.abs(X)),
    "maximum": ((lambda x: arrays.maximum(x, 0.5), X), np.maximum(X, 0.5)),
    "minimum": ((lambda x: arrays.minimum(0.5, x), X), np.minimum(X, 0.5)),
    "sum": ((lambda x: arrays.sum(x, axis=0), X), X.sum(0)),
    "prod": ((lambda x: arrays.prod(x, axis=1, keepdims=True), X), X.prod(1, keepdims=True)),
    "max": ((lambda x: arrays.max(x, axis=-1), X), X.max(-1)),
    "min": ((lambda x: arrays.min(x, axis=-1, keepdims=True), X), X.min(-1, keepdims=True)),
    "stack": ((lambda x: arrays.stack((x, 2.0)), X), np.stack([X, np.full_like(X, 2)])),
}


def test_every_operation_has_a_case():
    operations = {
        name
        for name, value in vars(arrays).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }
    assert operations == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_numpy_and_pytensor_agree(name):
    (operation, x), expected = CASES[name]
    np.testing.assert_allclose(operation(x), expected, rtol=1e-12, atol=1e-300)
    variable = pt.tensor(shape=(None,) * x.ndim, dtype="float64")
    mode = pytensor.compile.mode.Mode(linker="py", optimizer="fast_run")
    compute = pytensor.function([variable], operation(variable), mode=mode)
    np.testing.assert_allclose(compute(x), expected, rtol=1e-12, atol=1e-300)


def test_a_pytensor_variable_among_numbers_selects_pytensor():
    variable = pt.dvector()
    for mixed in (
        arrays.maximum(np.zeros(2), variable),
        arrays.where(np.array([True, False]), 1.0, variable),
        arrays.stack((np.zeros(2), variable, 1.0)),
    ):
        assert isinstance(mixed, pt.TensorVariable)
    assert not isinstance(arrays.maximum(np.zeros(2), 1.0), pt.TensorVariable)


def test_a_factor_of_zero_leaves_the_other_gradients_finite():
    variable = pt.dvector()
    gradient = pytensor.grad(arrays.prod(variable, axis=0), variable)
    for mode in ("fast_run", None):
        compute = pytensor.function(
            [variable], gradient, mode=pytensor.compile.mode.Mode(linker="py", optimizer=mode)
        )
        np.testing.assert_allclose(compute([0.0, 2.0, 3.0]), [6.0, 0.0, 0.0])
        np.testing.assert_allclose(compute([0.0, 0.0, 3.0]), [0.0, 0.0, 0.0])
