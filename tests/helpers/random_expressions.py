"""Random expressions over a few nodes, each with the same computation in plain NumPy."""

import operator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from measurement_layouts import Capability, MetaFeature
from measurement_layouts.linking import Expr, logistic, mixture, presence, product

NODES = {
    "ability": Capability("ability", low=0, high=3),
    "demand": MetaFeature("demand", low=-2, high=2),
    "flag": MetaFeature("flag", levels=(0, 1)),
    "share": MetaFeature("share", low=0.25, high=0.75),
}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@dataclass(frozen=True)
class Twin:
    """An expression, and the function of the nodes' values that it ought to be."""

    expr: object
    plain: object


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def _leaf(name):
    return Twin(NODES[name], lambda values: values[name])


def _combine(symbol, left, right):
    act = OPERATORS[symbol]
    if not isinstance(left.expr, Expr) and not isinstance(right.expr, Expr):
        left = _leaf("ability")
    if symbol == "/":  # by something that stays away from zero
        below = Twin(right.expr**2 + 1, lambda v: right.plain(v) ** 2 + 1)
        return Twin(left.expr / below.expr, lambda v: left.plain(v) / below.plain(v))
    return Twin(act(left.expr, right.expr), lambda v: act(left.plain(v), right.plain(v)))


def _squash(of):
    return Twin(logistic(of.expr), lambda v: sigmoid(of.plain(v)))


def _mix(of):
    return Twin(
        mixture(logistic(of.expr), NODES["share"], 0.5),
        lambda v: sigmoid(of.plain(v)) * (1 - v["share"]) + v["share"] / 2,
    )


def _require(of):
    return Twin(
        product(presence(logistic(of.expr), NODES["flag"]), NODES["share"]),
        lambda v: np.where(v["flag"] == 1, sigmoid(of.plain(v)), 1) * v["share"],
    )


def _elementary(ufunc, of):
    """One of NumPy's functions; logarithms and roots of what stays above zero."""
    if ufunc in (np.exp, np.expm1):  # of a small number, which does not overflow
        return Twin(ufunc(logistic(of.expr)), lambda v: ufunc(sigmoid(of.plain(v))))
    if ufunc in (np.absolute, np.square):
        return Twin(ufunc(of.expr), lambda v: ufunc(of.plain(v)))
    return Twin(ufunc(of.expr**2 + 1), lambda v: ufunc(of.plain(v) ** 2 + 1))


def _extreme(ufunc, left, right):
    return Twin(ufunc(left.expr, right.expr), lambda v: ufunc(left.plain(v), right.plain(v)))


UNARY = (
    *(np.exp, np.expm1, np.log, np.log1p, np.log2, np.log10),
    *(np.sqrt, np.square, np.absolute, np.reciprocal, np.negative),
)


def twins():
    """Random arithmetic and linking functions, a few levels deep."""
    leaves = st.sampled_from(sorted(NODES)).map(_leaf)
    plain = st.floats(-2, 2).map(lambda number: Twin(number, lambda values: number))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(_combine, st.sampled_from(sorted(OPERATORS)), inner, inner),
            st.builds(_combine, st.sampled_from(sorted(OPERATORS)), inner, plain),
            st.builds(_combine, st.sampled_from(sorted(OPERATORS)), plain, inner),
            inner.map(lambda twin: Twin(-twin.expr, lambda v: -twin.plain(v))),
            inner.map(lambda twin: Twin(twin.expr**2, lambda v: twin.plain(v) ** 2)),
            st.builds(_elementary, st.sampled_from(UNARY), inner),
            st.builds(_extreme, st.sampled_from((np.maximum, np.minimum)), inner, inner),
            *(inner.map(squash) for squash in (_squash, _mix, _require)),
        ),
        max_leaves=8,
    )


@st.composite
def node_values(draw):
    """Values of every node within its range, ends often, for a few items."""
    values = {}
    for name, node in NODES.items():
        within = st.floats(node.range.low, node.range.high)
        if name == "flag":
            within = st.sampled_from(node.levels)
        values[name] = np.array(draw(st.lists(within, min_size=3, max_size=3)))
    return values
