"""A layout's log-density as a list of terms, which do not depend on the battery."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

CONSTANT, SUBJECT, MOVING = range(3)
"""Whether a term depends on the item only, on the subject, or on the sampler's point."""


class UnsupportedError(Exception):
    """The layout uses an operation that the kernel does not support."""


@dataclass(frozen=True)
class Term:
    """One step of a computation.

    Attributes
    ----------
    op : str
        ``point`` (part of the sampler's point), ``feature``, ``own`` (a subject's constant),
        ``constant``, a reduction (``sum``, ``max``, ``min``, ``prod`` over a label dimension;
        ``total`` over plates), or an elementwise operation of `operations`.
    args : tuple of int
        Places of the terms that it is computed from.
    value : object
        Offset into the point, name of the meta-feature or constant, numbers, the reduced dimension,
        or all plates of the argument and those that are kept.
    labels : tuple of str
        Label dimensions of the result, in the layout's order.
    features : frozenset of str
        Meta-features that it depends on.
    changes : int
        `CONSTANT`, `SUBJECT` or `MOVING`.
    """

    op: str
    args: tuple[int, ...] = ()
    value: object = None
    labels: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    changes: int = CONSTANT


@dataclass
class Terms:
    """Terms in the order of their computation; equal terms occur once.

    Attributes
    ----------
    sizes : dict of str to int
        Number of labels per dimension, in the layout's order.
    listed : list of Term
        The terms.
    """

    sizes: dict[str, int]
    listed: list[Term] = field(default_factory=list)
    _places: dict[tuple[object, ...], int] = field(default_factory=dict)

    def __getitem__(self, place: int) -> Term:
        return self.listed[place]

    def add(self, term: Term) -> int:
        """Add a term unless there is an equal one; returns its place."""
        key = (term.op, term.args, term.value, term.labels)
        if key not in self._places:
            self._places[key] = len(self.listed)
            self.listed.append(term)
        return self._places[key]

    def constant(self, values: np.ndarray, labels: Iterable[str] = ()) -> int:
        """Add constants, with one axis per label dimension."""
        numbers = np.asarray(values, dtype=float)
        nested = tuple(numbers.ravel().tolist())
        return self.add(Term("constant", value=nested, labels=tuple(labels)))

    def compute(self, op: str, *args: int) -> int:
        """Add an elementwise operation."""
        if op == "mul" and len(args) == 2 and self[args[0]].value == (-1.0,):
            op, args = "neg", args[1:]
        if op == "neg" and self[args[0]].op == "neg":
            return self[args[0]].args[0]
        if op == "log1p" and self[args[0]].op == "neg":  # PyTensor's rule, which -1 x hides from it
            other = self[self[args[0]].args[0]]
            if other.op == "sigmoid":
                return self.compute("neg", self.compute("softplus", *other.args))
        parts = [self[arg] for arg in args]
        present = {label for part in parts for label in part.labels}
        return self.add(
            Term(
                op,
                args,
                labels=tuple(dim for dim in self.sizes if dim in present),
                features=frozenset().union(*(part.features for part in parts)),
                changes=max((part.changes for part in parts), default=CONSTANT),
            )
        )

    def reduce(self, op: str, arg: int, dim: str) -> int:
        """Add a reduction over a label dimension."""
        part = self[arg]
        if dim not in part.labels:
            raise UnsupportedError(f"{op} over {dim}, along which nothing varies")
        labels = tuple(label for label in part.labels if label != dim)
        return self.add(Term(op, (arg,), dim, labels, part.features, part.changes))

    def total(self, arg: int, through: Iterable[str], kept: Iterable[str]) -> int:
        """Add a sum over the levels of some plates, with a value for each level of the others."""
        part, plates = self[arg], (tuple(through), tuple(kept))
        features = frozenset(plates[1])
        return self.add(Term("total", (arg,), plates, part.labels, features, part.changes))


@dataclass(frozen=True)
class LogDensity:
    """Terms of a log-density, and the places of its results.

    Attributes
    ----------
    terms : Terms
        All terms.
    prior, probability : int
        Places of the log prior density of the point (including the Jacobian) and of the probability
        of success.
    profile : tuple of int
        Places of the latents' values, in the layout's order.
    length : int
        Length of the sampler's point.
    weights : int or None
        Place of the weights with which the outcomes' probability is averaged over a dimension.
    """

    terms: Terms
    prior: int
    probability: int
    profile: tuple[int, ...]
    length: int
    weights: int | None = None

    @property
    def used(self) -> frozenset[str]:
        """Meta-features on which the outcome depends."""
        places = [self.probability, *([] if self.weights is None else [self.weights])]
        return frozenset().union(*(self.terms[place].features for place in places))
